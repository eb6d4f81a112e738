/* Opening the tables of tests/data over HTTP: values as the reference and `tlake open --json` have them, requests and round trips counted. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { data, parseExact, read, said, serve, tables, tlake } from './helper.mjs';

let world;
before(async () => { world = await serve(); });
after(() => world.close());
const at = (name) => `s3://demo-lake/wh/${name}`;
const hex = (b) => Buffer.from(b).toString('hex');

/* The files with their statistics, in the form of tests/data/expected. */
function filesOf(table) {
  const columns = table.section('columns').toRows(), files = table.section('files').toRows();
  const map = (f, name, turn) => Object.fromEntries(columns.filter((c) => c.file === f && c[name] !== null).map((c) => [String(c.field_id), turn(c[name])]));
  return files.map((f, i) => ({
    path: f.path, size: String(f.size), records: String(f.records), partition: f.partition === null ? null : String(f.partition),
    snapshot_id: String(f.snapshot_id), sequence_number: String(f.sequence_number), file_sequence_number: String(f.file_sequence_number),
    lower_bounds: map(i, 'lower', hex), upper_bounds: map(i, 'upper', hex), value_counts: map(i, 'values', String),
    null_counts: map(i, 'nulls', String), nan_counts: map(i, 'nans', String), column_sizes: map(i, 'size', String),
  })).sort((a, b) => (a.path < b.path ? -1 : 1));
}
const flat = (v) => (v && typeof v === 'object' ? 'number' in v ? v.number : Object.fromEntries(Object.entries(v).map(([k, x]) => [k, flat(x)])) : v);

for (const name of tables) {
  for (const head of [true, false]) {
    test(`${name} ${head ? 'by its head where it is good' : 'by its metadata chain'}`, async () => {
      const want = parseExact(read('expected', `${name.replace('/', '.')}.json`).toString()), lake = await world.lake();
      const tool = parseExact(tlake('open', at(name), '--json', '-o', `timelake_local_root=${data('warehouse')}`, ...(head ? [] : ['--no-head'])));
      const table = await lake.open(at(name), { head });
      assert.equal(String(table.version), want.version.number);
      assert.equal(table.location, want.location);
      assert.equal(table.source, head && !['iot/stale', 'iot/trucks_none', 'iot/unknown_codec'].includes(name) ? 'head' : 'chain');
      if (name === 'iot/unknown_codec' && head) assert.match(table.whyNoHead, /codec/);
      assert.equal(String(table.files().length), String(want.files.length));
      assert.deepEqual([String(table.version), table.source, table.location], [tool.version.number, tool.source, tool.location]);
      const got = filesOf(table);
      for (const { files } of [want, tool]) {
        assert.equal(files.length, got.length);
        files.sort((a, b) => (a.path < b.path ? -1 : 1)).forEach((f, i) => {
          for (const key of Object.keys(got[i])) assert.deepEqual(got[i][key], flat(f[key]), `${f.path} ${key}`);
        });
      }
      assert.equal(table.metadata['format-version'], 2);
      table.close();
    });
  }
}

test('cold with a current head: two round trips, one when the check may come later', async () => {
  const lake = await world.lake();
  const table = await lake.open(at('iot/trucks'));
  assert.equal(said(table.requests), '1 GET head ok, 1 GET hint ok, 2 HEAD v8 not_found, 2 HEAD v7 ok');
  assert.equal(table.roundTrips, 2);
  const later = await (await world.lake()).open(at('iot/trucks'), { defer: true });
  assert.equal(said(later.requests), '1 GET head ok, 1 GET hint ok');
  assert.equal(later.roundTrips, 1);
  assert.ok(later.unchecked && !table.unchecked);
  const checked = await later.check();
  assert.equal(said(checked.requests), '1 HEAD v8 not_found, 1 HEAD v7 ok');
});

test('warm: nothing within the interval of the table, two stats past it, cacheMs overrides', async () => {
  let now = 1700000000000;
  const lake = await world.lake({ now: () => now }), open = async (o) => said((await lake.open(at('iot/trucks'), o)).requests);
  await open();
  now += 999;
  assert.equal(await open(), '');
  assert.equal(await open({ cacheMs: 0 }), '1 HEAD v8 not_found, 1 HEAD v7 ok');
  now += 1001;
  assert.equal(await open({ cacheMs: 5000 }), '');
  assert.equal(await open(), '1 HEAD v8 not_found, 1 HEAD v7 ok');
  assert.equal((await lake.open(at('iot/trucks'))).checkIntervalMs, 1000);
  lake.forget(at('iot/trucks'));
  assert.equal(await open(), '1 GET head ok, 1 GET hint ok, 2 HEAD v8 not_found, 2 HEAD v7 ok');
});

test('without a head: hint, metadata, manifest list, manifests', async () => {
  const table = await (await world.lake()).open(at('iot/trucks_none'));
  assert.match(said(table.requests), /^1 GET head not_found, 1 GET hint ok, 2 GET v7 ok, 2 HEAD v8 not_found, 3 GET list-file ok, 4 GET manifest ok x6$/);
  assert.equal(table.roundTrips, 4);
});

test('a listing that the caller brings settles it in one round trip', async () => {
  const seen = [];
  const list = async (prefix) => {
    seen.push(prefix);
    return { entries: Array.from({ length: 7 }, (_, i) => ({ key: `${at('iot/trucks')}/metadata/v${i + 1}.metadata.json`, size: 10 })) };
  };
  const table = await (await world.lake({ list })).open(at('iot/trucks'));
  assert.equal(said(table.requests), '1 GET head ok, 1 LIST v ok');
  assert.deepEqual(seen, [`${at('iot/trucks')}/metadata/v`]);
  assert.equal(table.unchecked, false);
});

test('latest and footers need no request', async () => {
  const lake = await world.lake(), table = await lake.open(at('iot/trucks')), before = world.log.length;
  const rows = table.latest();
  assert.ok(rows.length > 0 && typeof rows[0].time === 'bigint');
  const head = lake.decodeHead(read('lake/iot.trucks.head'));
  assert.deepEqual(rows, head.section('last_values').toRows());
  const footers = new Map(head.section('footers').toRows().map((r) => [r.path, hex(r.footer)]));
  assert.ok(footers.size > 0);
  for (const f of table.files()) assert.equal(f.footer === null ? undefined : hex(f.footer), footers.get(f.path));
  assert.equal((await lake.open(at('dim/devices'))).latest(), null);
  assert.ok(world.log.slice(before).every((l) => !l.includes('parquet')));
});

test('plans leave out what cannot match', async () => {
  const table = await (await world.lake()).open(at('iot/trucks')), all = table.files();
  const min = all.reduce((n, f) => (f.partition < n ? f.partition : n), all[0].partition);
  const from = new Date((min + 1) * 86400000);
  const plan = table.plan([['time', '>=', from]]);
  assert.deepEqual(plan.files.map((f) => f.path).sort(), all.filter((f) => f.partition > min).map((f) => f.path).sort());
  assert.equal(plan.files.length + plan.skipped, all.length);
  assert.deepEqual(table.plan([['time', '>=', from.toISOString()]]), plan);
  assert.deepEqual(table.plan([['time', '>=', BigInt(from.getTime()) * 1000n]]), plan);
  assert.equal(table.plan([['device', '=', 1000000]]).files.length, 0);
  assert.equal(table.plan([['device', 'in', [0, 1]], ['site', 'is not null']]).files.length > 0, true);
  assert.throws(() => table.plan([['nowhere', '=', 1]]), (e) => e.code === 'absent');
  assert.throws(() => table.plan([['time', '=', true]]), (e) => e.code === 'misuse');
  assert.throws(() => table.plan([['time', 'like', 1]]), (e) => e.code === 'misuse');
});

/* The table as it will be one version on: v7 again, as v8, since tests write nothing real here. */
const next = () => Buffer.from(read('warehouse/wh/iot/trucks/metadata/v7.metadata.json').toString().replace(/v6\.metadata\.json/g, 'v7.metadata.json'));
const v8 = '/wh/iot/trucks/metadata/v8.metadata.json';

test('a query runs at once, and again when the check beside it finds a newer version', async () => {
  const lake = await world.lake(), seen = [];
  const first = await lake.query(at('iot/trucks'), async (table, signal) => {
    seen.push([table.version, signal?.aborted]);
    await new Promise((done) => setTimeout(done, 20));
    return table.version;
  });
  assert.equal(first, 7);
  const kept = await lake.query(at('iot/trucks'), (table) => table);
  assert.throws(() => kept.files(), (e) => e.code === 'misuse');
  await assert.rejects(lake.query(at('iot/trucks'), () => { throw new Error('of the caller'); }, { cacheMs: 0 }), /of the caller/);
  assert.deepEqual(seen, [[7, false]]);
  world.over.set(v8, next());
  try {
    let dropped = 0;
    const fresh = await world.lake();
    const second = await fresh.query(at('iot/trucks'), (table, signal) => new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => { dropped++; reject(signal.reason); });
      if (table.version === 8) resolve(`rows of ${table.version} from ${table.source}`);
    }));
    assert.equal(second, 'rows of 8 from chain');
    assert.equal(dropped, 1);
  } finally { world.over.delete(v8); }
});

test('an exact version, and a table that is not there', async () => {
  const lake = await world.lake(), table = await lake.open(at('iot/trucks'), { version: 3 });
  assert.equal(table.version, 3);
  await assert.rejects(lake.open(at('iot/trucks'), { version: 99 }), (e) => e.code === 'absent' && /99/.test(e.message));
  await assert.rejects(lake.open(at('iot/nothing')), (e) => e.code === 'absent' && /nothing/.test(e.message));
});

test('under an HTTPS address the name that the metadata gives is found out, in no more requests', async () => {
  const lake = await world.lake({ roots: {} }), url = `${world.url}wh/iot/trucks/`, begun = world.log.length;
  const table = await lake.open(url);
  assert.equal(table.source, 'head');
  assert.equal(table.location, at('iot/trucks'));
  assert.equal(said(table.requests), '1 GET head ok, 1 GET hint ok, 2 HEAD v8 not_found, 2 HEAD v7 ok');
  assert.equal(world.log.length - begun, 4);
  assert.match(table.url(table.files()[0].path), /^http:.*\/wh\/iot\/trucks\/data\/time_day=2026-01-0/);
  assert.equal((await lake.open(url)).requests.length, 0);
  const without = await lake.open(`${world.url}wh/iot/trucks_none`);
  assert.equal(without.source, 'chain');
  assert.equal(without.files().length > 0, true);
  assert.ok(without.requests.length > without.roundTrips);
  await assert.rejects(lake.open(`${world.url}wh/iot/nothing`), (e) => e.code === 'absent');
  await assert.rejects(lake.open(`${world.url}wh/iot/hourly`, { signal: AbortSignal.abort() }), (e) => e.name === 'AbortError');
});

test('signing: a function of the caller gives URL and headers', async () => {
  const seen = [];
  const locate = async (key, { method, url }) => {
    seen.push([key.split('/').pop(), method]);
    return { url: `${url}?signature=1`, headers: { 'x-signed': 'yes' } };
  };
  let headers;
  world.over.set('/wh/iot/trucks/metadata/version-hint.text', (request, response) => {
    headers = [request.url, request.headers['x-signed']];
    response.end('7');
  });
  try {
    await (await world.lake({ locate })).open(at('iot/trucks'));
  } finally { world.over.clear(); }
  assert.deepEqual(headers, ['/wh/iot/trucks/metadata/version-hint.text?signature=1', 'yes']);
  assert.deepEqual(seen.map((s) => s[1]), ['GET', 'GET', 'HEAD', 'HEAD']);
});
