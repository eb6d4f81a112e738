/* Every head of tests/data: the same document as `tlake head --json`, and the same values through npm's apache-arrow. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { timelake } from '../../adapters/wasm/timelake.mjs';
import { data, npm, parseExact, texts, tlake, wasm } from './helper.mjs';

const lake = await timelake({ wasm, texts });
const heads = ['heads', 'lake'].flatMap((d) => readdirSync(data(d)).filter((f) => f.endsWith('.head')).map((f) => data(d, f)));
const hex = (bytes) => Buffer.from(bytes).toString('hex');

/* A value against what `tlake` prints of it. */
function same(value, want, type, where) {
  if (value === null || want === null) return assert.equal(value, want, where);
  if (typeof want === 'object' && 'number' in want) {
    if (typeof value === 'bigint') return assert.equal(value.toString(), want.number, where);
    assert.equal(typeof value, 'number', where);
    const narrow = type === 'float' ? Math.fround : Number;
    return assert.ok(Object.is(value, narrow(want.number)), `${where}: ${value}, not ${want.number}`);
  }
  if (typeof value === 'number') return assert.equal(String(value).replace('Infinity', 'inf'), want, where);
  if (value instanceof Uint8Array) return assert.equal(hex(value), want, where);
  if (Array.isArray(value)) {
    assert.equal(value.length, want.length, where);
    return value.forEach((v, i) => same(v, want[i], '', `${where}[${i}]`));
  }
  if (typeof value === 'object') {
    assert.deepEqual(Object.keys(value), Object.keys(want), where);
    return Object.keys(value).forEach((k) => same(value[k], want[k], '', `${where}.${k}`));
  }
  return assert.equal(value, want, where);
}

for (const file of heads) {
  const name = file.split('/').pop();
  test(`${name} as tlake prints it`, () => {
    if (name === 'iot.unknown_codec.head') {
      return assert.throws(() => lake.decodeHead(readFileSync(file)), (e) => e.code === 'no codec' && e.message.length > 0);
    }
    const want = parseExact(tlake('head', '--json', file)), head = lake.decodeHead(readFileSync(file));
    assert.equal(String(head.version), want.version.number);
    assert.equal(head.codec, want.codec);
    assert.deepEqual(head.properties, want.properties);
    assert.deepEqual(head.sections.map((s) => s.name), want.sections.map((s) => s.name));
    head.sections.forEach((section, i) => {
      const w = want.sections[i];
      assert.deepEqual(section.fields, w.fields);
      assert.deepEqual(section.metadata, w.metadata);
      const rows = section.toRows();
      assert.equal(rows.length, w.rows.length);
      rows.forEach((row, r) => section.fields.forEach((f) => same(row[f.name], w.rows[r][f.name], f.type, `${section.name}[${r}].${f.name}`)));
    });
    head.close();
    assert.throws(() => head.sections, (e) => e.code === 'misuse');
  });
}

/* ---- the same through Arrow IPC ---- */

/* What apache-arrow gives, in our terms. */
function plain(value, field) {
  if (value === null || value === undefined) return null;
  if (/^map/.test(field.type)) return [...value].map(plainNested);
  if (/^decimal/.test(field.type)) return BigInt.asIntN(value.length * 32, value.reduceRight((n, w) => n << 32n | BigInt(w >>> 0), 0n)).toString();
  if (value instanceof Uint8Array) return hex(value);
  if (value?.toJSON && typeof value !== 'string') return plainNested(value.toJSON());
  return value;
}
const plainNested = (v) => (v?.toJSON ? plainNested(v.toJSON()) : v instanceof Uint8Array ? hex(v)
  : Array.isArray(v) ? v.map(plainNested) : v && typeof v === 'object' && Symbol.iterator in v ? [...v].map(plainNested)
    : v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, plainNested(x)])) : v ?? null);
function ours(value, field) {
  if (value === null) return null;
  if (/^decimal/.test(field.type)) return BigInt(value.replace('.', '')).toString();
  return plainNested(value);
}
const alike = (a, b) => {
  if (typeof a === 'bigint' || typeof b === 'bigint') return String(a) === String(b);
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, i) => alike(x, b[i]));
  if (a && b && typeof a === 'object') return Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((k) => alike(a[k], b[k]));
  return Object.is(a, b);
};
/* Types whose values apache-arrow gives in a form of its own, by its units: looked at by their raw words. */
const words = /^(timestamp|date|time|duration|month_interval|halffloat)/;

for (const file of heads) {
  const name = file.split('/').pop();
  test(`${name} through apache-arrow`, { skip: !process.env.TIMELAKE_NPM && 'no npm packages' }, () => {
    if (name === 'iot.unknown_codec.head') return;
    const { tableFromIPC } = npm('apache-arrow'), head = lake.decodeHead(readFileSync(file));
    for (const section of head.sections) {
      if (section.fields.some((f) => /view|decimal(32|64)/.test(f.type))) continue; /* types that apache-arrow does not have */
      const table = tableFromIPC(section.toIPC());
      assert.equal(table.numRows, section.rows, section.name);
      assert.deepEqual(table.schema.fields.map((f) => [f.name, f.nullable]), section.fields.map((f) => [f.name, f.nullable]));
      for (const field of section.fields) {
        const theirs = table.getChild(field.name), mine = section.column(field.name);
        assert.equal(theirs.nullCount, mine.chunks.reduce((n, c) => n + Array.from({ length: c.length }, (_, i) => c.isNull(i)).filter(Boolean).length, 0));
        if (words.test(field.type)) {
          const raw = theirs.data.flatMap((d) => [...d.values.subarray(0, d.length * d.stride)].map(String));
          const expect = mine.chunks.flatMap((c) => [...c.values].map(String));
          const joined = theirs.data[0]?.stride === 2 || raw.length !== expect.length ? null : raw;
          if (joined) for (let i = 0; i < section.rows; i++) if (mine.get(i) !== null) assert.equal(joined[i], expect[i], `${section.name}.${field.name}[${i}]`);
          if (joined) continue;
          assert.fail(`${section.name}.${field.name}: ${field.type} in another form`);
        }
        for (let i = 0; i < section.rows; i++) {
          const a = plain(theirs.get(i), field), b = ours(mine.get(i), field);
          assert.ok(alike(a, b), `${section.name}.${field.name}[${i}]: ${String(a)}, not ${String(b)}`);
        }
      }
    }
    head.close();
  });
}

/* DuckDB has no type for these, or another idea of it. */
const foreign = /^(duration|month_|day_|halffloat|decimal256)/;
/* How a value is asked for, and what it is then. */
function asked({ name, type }) {
  const column = `"${name.replaceAll('"', '""')}"`, unit = { s: 1000000000n, ms: 1000000n, us: 1000n, ns: 1n }[type.match(/^time[^[]*\[(\w+)/)?.[1]];
  const coarse = /^time64\[ns|^timestamp\[ns, tz/.test(type) ? 1000n : 1n; /* microseconds are the finest of these there */
  if (unit) return [`epoch_ns(${column})`, (v) => String(BigInt(v) * unit / coarse * coarse)];
  if (/^date/.test(type)) return [`${column} - DATE '1970-01-01'`, (v) => String(/64/.test(type) ? v / 86400000n : v)];
  return [column, (v) => v];
}

const duckdbThere = (() => { try { return npm.resolve('@duckdb/duckdb-wasm'); } catch { return null; } })();
if (!duckdbThere) console.log('skipped: no DuckDB-WASM, so it reads no Arrow streams of ours');
test('every head through DuckDB-WASM', { skip: !duckdbThere && 'no DuckDB-WASM' }, async (t) => {
  const folder = dirname(duckdbThere), duckdb = npm(join(folder, 'duckdb-node-blocking.cjs'));
  const bundle = (name) => ({ mainModule: join(folder, `duckdb-${name}.wasm`), mainWorker: '' });
  const db = await duckdb.createDuckDB({ mvp: bundle('mvp'), eh: bundle('eh') }, new duckdb.VoidLogger(), duckdb.NODE_RUNTIME);
  await db.instantiate(() => {});
  const connection = db.connect();
  let values = 0, tables = 0;
  for (const file of heads.filter((f) => !f.endsWith('iot.unknown_codec.head'))) {
    const head = lake.decodeHead(readFileSync(file));
    for (const section of head.sections) {
      if (section.fields.length === 0 || section.fields.some((f) => foreign.test(f.type))) continue;
      const table = `t${tables++}`, where = `${file.split('/').pop()} ${section.name}`, questions = section.fields.map(asked);
      connection.insertArrowFromIPCStream(section.toIPC(), { name: table, create: true });
      const theirs = connection.query(`SELECT ${questions.map(([q]) => q).join(', ')} FROM ${table}`);
      assert.equal(theirs.numRows, section.rows, where);
      section.fields.forEach((field, k) => {
        const column = theirs.getChildAt(k), mine = section.column(field.name).toArray();
        mine.forEach((value, i) => {
          const a = plain(column.get(i), field), b = value === null ? null : ours(questions[k][1](value), field);
          assert.ok(alike(typeof b === 'string' && a !== null ? String(a) : a, b), `${where}.${field.name}[${i}]: ${String(a)}, not ${String(b)}`);
          values++;
        });
      });
    }
    head.close();
  }
  assert.ok(tables > 100 && values > 5000, `${tables} tables, ${values} values`);
  t.diagnostic(`measured: DuckDB-WASM ${connection.query('SELECT version()').getChildAt(0).get(0)} reads ${tables} streams, ${values} values alike`);
});

test('the module imports nothing', () => assert.deepEqual(WebAssembly.Module.imports(wasm), []));

test('typed arrays are views, not copies', () => {
  const head = lake.decodeHead(readFileSync(data('lake/iot.many.head'))), files = head.section('files');
  const sizes = files.column('size').values;
  assert.ok(sizes instanceof BigUint64Array && sizes.length === files.rows);
  assert.equal(sizes.buffer, lake.m.x.memory.buffer);
  assert.deepEqual([...sizes], files.toRows().map((r) => r.size));
  const { offsets, data: bytes } = files.column('path').chunks[0];
  assert.equal(new TextDecoder().decode(bytes.subarray(offsets[0], offsets[1])), files.column('path').get(0));
  head.close();
});

test('bytes that are no head, cut and changed heads say why and where', () => {
  assert.throws(() => lake.decodeHead(new Uint8Array(0)), (e) => e.code === 'not a head');
  assert.throws(() => lake.decodeHead(new TextEncoder().encode('hello')), (e) => e.code === 'not a head' && e.position === 0);
  const whole = readFileSync(data('lake/iot.trucks.head'));
  for (let size = 0; size < whole.length; size += 7) {
    try {
      const head = lake.decodeHead(whole.subarray(0, size));
      for (const s of head.sections) s.toRows();
      head.close();
      assert.fail(`${size} of ${whole.length} bytes are a head`);
    } catch (e) {
      assert.equal(e.name, 'TimelakeError', `${size}: ${e}`);
      assert.ok(e.message.length > 5 && (e.position === null || e.position <= whole.length));
    }
  }
});

test('decoding again and again takes no more memory', () => {
  const bytes = readFileSync(data('heads/zoo-large.arrow.head'));
  const once = () => {
    const head = lake.decodeHead(bytes);
    for (const s of head.sections) s.columns();
    head.close();
  };
  once();
  const before = lake.m.x.memory.buffer.byteLength;
  for (let i = 0; i < 50; i++) once();
  assert.equal(lake.m.x.memory.buffer.byteLength, before);
});

test('changed bytes anywhere: the same kind of error, or other values; never a trap, and the memory is given back', () => {
  let seed = 1, errors = 0;
  const random = (n) => (seed = Math.imul(seed, 1664525) + 1013904223 >>> 0) % n;
  return timelake({ wasm, texts }).then((fresh) => {
    for (const file of ['lake/iot.trucks.head', 'lake/iot.trucks_json.head', 'heads/zoo.arrow.head', 'heads/zoo.json.head', 'heads/type-map.arrow.head',
      'heads/type-utf8-view.arrow.head', 'heads/type-dictionary.arrow.head']) {
      const whole = readFileSync(data(file));
      for (let round = 0; round < 300; round++) {
        const bytes = Uint8Array.from(whole);
        for (let k = random(4); k >= 0; k--) bytes[random(bytes.length)] = [0, 1, 0x7f, 0x80, 0xff, random(256)][random(6)];
        let head = null;
        try {
          head = fresh.decodeHead(bytes);
          for (const s of head.sections) {
            s.toRows();
            s.toIPC();
          }
        } catch (error) {
          assert.equal(error.name, 'TimelakeError', `${file}, round ${round}: ${error.stack}`);
          errors++;
        }
        head?.close();
      }
    }
    assert.ok(errors > 100);
    assert.ok(fresh.m.x.memory.buffer.byteLength < 64 << 20, `${fresh.m.x.memory.buffer.byteLength} bytes`);
  });
});
