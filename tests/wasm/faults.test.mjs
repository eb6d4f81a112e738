/* What stores and networks do wrong: every load ends, with the table or with an error that says what happened. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, test } from 'node:test';
import { timelake, TimelakeError } from '../../adapters/wasm/timelake.mjs';
import { read, said, serve, texts, wasm } from './helper.mjs';

let world;
before(async () => { world = await serve(); });
after(() => world.close());
afterEach(() => world.over.clear());

const table = 's3://demo-lake/wh/iot/trucks', metadata = '/wh/iot/trucks/metadata/';
const break_ = (name, what) => world.over.set(metadata + name, what);
const answers = (status) => (request, response) => response.writeHead(status).end(`<Error><Code>S${status}</Code></Error>`);
const cut = (request, response) => {
  response.writeHead(200, { 'content-length': 100000 });
  response.write('half of it');
  setTimeout(() => response.destroy(), 5);
};
const gone = (request, response) => request.socket.destroy();

for (const [name, what, why] of [['403', answers(403), /HTTP 403/], ['404', null, null], ['500', answers(500), /HTTP 500/],
  ['a cut body', cut, /terminated|cut|aborted/], ['a closed connection', gone, /closed|reset|socket|hang up/i],
  ['a corrupt body', Buffer.from('TLHDnonsense'), /head/], ['an empty body', Buffer.alloc(0), /head/]]) {
  test(`${name} of the head: the chain serves, and the reason is kept`, async () => {
    break_('timelake-head', what);
    const got = await (await world.lake()).open(table);
    assert.equal(got.version, 7);
    assert.equal(got.source, 'chain');
    assert.equal(got.files().length, 6);
    if (why !== null) assert.match(got.whyNoHead, why);
  });
}

test('a corrupt section of the head: an error with its position, and the chain from then on', async () => {
  const head = Buffer.from(read('lake/iot.trucks.head')), lake = await world.lake();
  const decoded = lake.decodeHead(head);
  decoded.close();
  let spoiled = 0;
  for (let at = 4000; at < head.length && spoiled === 0; at += 101) {
    const copy = Buffer.from(head);
    copy.fill(0xff, at, at + 8);
    break_('timelake-head', copy);
    const fresh = await world.lake(), got = await fresh.open(table);
    if (got.source !== 'head') continue;
    try {
      for (const s of got.sections) s.toRows();
    } catch (error) {
      assert.ok(['corrupt', 'truncated', 'checksum'].includes(error.code), error.code);
      assert.ok(error.position > 0 && error.position <= head.length);
      const again = await fresh.open(table, { cacheMs: 0 });
      assert.equal(again.source, 'chain');
      assert.equal(again.files().length, 6);
      spoiled++;
    }
  }
  assert.equal(spoiled, 1);
});

const ends = async (promise, test_) => assert.rejects(promise, (e) => {
  assert.ok(e instanceof TimelakeError, String(e));
  assert.equal(e.code, 'store');
  assert.ok(e.key.startsWith(table));
  return test_(e);
});

for (const [name, what, status, why] of [['403', answers(403), 403, /HTTP 403/], ['500', answers(500), 500, /HTTP 500/],
  ['a cut body', cut, null, /terminated|cut|aborted/], ['a closed connection', gone, null, /no answer, or one that CORS forbids/]]) {
  test(`${name} where nothing else serves: a clear error`, async () => {
    break_('timelake-head', null);
    break_('v7.metadata.json', what);
    await ends((await world.lake()).open(table), (e) => {
      assert.match(e.message, why);
      assert.match(e.key, /v7\.metadata\.json$/);
      assert.equal(e.httpStatus, status);
      return true;
    });
  });
}

test('500 is asked again, 403 is not', async () => {
  let times = 0;
  break_('version-hint.text', (request, response) => (++times < 3 ? answers(503)(request, response) : response.end('7')));
  assert.equal((await (await world.lake()).open(table)).version, 7);
  assert.equal(times, 3);
  times = 0;
  world.over.clear();
  break_('timelake-head', null);
  break_('v7.metadata.json', (request, response) => { times++; answers(403)(request, response); });
  await assert.rejects((await world.lake()).open(table), /HTTP 403/);
  assert.equal(times, 1);
});

test('an answer that names a pause is asked again after it', async () => {
  let times = 0, first = 0, second = 0;
  break_('version-hint.text', (request, response) => {
    if (++times > 1) {
      second = Date.now();
      return response.end('7');
    }
    first = Date.now();
    return response.writeHead(429, { 'retry-after': '1' }).end();
  });
  assert.equal((await (await world.lake()).open(table)).version, 7);
  assert.ok(times === 2 && second - first >= 990, `${times} times, ${second - first} ms apart`);
});

test('no server at all', async () => {
  const lake = await timelake({ wasm, texts, roots: { 's3://demo-lake/': 'http://127.0.0.1:9/' }, retryMs: 1 });
  await ends(lake.open(table), (e) => /127\.0\.0\.1:9: no answer, or one that CORS forbids/.test(e.message));
});

test('a key that no root has', async () => {
  const lake = await timelake({ wasm, texts });
  await ends(lake.open(table), (e) => /no root says where s3:/.test(e.message));
});

test('abort before, and at each request: rejects with the reason of the signal, and nothing is left out', async () => {
  const lake = await world.lake();
  await assert.rejects(lake.open(table, { signal: AbortSignal.abort(new Error('too late')) }), /too late/);
  break_('timelake-head', null);
  const all = (await (await world.lake()).open(table)).requests.length;
  assert.equal(all, 11);
  for (let step = 1; step <= all; step++) {
    const control = new AbortController(), reason = new Error(`stopped at ${step}`);
    let begun = 0, open = 0;
    const fresh = await world.lake({
      onrequest: (r) => {
        open += r.end === null ? 1 : -1;
        if (r.end === null && ++begun === step) control.abort(reason);
      },
    });
    await assert.rejects(fresh.open(table, { signal: control.signal }), (e) => e === reason);
    assert.equal(open, 0, `step ${step}`);
    const next = await fresh.open(table);
    assert.equal(next.version, 7);
  }
});

test('abort while a body comes in', async () => {
  break_('timelake-head', (request, response) => {
    response.writeHead(200, { 'content-length': 100000 });
    response.write('never the rest');
  });
  const control = new AbortController();
  setTimeout(() => control.abort(), 30);
  await assert.rejects((await world.lake()).open(table, { signal: control.signal }), (e) => e.name === 'AbortError');
});

test('a version that goes while it is used: the chain is found again', async () => {
  break_('v7.metadata.json', null);
  break_('version-hint.text', Buffer.from('6'));
  break_('v6.metadata.json', read('warehouse/wh/iot/trucks/metadata/v6.metadata.json'));
  const got = await (await world.lake()).open(table);
  assert.equal(got.version, 6);
  assert.equal(got.source, 'chain');
  assert.match(said(got.requests), /HEAD v7 not_found/);
});

test('a fetch that throws something odd, and one that lies about its size', async () => {
  const odd = await world.lake({ fetch: async () => { throw new RangeError('boom'); } });
  await ends(odd.open(table), (e) => /boom/.test(e.message));
  const liar = await world.lake({ fetch: async () => new Response('7', { headers: { 'content-length': '5' } }) });
  await ends(liar.open(table), (e) => /cut: 1 of 5 bytes/.test(e.message));
});

test('texts of errors come from the file beside the module, with the first error', async () => {
  const nonsense = Buffer.from('TLHDnonsense'), url = new URL(texts), thrown = (lake) => {
    try { lake.decodeHead(nonsense); } catch (error) { return error; }
    return assert.fail('a head');
  };
  const lake = await world.lake(), first = thrown(lake);
  assert.equal(first.code, 'not a head');
  assert.match(first.message, /^not a head \(\d+\)$/); /* thrown at once: nothing could wait */
  await lake.explain();
  assert.match(first.message, /header/);
  assert.equal(thrown(lake).message, first.message);
  const list = JSON.parse(readFileSync(url)), bytes = await world.lake({ texts: readFileSync(url) });
  assert.ok(list.length > 300 && list.length < 1024 && list.slice(1).every((t) => t.length > 11));
  break_('timelake-head', nonsense);
  assert.equal((await bytes.open(table)).whyNoHead, first.message);
  const lost = await world.lake({ texts: new URL('nothing.json', url) }); /* and without it */
  assert.match((await lost.open(table)).whyNoHead, /^not a head \(\d+\)$/);
  assert.match(thrown(lost).message, /^not a head \(\d+\)$/);
});
