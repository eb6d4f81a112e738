/* The other two: the protocol header of timeseries tables (shared case 19), the probe over SlateDB's manifests. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { data, parseExact, read, serve } from './helper.mjs';

let world, lake;
before(async () => {
  world = await serve();
  lake = await world.lake();
});
after(() => world.close());

const expected = parseExact(read('cases/19-protocol-header/expected.json').toString());
const verdict = { 'Protocol.UnsupportedReaderFeatures': 'unsupported-reader-features', 'Protocol.UnsupportedWriterFeatures': 'unsupported-writer-features',
  'Protocol.UnsupportedVersion': 'unsupported-version', 'Protocol.ReaderFeaturesRemoved': 'removed-reader-features', CommitDeserialization: 'malformed' };

for (const [name, want] of Object.entries(expected.commits)) {
  test(`protocol header of ${name}`, () => {
    const commit = read('cases/19-protocol-header/commits', `${name}.json`), wants = want.accept_read ?? [want.read];
    let got;
    try {
      got = lake.inspectProtocol(commit);
    } catch (error) {
      assert.ok(wants.includes(verdict[error.fault]), `${error.fault}: ${error.message}`);
      if (want.read === 'unsupported-reader-features') assert.equal(error.about, want.features.join(', '));
      return;
    }
    /* What is malformed elsewhere in the commit, or removed within it, is the replay's to see. */
    assert.ok(wants.includes('ok') || /removed/.test(want.read) || name.startsWith('malformed'), wants.join());
    if (want.read !== 'ok') return;
    assert.equal(got.version, 7);
    assert.equal(got.mayWrite, want.write === 'ok');
    assert.deepEqual(got.missing, want.write === 'ok' ? [] : want.features);
  });
}

test('the header of a table is that of its last commit with metadata', async () => {
  const log = '/db/prices/_timeseries_log/';
  world.over.set(`${log}CURRENT`, Buffer.from('2\n'));
  world.over.set(`${log}0000000001.json`, read('cases/19-protocol-header/commits/known-reader.json'));
  world.over.set(`${log}0000000002.json`, Buffer.from('{"version":2,"base_version":1,"timestamp":"2026-01-02T03:04:05Z","actions":[]}'));
  const { requests, ...header } = await lake.protocol(`${world.url}db/prices`);
  assert.deepEqual(requests.map((r) => r.key.split('/').pop()), ['CURRENT', '0000000002.json', '0000000001.json']);
  assert.deepEqual(header, { table: 2, commit: 1, version: 7, readerFeatures: ['schema_add_columns'], writerFeatures: [], mayWrite: true, missing: [] });
  await assert.rejects(lake.protocol(`${world.url}db/nothing`), (e) => e.code === 'absent' && e.httpStatus === 404);
  await assert.rejects(lake.protocol(`${world.url}db/prices`, { signal: AbortSignal.abort() }), (e) => e.name === 'AbortError');
  world.over.set(`${log}CURRENT`, Buffer.from('two'));
  await assert.rejects(lake.protocol(`${world.url}db/prices`), (e) => e.code === 'corrupt' && /CURRENT$/.test(e.key) && e.requests.length === 1);
  world.over.clear();
});

test('the probe: one listing, then two requests while nothing changes, and each new object', async () => {
  const folder = 'sequenced/db/few_manifests/db/manifest', names = readdirSync(data(folder)).sort();
  const path = (name) => `/slate/manifest/${name}`;
  for (const n of names) world.over.set(path(n), read(folder, n));
  const keys = () => [...world.over.keys()].filter((k) => k.startsWith('/slate/manifest/')).sort();
  const list = async (prefix) => ({ entries: keys().map((k) => ({ key: `s3://demo-lake${k}`, size: world.over.get(k).length })).filter((e) => e.key.startsWith(prefix)) });
  const listing = await world.lake({ list }), probe = listing.probe('s3://demo-lake/slate');
  const words = (r) => r.requests.map((q) => `${q.method} ${q.key.split('/').pop().replace(/^0+/, '')} ${q.outcome}`);
  const first = await probe.latest();
  assert.equal(first.id, 4);
  assert.deepEqual(Buffer.from(first.body), read(folder, names.at(-1)));
  assert.deepEqual(words(first).map((w) => w.split(' ')[0]), ['LIST', 'GET', 'GET']);
  assert.deepEqual(words(await probe.latest()), ['GET 5.manifest not_found', 'GET manifest.boundary not_found']);
  world.over.set(path('00000000000000000005.manifest'), Buffer.from('five'));
  const third = await probe.latest();
  assert.deepEqual([third.id, Buffer.from(third.body).toString()], [5, 'five']);
  assert.deepEqual(words(await probe.latest({ checked: false })), ['GET 6.manifest not_found']);
  probe.close();
  assert.equal(await listing.probe('s3://demo-lake/empty').latest(), null);
  await assert.rejects(lake.probe('s3://demo-lake/slate').latest(), (e) => /options\.list/.test(e.message));
  world.over.clear();
});
