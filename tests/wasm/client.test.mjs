/* What a client may not do: mix tables up, hang, go on after an abort, use what is freed, answer with less than it was asked for. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { read, serve, wasm } from './helper.mjs';

let world, other;
before(async () => { [world, other] = [await serve(), await serve()]; });
after(() => Promise.all([world.close(), other.close()]));
afterEach(() => [world, other].forEach((w) => { w.over.clear(); w.log.length = 0; }));

const table = 's3://demo-lake/wh/iot/trucks', path = (name) => `/wh/iot/trucks/metadata/${name}`;
const plain = (options = {}) => world.lake({ roots: {}, ...options });
const never = () => new Promise(() => {});
/* The program of a test must not wait for ever for what should have ended. */
const soon = (promise, what) => Promise.race([promise, new Promise((_, no) => { setTimeout(no, 3000, new Error(`hangs: ${what}`)).unref(); })]);

test('two tables that call themselves the same do not mix', async () => {
  other.over.set(path('timelake-head'), null);
  other.over.set(path('version-hint.text'), Buffer.from('6')); /* a backup of an older version */
  other.over.set(path('v7.metadata.json'), null);
  const lake = await plain(), here = `${world.url}wh/iot/trucks`, there = `${other.url}wh/iot/trucks`;
  const first = await lake.open(here), second = await lake.open(there);
  assert.deepEqual([first.location, second.location], [table, table]);
  assert.deepEqual([first.version, second.version], [7, 6]);
  const asked = second.requests.map((r) => r.url).filter((url) => url !== null); /* listing is unsupported: none */
  assert.ok(asked.length > 5 && asked.every((url) => url.startsWith(other.url)));
  assert.equal(first.url(`${table}/data/x`), `${here}/data/x`);
  assert.equal(second.url(`${table}/data/x`), `${there}/data/x`);
  other.log.length = 0;
  (await first.check()).close();
  assert.deepEqual(other.log, []);
  await assert.rejects(async () => lake.locate(`${table}/data/x`, `${table}/data/x`, 'GET'), (e) => e.code === 'elsewhere'); /* of no table */
});

test('a table that calls itself another one takes nothing over', async () => {
  for (const claim of [`${world.url}wh`, 'https:', world.url]) {
    const lake = await plain(), metadata = read('warehouse/wh/iot/trucks/metadata/v7.metadata.json').toString().replaceAll(table, claim);
    other.over.set(path('timelake-head'), null);
    other.over.set(path('v7.metadata.json'), Buffer.from(metadata));
    await soon(lake.open(`${other.url}wh/iot/trucks`).then((t) => t.close(), () => {}), claim);
    other.log.length = 0;
    const good = await lake.open(`${world.url}wh/iot/trucks`);
    assert.equal(good.version, 7);
    assert.ok(good.requests.length > 0 && good.requests.every((r) => r.url.startsWith(world.url)));
    assert.deepEqual(other.log, []);
  }
});

test('keys that no URL means', async () => {
  const lake = await world.lake();
  for (const key of ['s3://demo-lake/wh/../../secret', 's3://demo-lake/./x', 's3://demo-lake/wh/..']) {
    assert.throws(() => lake.locate(key, key, 'GET'), (e) => e.code === 'elsewhere');
  }
  assert.equal(lake.locate('s3://demo-lake/a..b/...', '', 'GET'), `${world.url}a..b/...`);
  await assert.rejects(lake.open(`${world.url}wh/iot/trucks?sig=x`), (e) => e.code === 'misuse' && /locate/.test(e.message));
});

test('what forget drops is found again', async () => {
  const lake = await plain(), url = `${world.url}wh/iot/trucks`, first = await lake.open(url);
  const opening = lake.open(url, { cacheMs: 0 });
  lake.forget(url); /* while it is opened */
  assert.equal((await opening).version, 7);
  const again = await lake.open(url);
  assert.equal(again.requests[0].purpose, 'head');
  assert.equal(first.files().length, again.files().length);
});

test('values of conditions: 64 bits, dates, no words of Object', { skip: wasm === undefined }, async () => {
  const opened = await (await world.lake()).open(table), all = opened.plan().files.length;
  assert.equal(opened.plan([['device', '<', 2n ** 63n - 1n]]).files.length, all);
  for (const value of [2n ** 63n, -(2n ** 63n) - 1n, new Date(NaN), {}, undefined]) {
    assert.throws(() => opened.plan([['device', '<', value]]), (e) => e.code === 'misuse', String(value));
  }
  for (const compare of ['constructor', '__proto__', 'like', undefined]) {
    assert.throws(() => opened.plan([['device', '=', 1], ['device', compare, 1]]), (e) => e.code === 'misuse');
  }
  const lake = await world.lake(), size = () => lake.m.x.memory.buffer.byteLength, more = await lake.open(table);
  for (let i = 0; i < 100; i++) assert.throws(() => more.plan([['device', 'like', 3]]));
  const before_ = size();
  for (let i = 0; i < 20000; i++) try { more.plan([['device', 'like', 3]]); } catch { /* as above */ }
  assert.equal(size(), before_);
});

test('a probe that is closed is closed; its call that is out ends well', async () => {
  const listing = (name) => async (prefix) => ({ entries: [{ key: `${prefix}${'1'.padStart(20, '0')}.manifest`, size: name.length }] });
  world.over.set(`/one/manifest/${'1'.padStart(20, '0')}.manifest`, Buffer.from('one'));
  const lake = await world.lake({ list: listing('one') }), probe = lake.probe('s3://demo-lake/one');
  const out = probe.latest();
  probe.close();
  const others = Array.from({ length: 20 }, (_, i) => lake.probe(`s3://demo-lake/other${i}`));
  assert.equal(Buffer.from((await out).body).toString(), 'one');
  await assert.rejects(probe.latest(), (e) => e.code === 'misuse');
  probe.close();
  others.forEach((p) => p.close());
});

test('whatever a caller\'s functions do, an open ends', async () => {
  const bad = {
    'list throws': { list: () => { throw new Error('boom'); } },
    'list answers nothing': { list: async () => undefined },
    'list rejects with nothing': { list: () => Promise.reject() },
    'a size that is none': { list: async (prefix) => ({ entries: [{ key: `${prefix}/v1.metadata.json`, size: 1.5 }] }) },
    'locate answers {}': { locate: () => ({}) },
    'locate answers nothing': { locate: () => undefined },
    'locate answers a path': { locate: () => '/x' },
    'a root that is no URL': { roots: { 's3://demo-lake/': 'https://host:99999/' } },
    'fetch rejects with nothing': { fetch: () => Promise.reject() },
    'fetch throws': { fetch: () => { throw new Error('boom'); } },
    'fetch answers nothing': { fetch: async () => undefined },
    'onrequest throws': { onrequest: () => { throw new Error('boom'); } },
  };
  for (const [what, options] of Object.entries(bad)) {
    const lake = await world.lake({ retryMs: 0, ...options });
    const error = await soon(lake.open(table).then(() => null, (e) => e), what);
    assert.ok(error instanceof Error && error.message !== '', what);
    if (/onrequest/.test(what)) assert.equal(error.message, 'boom');
  }
  for (const options of [{ retryMs: -1 }, { retryMs: NaN }, { cacheMs: NaN }, { memory: -1 }]) {
    await assert.rejects(world.lake(options), (e) => e.code === 'misuse', JSON.stringify(options));
  }
  const lake = await world.lake({ now: () => Date.now() + 0.5 });
  (await lake.open(table)).close();
  await assert.rejects(lake.open(table, { version: 1.5 }), (e) => e.code === 'misuse');
  await assert.rejects(lake.open(table, { cacheMs: NaN }), (e) => e.code === 'misuse');
});

test('a length that is no number is no length', async () => {
  world.over.set(path('v8.metadata.json'), null);
  const lake = await world.lake({ fetch: async (url, init) => {
    const response = await fetch(url, init);
    return init.method === 'HEAD' && response.ok ? new Response(null, { headers: { 'content-length': '12, 12' } }) : response;
  } });
  assert.equal((await soon(lake.open(table), 'HEAD')).version, 7);
});

test('abort ends what the caller\'s own functions do not', async () => {
  for (const options of [{ locate: never }, { list: never }, { fetch: never }]) {
    const lake = await world.lake(options), control = new AbortController(), opening = lake.open(table, { signal: control.signal });
    setTimeout(() => control.abort(new Error('enough')), 20);
    await soon(assert.rejects(opening, /enough/), Object.keys(options)[0]);
  }
  const control = new AbortController(), lake = await world.lake();
  const query = lake.query(table, never, { signal: control.signal });
  setTimeout(() => control.abort(new Error('enough')), 200);
  await soon(assert.rejects(query, /enough/), 'query');
});

test('abort at each request of a table by HTTPS that has no head', async () => {
  other.over.set(path('timelake-head'), null);
  const url = `${other.url}wh/iot/trucks`, lake = await plain(), all = (await lake.open(url)).requests.length;
  assert.ok(all > 8, `${all} requests`);
  for (let n = 1; n <= all; n++) {
    const control = new AbortController();
    let seen = 0;
    const aborting = await plain({ onrequest: (r) => { if (r.end === null && ++seen === n) control.abort(new Error(`at ${n}`)); } });
    await soon(assert.rejects(aborting.open(url, { signal: control.signal }), new RegExp(`^Error: at ${n}$`)), `abort at ${n}`);
  }
});

test('a good table does not wait for the text of why its head was not', async () => {
  world.over.set(path('timelake-head'), Buffer.from('TLHDnonsense'));
  world.over.set('/slow.json', (request, response) => { setTimeout(() => response.end('[null]'), 2500); });
  const lake = await world.lake({ texts: new URL('slow.json', world.url) }), begun = performance.now();
  const opened = await lake.open(table);
  assert.ok(performance.now() - begun < 1500);
  assert.match(opened.whyNoHead, /^not a head \(\d+\)$/);
});

test('a hint without an end is not read to it', async () => {
  let sent = 0;
  world.over.set(path('version-hint.text'), (request, response) => {
    const more = () => { while (!response.destroyed && response.write(Buffer.alloc(1 << 16, '7'))) sent += 1 << 16; };
    response.writeHead(200);
    response.on('drain', more);
    more();
  });
  await soon(assert.rejects((await plain()).open(`${world.url}wh/iot/trucks`), (e) => e.code === 'store' && /65536/.test(e.message)), 'hint');
  assert.ok(sent < 1 << 25, `${sent} bytes`);
});

test('protocol: tried again, and every error with its key, text, requests', async () => {
  const log = '/db/prices/_timeseries_log/', commit = read('cases/19-protocol-header/commits/known-reader.json');
  let refusals = 2;
  world.over.set(`${log}CURRENT`, (request, response) => (refusals-- > 0 ? response.writeHead(503).end() : response.end('1')));
  world.over.set(`${log}0000000001.json`, commit);
  const lake = await world.lake(), url = `${world.url}db/prices`;
  assert.deepEqual((await lake.protocol(url)).requests.map((r) => r.status), [503, 503, 200, 200]);
  world.over.set(`${log}CURRENT`, (request, response) => response.writeHead(503).end());
  await assert.rejects(lake.protocol(url), (e) => e.code === 'store' && e.httpStatus === 503 && e.requests.length === 4);
  world.over.set(`${log}CURRENT`, Buffer.from('1'));
  world.over.set(`${log}0000000001.json`, Buffer.from('{"actions":[{"UpdateTableMeta":{"protocol_version":9}}]}'));
  await assert.rejects((await world.lake()).protocol(url),
    (e) => e instanceof Error && !/\(\d+\)$/.test(e.message) && e.key.endsWith('0000000001.json') && e.requests.length === 2);
});

test('protocol: all features that are missing, however many', async () => {
  const commit = JSON.parse(read('cases/19-protocol-header/commits/known-reader.json')), names = Array.from({ length: 40 }, (_, i) => `feature_number_${10 + i}`);
  const texts = JSON.stringify(commit).replace(/"required_writer_features":\[[^\]]*\]/, `"required_writer_features":${JSON.stringify(names)}`);
  const lake = await world.lake({ texts: new URL('nowhere.json', world.url) });
  const got = lake.inspectProtocol(texts);
  assert.equal(got.mayWrite, false);
  assert.deepEqual(got.missing, names);
  assert.ok(!world.log.some((l) => /nowhere/.test(l))); /* nothing was thrown: no text was wanted */
});

test('after close: nothing of freed memory', async () => {
  const opened = await (await world.lake()).open(table), [chunk] = opened.section('files').column('path').chunks;
  assert.equal(chunk.isNull(0), false);
  opened.close();
  assert.throws(() => chunk.isNull(0), (e) => e.code === 'misuse');
});

test('heads and commits from any kind of buffer', async () => {
  const lake = await world.lake(), bytes = read('warehouse/wh/iot/trucks/metadata/timelake-head'), whole = new Uint8Array(bytes).buffer;
  for (const data of [whole, new DataView(whole), new Uint8Array(whole)]) assert.equal(lake.decodeHead(data).version, 7);
});

test('first opens of one table at once: one aborted, one forgotten, one without the head', async () => {
  const url = `${world.url}wh/iot/trucks`;
  for (let wait = 1; wait < 24; wait += 2) {
    const lake = await plain(), control = new AbortController();
    const opens = [{ signal: control.signal }, {}, { head: false }, {}].map((options) => lake.open(url, options).then((t) => t.version, (e) => e.message));
    await new Promise((done) => { setTimeout(done, wait); });
    control.abort(new Error('enough'));
    if (wait % 4 === 1) lake.forget(url);
    const got = await Promise.all(opens);
    assert.ok([7, 'enough'].includes(got[0]), got[0]);
    assert.deepEqual(got.slice(1), [7, 7, 7]);
    assert.equal((await lake.open(url)).url(`${table}/x`), `${url}/x`);
  }
});

test('a name that is learned late, or changes', async () => {
  const url = `${other.url}wh/iot/trucks`, lake = await plain({ cacheMs: 60000 });
  other.over.set(path('timelake-head'), null);
  const first = await lake.open(url, { files: false }); /* no key of it needs the name */
  assert.equal(first.url(`${table}/data/x`), `${url}/data/x`);
  assert.equal((await lake.open(url, { cacheMs: 0 })).files().length, 6);
  for (const n of [4, 5, 6, 7]) other.over.set(path(`v${n}.metadata.json`), null); /* now another table is there, of fewer versions */
  for (const name of ['timelake-head', 'version-hint.text', 'v3.metadata.json']) other.over.set(path(name), read(`warehouse/wh/iot/types/metadata/${name}`));
  const second = await lake.open(url, { cacheMs: 0 });
  assert.equal(second.location, 's3://demo-lake/wh/iot/types');
  assert.equal(second.url(`${second.location}/x`), `${url}/x`);
  lake.forget(url);
  assert.ok((await lake.open(url)).requests.length > 0);
});

test('a store in trouble is asked no more than by its own name', async () => {
  const refuse = (request, response) => response.writeHead(503).end();
  for (const name of ['timelake-head', 'version-hint.text', 'v7.metadata.json']) world.over.set(path(name), refuse);
  const sent = async (lake, url) => lake.open(url).then(() => 0, (e) => e.requests.length);
  const named = await sent(await world.lake(), table);
  assert.ok(named > 3);
  assert.equal(await sent(await plain({ retryMs: 1 }), `${world.url}wh/iot/trucks`), named);
});

test('many requests at once make no warning of listeners', async () => {
  const warnings = [], hear = (w) => warnings.push(w.message);
  process.on('warning', hear);
  const lake = await plain();
  for (const name of ['trucks_none', 'many', 'hourly']) (await lake.open(`${world.url}wh/iot/${name}`, { head: false, signal: new AbortController().signal })).close();
  await new Promise((done) => { setTimeout(done, 20); });
  process.off('warning', hear);
  assert.deepEqual(warnings, []);
});

test('headers go to the servers that the caller named, whatever metadata say', async () => {
  const seen = [], evil = other.url.replace(/\/$/, '');
  other.over.set('/list.avro', (request, response) => { seen.push(request.headers.authorization); response.writeHead(404).end(); });
  world.over.set(path('timelake-head'), null);
  const metadata = read('warehouse/wh/iot/trucks/metadata/v7.metadata.json').toString();
  world.over.set(path('v7.metadata.json'), Buffer.from(metadata.replaceAll(/"manifest-list":"[^"]*"/g, `"manifest-list":"${evil}/list.avro"`)));
  const mine = [], lake = await world.lake({ headers: { authorization: 'secret' }, fetch: (url, init) => {
    if (url.startsWith(world.url)) mine.push(init.headers.authorization);
    return fetch(url, init);
  } });
  await assert.rejects(lake.open(table));
  assert.ok(mine.length > 2 && mine.every((h) => h === 'secret'));
  assert.ok(seen.length > 0 && seen.every((h) => h === undefined));
});

test('roots end where a name ends', async () => {
  const lake = await world.lake({ roots: { 's3://bucket': 'https://bucket.example.com', 's3://bucket/deep/': 'https://deep.example.com/x' } });
  assert.throws(() => lake.locate('s3://bucket.evil.com/x', 's3://bucket.evil.com/x', 'GET'), (e) => e.code === 'elsewhere');
  assert.equal(lake.locate('s3://bucket/a/b', '', 'GET'), 'https://bucket.example.com/a/b');
  assert.equal(lake.locate('s3://bucket/deep/b', '', 'GET'), 'https://deep.example.com/x/b');
});

test('odd things to hand over', async () => {
  const bad = { 'next is a symbol': { list: async () => ({ entries: [], next: Symbol('x') }) }, 'next has no text': { list: async () => ({ entries: [], next: Object.create(null) }) },
    'an error whose message is a symbol': { list: async () => { throw { message: Symbol('x') }; } }, 'an error without a text': { fetch: async () => { throw Object.create(null); } } };
  for (const [what, options] of Object.entries(bad)) {
    const error = await soon((await world.lake({ retryMs: 0, ...options })).open(table).then(() => null, (e) => e), what);
    assert.ok(error === null || error instanceof Error, what);
  }
  let calls = 0;
  (await soon((await world.lake({ now: () => { if (++calls > 3) throw new Error('no clock'); return Date.now(); } })).open(table), 'clock')).close();
  const lake = await world.lake();
  assert.throws(() => lake.probe('s3://demo-lake/x\0etc'), (e) => e.code === 'misuse');
  assert.equal((await lake.open(table, { head: false, files: false })).latest(), null);
});

test('memory that runs out at any allocation of an answer', async () => {
  const lake = await world.lake({ retryMs: 0 }), real = lake.m.x, codes = new Set();
  let left = 0;
  lake.m.x = new Proxy({}, { get: (_, name) => (name === 'alloc' ? (n) => (left-- > 0 ? real.alloc(n) : 0) : real[name]) });
  for (let n = 1; n < 40; n++) {
    left = n;
    codes.add(await soon(lake.open('s3://demo-lake/wh/iot/trucks_none', { cacheMs: -1 }).then((t) => { t.close(); return 'opened'; }, (e) => e.code), `allocation ${n}`));
  }
  assert.deepEqual([...codes].sort(), ['opened', 'store']);
});
