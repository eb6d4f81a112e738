/* timelake-small.wasm, which has no json codec, no LZ4, no planner and writes no streams, against timelake.wasm. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { timelake } from '../../adapters/wasm/timelake.mjs';
import { data, root, serve, tables, texts, wasm } from './helper.mjs';

const small = await WebAssembly.compile(readFileSync(join(root, 'build/wasm/timelake-small.wasm')));
const whole = await timelake({ wasm, texts }), lake = await timelake({ wasm: small, texts });
let world;
before(async () => { world = await serve(); });
after(() => world.close());

test('heads of the arrow codec: the same rows', async () => {
  let heads = 0, refused = 0, values = 0;
  for (const folder of ['heads', 'lake']) {
    for (const name of readdirSync(data(folder)).filter((f) => f.endsWith('.head') && !f.includes('unknown_codec'))) {
      const bytes = readFileSync(data(folder, name)), want = whole.decodeHead(bytes);
      if (want.codec === 'json') {
        assert.throws(() => lake.decodeHead(bytes), (e) => e.code === 'no codec');
        refused++;
        continue;
      }
      const got = lake.decodeHead(bytes);
      assert.deepEqual(got.sections.map((s) => [s.name, s.fields, s.toRows()]), want.sections.map((s) => [s.name, s.fields, s.toRows()]), name);
      for (const s of got.sections) {
        assert.throws(() => s.toIPC(), (e) => e.code === 'unsupported' && /toRows/.test(e.message));
        values += s.rows * s.fields.length;
      }
      heads++;
    }
  }
  assert.ok(heads > 40 && refused > 30 && values > 1000, `${heads} heads, ${refused} refused, ${values} values`);
});

test('LZ4, which only the whole module has', () => {
  const bytes = readFileSync(data('cases', '13-arrow-buffer-prefix', 'lz4.tlhd'));
  const values = (from) => from.decodeHead(bytes).sections.map((s) => s.toRows());
  assert.ok(values(whole).flat().length > 0);
  assert.throws(() => values(lake), (e) => e.code === 'unsupported' && e.position > 0);
});

test('every table: the same files and newest rows, without a plan', async () => {
  let footers = 0;
  for (const name of tables) {
    const url = `s3://demo-lake/wh/${name}`, got = await (await world.lake({ wasm: small })).open(url), want = await (await world.lake()).open(url);
    assert.equal(got.version, want.version, name);
    const files = want.files();
    /* Only a head has footers. */
    assert.deepEqual(got.files(), got.source === want.source ? files : files.map((f) => ({ ...f, footer: null })), name);
    footers += got.files().filter((f) => f.footer !== null).length;
    assert.throws(() => got.plan(), (e) => e.code === 'unsupported' && /files\(\)/.test(e.message));
    if (want.whyNoHead === null && got.whyNoHead !== null) {
      assert.match(got.whyNoHead, /codec json/); /* its head is json: the chain serves */
      assert.equal(got.source, 'chain');
    } else {
      assert.deepEqual(got.latest(), want.latest(), name);
    }
  }
  assert.ok(footers > 10, `${footers} footers`);
  const bare = await (await world.lake({ wasm: small })).open('s3://demo-lake/wh/iot/trucks', { head: false, files: false });
  assert.throws(() => bare.files(), (e) => e.code === 'misuse');
});
