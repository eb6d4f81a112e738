/* Timelake tables from JavaScript: browsers, Node, Deno, workers. docs/javascript.md is the manual, timelake.d.ts has the
   types. timelake.wasm (`make wasm`) is timelake.h; this file is its fetch adapter and hands out what it decodes.

   Numbers below are members of the header's structs on wasm32, which timelake_wasm.c asserts. */

const TURN = ['wants', 'waits', 'done', 'none', 'failed'];
const KIND = ['GET', 'HEAD', 'LIST', 'PUT', 'DELETE', 'SLEEP'];
const PURPOSE = ['other', 'head', 'hint', 'listing', 'check', 'metadata', 'manifest list', 'manifest', 'index', 'data',
  'commit', 'clean-up', 'object', 'probe', 'boundary', 'pause', 'warm'];
const OUTCOME = { ok: 0, not_found: 1, not_modified: 2, unsupported: 4, failed: 5, cancelled: 7 };
const COMPARE = { __proto__: null, '=': 0, '==': 0, '<': 1, '<=': 2, '>': 3, '>=': 4, in: 5, 'is null': 6, 'is not null': 7 };
/* What inspecting a commit may find: names of the reference's errors by tl_fault_kind. */
const FAULT = { 1: 'Other', 6: 'Storage.OtherIo', 10: 'CommitDeserialization', 12: 'Protocol.UnsupportedVersion',
  13: 'Protocol.UnsupportedReaderFeatures', 14: 'Protocol.UnsupportedWriterFeatures' };
const WHOLE = 0xffffffffffffffffn, FOREVER = 0x7fffffffffffffffn, MOST = 0x7fffffffn;
const CANCELLED = 61, MAY_COME_BACK = new Set([408, 425, 429, 500, 502, 503, 504]);
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true }), encoder = new TextEncoder();

/** Why something failed: `code` is a word ("absent", "corrupt", "store", ...), `position` the byte in the object `key`. */
export class TimelakeError extends Error {
  constructor(code, message, more = {}) {
    super(message);
    this.name = 'TimelakeError';
    this.code = code;
    this.position = more.position ?? null;
    this.key = more.key ?? null;
    this.httpStatus = more.httpStatus ?? null;
  }
}

/* A number that was given, as a bigint. */
function wholeNumber(value, name) {
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) throw new TimelakeError('misuse', `options.${name} is ${value}`);
  return BigInt(value);
}

const bytesOf = (data) => (data instanceof Uint8Array ? data
  : ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data));

/* An unsigned 64-bit number: a bigint where a number would lose digits. */
function unsigned(value) {
  const n = BigInt.asUintN(64, value);
  return n <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(n) : n;
}

/* ---- the module: memory, texts, errors ---- */

/* Settles as `promise` does, or rejects with the signal's reason when that comes first. */
function abortable(promise, signal) {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function pause(ms, signal) {
  let timer;
  return abortable(new Promise((done) => { timer = setTimeout(done, ms); }), signal).finally(() => clearTimeout(timer));
}

/* Runs with a signal of its own, that aborts with `signal`, of which nothing is left behind: fetch keeps hold of the one it gets. */
async function apart(signal, run) {
  const control = new AbortController(), abort = () => control.abort(signal.reason);
  signal?.throwIfAborted();
  signal?.addEventListener('abort', abort);
  try { return await run(control.signal); } finally { signal?.removeEventListener('abort', abort); }
}

/* Of whatever was thrown. */
function textOf(error) {
  try { return String(error?.message ?? error); } catch { return 'an error without a text'; }
}

/* The texts of errors lie in a file of their own, which the first error fetches: a text below this address is its line there. */
const TEXTS = 1024;

class Module {
  constructor(instance, source) {
    Object.assign(this, { x: instance.exports, source, texts: null });
  }
  get bytes() { return new Uint8Array(this.x.memory.buffer); }
  get view() { return new DataView(this.x.memory.buffer); }
  u32(at) { return this.view.getUint32(at, true); }
  u64(at) { return this.view.getBigUint64(at, true); }
  i64(at) { return this.view.getBigInt64(at, true); }
  text(at, size) { return utf8.decode(new Uint8Array(this.x.memory.buffer, at, size)); }
  /* A C string. */
  string(at) {
    at >>>= 0;
    if (at === 0) return null;
    const bytes = this.bytes;
    return this.text(at, bytes.indexOf(0, at) - at);
  }
  /* A span of text; null when it is absent. */
  span(at) {
    at >>>= 0;
    const data = this.u32(at);
    return data === 0 ? null : this.text(data, this.u32(at + 4));
  }
  spanBytes(at) {
    at >>>= 0;
    return this.u32(at) === 0 ? null : this.bytes.slice(this.u32(at), this.u32(at) + this.u32(at + 4));
  }
  /* A copy of bytes in the module's memory. */
  put(bytes) {
    const at = this.x.alloc(bytes.length) >>> 0;
    if (at === 0) throw new TimelakeError('no memory', `no memory for ${bytes.length} bytes`);
    this.bytes.set(bytes, at);
    return at;
  }
  /* Calls with a text in memory, which is freed afterwards. */
  with(text, call) {
    const bytes = typeof text === 'string' ? encoder.encode(text) : text;
    const at = this.put(bytes);
    try { return call(at, bytes.length); } finally { this.x.free(at, bytes.length); }
  }
  /* Has the texts, if they can be had; never rejects. */
  learn() {
    this.learning ??= (async () => JSON.parse(utf8.decode(await bring(this.source, AbortSignal.timeout?.(5000)))))()
      .then((texts) => { this.texts = texts; }, () => { this.texts = []; });
    return this.learning;
  }
  /* The text of an error. Where no one could wait for the texts, the status stands for it. */
  says(status, text) {
    if (text >= TEXTS) return this.string(text);
    return this.texts?.[text] ?? (text === 0 ? 'failed' : `${this.string(this.x.status_text(status))} (${text})`);
  }
  error(at = this.x.error(), more = {}) {
    at >>>= 0;
    const position = this.u64(at + 8), text = this.u32(at + 4), after = more.store ? `: ${more.store}` : '';
    const error = new TimelakeError(this.string(this.x.status_text(this.u32(at))), this.says(this.u32(at), text) + after,
      { position: position === WHOLE ? null : Number(position), ...more });
    if (text < TEXTS && this.texts === null) this.learn().then(() => { if (this.texts[text]) error.message = this.texts[text] + after; });
    return error;
  }
  check(address) {
    address >>>= 0;
    if (address === 0) throw this.error();
    return address;
  }
}

/* ---- Arrow arrays: struct ArrowSchema and struct ArrowArray in the module's memory ---- */

const PLAIN = {
  n: ['null'], b: ['bool'], c: ['int8', Int8Array], C: ['uint8', Uint8Array], s: ['int16', Int16Array],
  S: ['uint16', Uint16Array], i: ['int32', Int32Array], I: ['uint32', Uint32Array], l: ['int64', BigInt64Array],
  L: ['uint64', BigUint64Array], e: ['halffloat', Uint16Array], f: ['float', Float32Array], g: ['double', Float64Array],
  u: ['string'], U: ['large_string'], vu: ['string_view'], z: ['binary'], Z: ['large_binary'], vz: ['binary_view'],
  tdD: ['date32[day]', Int32Array], tdm: ['date64[ms]', BigInt64Array], tiM: ['month_interval', Int32Array],
  tiD: ['day_time_interval'], tin: ['month_day_nano_interval'],
};
const UNIT = { s: 's', m: 'ms', u: 'us', n: 'ns' };

function readMetadata(m, at) {
  if (at === 0) return {};
  const { view } = m;
  let p = at + 4;
  const next = () => {
    const size = view.getInt32(p, true);
    p += 4 + size;
    return m.text(p - size, size);
  };
  return Object.fromEntries(Array.from({ length: view.getInt32(at, true) }, () => [next(), next()]));
}

/* What a schema node says: name, nullable, type as pyarrow spells it, the typed array of its values, children. */
function readField(m, at) {
  const format = m.string(m.u32(at)), flags = Number(m.i64(at + 16)), count = Number(m.i64(at + 24));
  const list = m.u32(at + 32), dictionary = m.u32(at + 36);
  const children = Array.from({ length: count }, (_, i) => readField(m, m.u32(list + 4 * i)));
  const field = { name: m.string(m.u32(at + 4)) ?? '', nullable: (flags & 2) !== 0, metadata: readMetadata(m, m.u32(at + 8)),
    format, children, size: 0, scale: 0, dictionary: dictionary === 0 ? null : readField(m, dictionary) };
  const inner = () => `<${children.map((c) => `${c.name}: ${c.type}${c.nullable ? '' : ' not null'}`).join(', ')}>`;
  const kind = format[0] === 't' ? format.slice(0, 2) : format.slice(0, 2) === 'd:' ? 'd' : format.split(':')[0];
  if (PLAIN[format]) {
    [field.type, field.array] = PLAIN[format];
  } else if (kind === 'd') {
    const [precision, scale, bits] = format.slice(2).split(',').map(Number);
    Object.assign(field, { type: `decimal${bits ?? 128}(${precision}, ${scale})`, scale, size: (bits ?? 128) / 8 });
  } else if (kind === 'tt') {
    const wide = format[2] === 'u' || format[2] === 'n';
    Object.assign(field, { type: `time${wide ? 64 : 32}[${UNIT[format[2]]}]`, array: wide ? BigInt64Array : Int32Array });
  } else if (kind === 'ts') {
    const zone = format.slice(4);
    Object.assign(field, { type: `timestamp[${UNIT[format[2]]}${zone ? `, tz=${zone}` : ''}]`, array: BigInt64Array });
  } else if (kind === 'tD') {
    Object.assign(field, { type: `duration[${UNIT[format[2]]}]`, array: BigInt64Array });
  } else if (kind === 'w') {
    field.size = Number(format.slice(2));
    field.type = `fixed_size_binary[${field.size}]`;
  } else if (kind === '+m') {
    const [key, value] = children[0].children;
    field.type = `map<${key.type}, ${value.type}${value.nullable ? '' : ' not null'}${(flags & 4) !== 0 ? ', keys_sorted' : ''}>`;
  } else {
    const word = { '+s': 'struct', '+l': 'list', '+L': 'large_list', '+w': 'fixed_size_list' }[kind] ?? format;
    field.size = kind === '+w' ? Number(format.slice(3)) : 0;
    field.type = word + inner() + (kind === '+w' ? `[${field.size}]` : '');
  }
  if (field.dictionary) {
    field.type = `dictionary<values=${field.dictionary.type}, indices=${field.type}, ordered=${flags & 1}>`;
  }
  return field;
}

function halfFloat(h) {
  const sign = h & 0x8000 ? -1 : 1, exponent = (h >> 10) & 31, fraction = h & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

function decimalText(value, scale) {
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString();
  if (scale <= 0) return sign + digits + (value === 0n ? '' : '0'.repeat(-scale));
  const padded = digits.padStart(scale + 1, '0');
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

/** One run of a column: `values`, `offsets`, `validity` are views of the module's memory where the type has them, made when
    they are asked for and without a copy. They hold until the next call into the library; `slice()` to keep one. */
class Chunk {
  constructor(owner, field, at) {
    const m = owner.m;
    Object.assign(this, { owner, field, at, length: Number(m.i64(at)), nullCount: Number(m.i64(at + 8)) });
    this.offset = Number(m.i64(at + 16));
    this.dictionary = field.dictionary ? new Chunk(owner, field.dictionary, m.u32(at + 48)) : null;
    this.children = field.children.map((c, i) => new Chunk(owner, c, m.u32(m.u32(at + 44) + 4 * i)));
  }
  buffer(i) { return this.owner.m.u32(this.owner.m.u32(this.at + 40) + 4 * i); }
  typed(Type, i, from, count) {
    this.owner.alive();
    const at = this.buffer(i);
    return at === 0 || count === 0 ? new Type(0) : new Type(this.owner.m.x.memory.buffer, at + from * Type.BYTES_PER_ELEMENT, count);
  }
  get values() { return this.field.array ? this.typed(this.field.array, 1, this.offset, this.length) : undefined; }
  get wideOffsets() { return ['U', 'Z', '+L'].includes(this.field.format); }
  get offsets() {
    if (!['u', 'z', 'U', 'Z', '+l', '+L', '+m'].includes(this.field.format)) return undefined;
    return this.typed(this.wideOffsets ? BigInt64Array : Int32Array, 1, this.offset, this.length + 1);
  }
  /** The bytes of texts and binaries, one after another: value i lies from offsets[i] to offsets[i + 1]. */
  get data() {
    if (!['u', 'z', 'U', 'Z'].includes(this.field.format)) return undefined;
    const offsets = this.offsets;
    return this.typed(Uint8Array, 2, 0, offsets.length === 0 ? 0 : Number(offsets[this.length]));
  }
  /** A bit per value from bit `offset` on, set where it is not null; undefined: no nulls. */
  get validity() {
    if (this.field.format === 'n' || this.buffer(0) === 0) return undefined;
    return this.typed(Uint8Array, 0, 0, (this.offset + this.length + 7) >> 3);
  }
  isNull(i) {
    this.owner.alive();
    if (this.field.format === 'n') return true;
    const at = this.buffer(0), j = i + this.offset;
    return at !== 0 && (this.owner.m.bytes[at + (j >> 3)] >> (j & 7) & 1) === 0;
  }
  /** Value i: number, bigint (64 bits), boolean, string, Uint8Array (a copy), decimals as text, nested ones as arrays and
      objects, maps as [key, value] pairs; null. */
  get(i) { return i >= 0 && i < this.length ? this.reader(false)(i) : null; }
  /* A function that gives value i, until the next call into the module; for many values: what they share is done once. */
  reader(many = true) {
    this.owner.alive();
    const { validity } = this, from = this.offset, value = this.plainReader(many);
    if (this.field.format === 'n') return () => null;
    return validity === undefined ? value : (i) => ((validity[(i + from) >> 3] >> ((i + from) & 7) & 1) === 0 ? null : value(i));
  }
  plainReader(many) {
    const { m } = this.owner, { format, size, scale } = this.field, from = this.offset, { bytes } = m;
    if (this.dictionary) {
      const { values } = this, inner = this.dictionary.reader(many);
      return (i) => inner(Number(values[i]));
    }
    if (this.field.array) {
      const { values } = this;
      return format === 'e' ? (i) => halfFloat(values[i]) : (i) => values[i];
    }
    const children = format[0] === '+' ? this.children.map((c) => c.reader(many)) : [];
    const at = format === 'n' || format === '+s' || format.startsWith('+w') ? 0 : this.buffer(1);
    switch (format) {
      case 'n': return () => null;
      case 'b': return (i) => (bytes[at + ((i + from) >> 3)] >> ((i + from) & 7) & 1) === 1;
      case 'u': case 'z': case 'U': case 'Z': return this.textReader(many);
      case 'vu': case 'vz': return (i) => {
        const view = at + 16 * (i + from), n = m.u32(view);
        const start = n <= 12 ? view + 4 : this.buffer(2 + m.u32(view + 8)) + m.u32(view + 12);
        return format === 'vu' ? m.text(start, n) : bytes.slice(start, start + n);
      };
      case 'tiD': return (i) => [0, 4].map((k) => m.view.getInt32(at + 8 * (i + from) + k, true));
      case 'tin': return (i) => {
        const start = at + 16 * (i + from), { view } = m;
        return [view.getInt32(start, true), view.getInt32(start + 4, true), view.getBigInt64(start + 8, true)];
      };
      case '+s': return (i) => Object.fromEntries(this.children.map((c, k) => [c.field.name, children[k](i + from)]));
      case '+l': case '+L': return this.listReader(children[0]);
      case '+m': {
        const [entries] = this.children, pair = entries.children.map((c) => c.reader(many));
        return this.listReader((k) => pair.map((part) => part(k + entries.offset)));
      }
      default:
    }
    if (format[0] === 'w') return (i) => bytes.slice(at + size * (i + from), at + size * (i + from + 1));
    if (format.startsWith('+w')) return (i) => Array.from({ length: size }, (_, k) => children[0]((i + from) * size + k));
    if (!format.startsWith('d:')) throw new TimelakeError('unsupported', `no values of type ${this.field.type}`);
    return (i) => {
      let value = 0n;
      for (let k = size - 4; k >= 0; k -= 4) value = value << 32n | BigInt(m.u32(at + size * (i + from) + k));
      return decimalText(BigInt.asIntN(size * 8, value), scale);
    };
  }
  listReader(item) {
    const { offsets } = this;
    return (i) => {
      const out = [];
      for (let k = Number(offsets[i]); k < Number(offsets[i + 1]); k++) out.push(item(k));
      return out;
    };
  }
  textReader(many) {
    const { offsets, data } = this, text = this.field.format.toLowerCase() === 'u';
    if (!text) return (i) => data.slice(Number(offsets[i]), Number(offsets[i + 1]));
    const all = many && this.length > 8 && data.length < 1 << 28 ? utf8.decode(data) : '';
    if (all.length === data.length) return (i) => all.slice(Number(offsets[i]), Number(offsets[i + 1])); /* ASCII: one decoding */
    return (i) => utf8.decode(data.subarray(Number(offsets[i]), Number(offsets[i + 1])));
  }
}

/** A column of a section: the same over all its chunks. */
class Column {
  constructor(field, chunks) {
    Object.assign(this, { name: field.name, type: field.type, nullable: field.nullable, metadata: field.metadata, chunks });
    this.length = chunks.reduce((n, c) => n + c.length, 0);
  }
  /** The values as one typed array: a view of the memory where there is one chunk, else a copy. */
  get values() {
    if (this.chunks.length === 1) return this.chunks[0].values;
    const parts = this.chunks.map((c) => c.values);
    if (parts.length === 0 || parts[0] === undefined) return undefined;
    const all = new parts[0].constructor(this.length);
    let at = 0;
    for (const p of parts) { all.set(p, at); at += p.length; }
    return all;
  }
  get(i) {
    for (const c of this.chunks) {
      if (i < c.length) return c.get(i);
      i -= c.length;
    }
    return null;
  }
  toArray() {
    const out = new Array(this.length);
    let at = 0;
    for (const c of this.chunks) {
      const value = c.reader();
      for (let i = 0; i < c.length; i++) out[at++] = value(i);
    }
    return out;
  }
}

/** A named table of a head: schema, rows, columns. Columns are decompressed and checked when first asked for. */
class Section {
  constructor(owner, at) {
    const m = owner.m;
    Object.assign(this, { owner, at, name: m.span(at) ?? '', rows: Number(m.i64(at + 16)) });
    this.root = readField(m, m.u32(at + 8));
    this.fields = this.root.children.map(({ name, type, nullable, metadata }) => ({ name, type, nullable, metadata }));
    this.metadata = this.root.metadata;
  }
  columns() {
    this.owner.alive();
    if (!this.opened) {
      const m = this.owner.m, count = m.u32(this.at + 24), chunks = [];
      for (let i = 0; i < count; i++) {
        const batch = m.x.section_batch(this.at, i) >>> 0;
        if (batch === 0) throw this.owner.spoiled(m.error());
        this.owner.batches.push(batch);
        chunks.push(new Chunk(this.owner, this.root, batch).children);
      }
      this.opened = this.root.children.map((f, i) => new Column(f, chunks.map((c) => c[i])));
    }
    return this.opened;
  }
  column(name) { return this.columns().find((c) => c.name === name) ?? null; }
  /** All rows as objects. */
  toRows() {
    const columns = this.columns(), names = columns.map((c) => c.name), values = columns.map((c) => c.toArray());
    const out = new Array(this.rows);
    const plain = !names.includes('__proto__'); /* a name of a stranger's choice */
    for (let i = 0; i < out.length; i++) {
      const row = plain ? {} : Object.fromEntries(names.map((n, k) => [n, values[k][i]]));
      if (plain) for (let k = 0; k < names.length; k++) row[names[k]] = values[k][i];
      out[i] = row;
    }
    return out;
  }
  /** A complete Arrow IPC stream, not compressed: `tableFromIPC(section.toIPC())`, DuckDB's `insertArrowFromIPCStream`. */
  toIPC() {
    this.owner.alive();
    const m = this.owner.m;
    if (!m.x.section_ipc) throw new TimelakeError('unsupported', 'timelake-small.wasm writes no streams: columns() and toRows() have the values');
    const out = m.x.section_ipc(this.at) >>> 0;
    if (out === 0) throw this.owner.spoiled(m.error());
    const bytes = m.spanBytes(out) ?? new Uint8Array(0);
    m.x.buffer_free(out);
    return bytes;
  }
}

/** What a head holds; tables are heads too. */
class Document {
  constructor(m, free) {
    Object.assign(this, { m, batches: [], closed: false });
    this.release = () => {
      for (const batch of this.batches) m.x.batch_free(batch);
      free();
    };
  }
  alive() {
    if (this.closed) throw new TimelakeError('misuse', 'this table is closed');
  }
  spoiled(error) { return error; }
  get sections() {
    this.alive();
    if (!this.known) {
      const count = this.m.u32(this.head + 20), first = this.m.u32(this.head + 28);
      this.known = Array.from({ length: count }, (_, i) => new Section(this, first + 40 * i));
    }
    return this.known;
  }
  section(name) { return this.sections.find((s) => s.name === name) ?? null; }
  get properties() {
    this.alive();
    const count = this.m.u32(this.head + 16), first = this.m.u32(this.head + 24);
    return Object.fromEntries(Array.from({ length: count }, (_, i) => [this.m.span(first + 16 * i), this.m.span(first + 16 * i + 8) ?? '']));
  }
  /** Frees it; what was handed out as typed arrays is gone. */
  close() {
    if (this.closed) return;
    this.closed = true;
    this.release();
  }
  [Symbol.dispose ?? Symbol.for('dispose')]() { this.close(); }
}

/** A head object. */
class Head extends Document {
  constructor(m, at) {
    super(m, () => m.x.head_free(at));
    Object.assign(this, { head: at, version: unsigned(m.u64(at)), codec: m.span(at + 8) ?? '' });
  }
}

/* ---- tables ---- */

const SOURCE = ['head', 'chain', 'commit'];

function readFile(m, at) {
  const has = (i) => m.bytes[at + i] === 1, view = m.view;
  return {
    path: m.span(at), size: unsigned(m.u64(at + 8)), records: unsigned(m.u64(at + 16)), snapshotId: m.i64(at + 24),
    sequenceNumber: m.i64(at + 32), fileSequenceNumber: m.i64(at + 40), partition: has(56) ? view.getInt32(at + 48, true) : null,
    sortOrderId: has(57) ? view.getInt32(at + 52, true) : null,
  };
}

/* The same of rows of the sections, in the order of a plan. */
function filesOf(rows, footers) {
  const small = (v) => (typeof v === 'bigint' ? unsigned(v) : v), last = -Infinity;
  const footer = new Map(footers.map((f) => [f.path, f.footer]));
  return rows.map((row) => ({
    path: row.path, size: small(row.size), records: small(row.records), snapshotId: row.snapshot_id, sequenceNumber: row.sequence_number,
    fileSequenceNumber: row.file_sequence_number, partition: row.partition, sortOrderId: row.sort_order_id, footer: footer.get(row.path) ?? null,
  })).sort((a, b) => (b.partition ?? last) - (a.partition ?? last) || (a.path < b.path ? 1 : -1));
}

/** One version of a table. */
class Table extends Document {
  constructor(place, at, load) {
    const { lake } = place, { m } = lake;
    super(m, () => m.x.table_drop(at));
    m.x.table_keep(at);
    Object.assign(this, {
      lake, place, at, head: at + 352, version: unsigned(m.u64(at)), source: SOURCE[m.u32(at + 16)], location: m.span(at + 108),
      unchecked: m.bytes[load + 524] === 1, opened: null, roundTrips: 0, requests: [],
      why: m.u32(load + 528) === 0 ? null : [m.u32(load + 528), m.u32(load + 532)], whyMore: '',
    });
    const interval = m.i64(at + 232);
    this.checkIntervalMs = interval === FOREVER ? Infinity : Number(interval);
  }
  spoiled(error) { /* a corrupt section: the next open takes the metadata chain */
    const { at } = this.place;
    if (at !== 0 && ['corrupt', 'truncated', 'checksum'].includes(error.code)) this.m.x.table_bar(at, this.at);
    return error;
  }
  /** Why the head did not serve; null when it did. */
  get whyNoHead() { return this.why === null ? null : this.m.says(...this.why) + this.whyMore; }
  /** The text of vN.metadata.json. */
  get metadataText() {
    this.alive();
    return this.m.span(this.at + 312);
  }
  /** That parsed. Ids beyond 2^53 lose digits in JSON.parse: `metadataText` and files() have them whole. */
  get metadata() { return JSON.parse(this.metadataText); }
  /** The live data files. */
  files() {
    if (this.m.x.plan_new) return this.plan().files;
    const files = this.section('files');
    if (files === null) throw new TimelakeError('misuse', 'this table was opened without its files');
    return filesOf(files.toRows(), this.section('footers')?.toRows() ?? []);
  }
  /** The files that may hold a row that meets all conditions, newest partition first. A condition is
      [column, '=' | '<' | '<=' | '>' | '>=', value], [column, 'in', values], [column, 'is null' | 'is not null'].
      Values: number, bigint, boolean, string (also of dates, times, decimals), Date (of timestamps). */
  plan(conditions = []) {
    this.alive();
    if (!this.m.x.plan_new) throw new TimelakeError('unsupported', 'timelake-small.wasm plans nothing: files() has all files');
    const m = this.m, taken = [];
    const wrong = conditions.find(([, compare]) => COMPARE[String(compare).toLowerCase()] === undefined);
    if (wrong) throw new TimelakeError('misuse', `no comparison ${wrong[1]}`);
    const text = (s) => {
      const bytes = encoder.encode(s), at = m.put(bytes);
      taken.push([at, bytes.length]);
      return [at, bytes.length];
    };
    try {
      const ready = conditions.map(([column, compare, value]) => {
        const code = COMPARE[String(compare).toLowerCase()];
        const values = code === 5 ? [...value] : code > 5 ? [] : [value];
        const [name, size] = text(column), at = m.put(new Uint8Array(32 * values.length));
        taken.push([at, 32 * values.length]);
        values.forEach((v, i) => writeValue(m, at + 32 * i, v, text));
        return [name, size, code, at, values.length];
      });
      const filter = m.x.filter_new(this.at) >>> 0; /* the plan frees it: nothing may throw between */
      for (const condition of ready) m.x.filter_add(filter, ...condition);
      const plan = m.x.plan_new(this.at, filter) >>> 0;
      if (plan === 0) throw this.spoiled(m.error());
      const first = m.u32(plan), count = m.u32(plan + 4);
      const files = Array.from({ length: count }, (_, i) => ({ ...readFile(m, first + 80 * i), footer: m.spanBytes(first + 80 * i + 72) }));
      const out = { files, skipped: m.u32(plan + 8) };
      m.x.plan_free(plan);
      return out;
    } finally {
      for (const [at, size] of taken) m.x.free(at, size);
    }
  }
  /** The newest row per series, from the index in the head and without a request; null when the head has none. */
  latest() {
    this.alive();
    const at = this.m.x.table_last_values(this.at) >>> 0;
    if (at !== 0) return (this.last ??= new Section(this, at)).toRows();
    const error = this.m.error();
    if (error.code === 'absent' || this.sections.length === 0) return null;
    throw this.spoiled(error);
  }
  /** Where to fetch an object of this table, a data file's `path` for one: what `roots` and `locate` make of its key. */
  url(key) { return this.place.locate(key, 'GET'); }
  /** The newest version: this one, or one that was committed since. */
  check(options = {}) { return this.lake.open(this.opened, { cacheMs: 0, ...options, defer: false }); }
}

function writeValue(m, at, value, text) {
  let v = value;
  const kind = typeof v === 'boolean' ? 0 : typeof v === 'bigint' || Number.isSafeInteger(v) ? 1 : typeof v === 'number' ? 2
    : v instanceof Date ? 3 : typeof v === 'string' ? 4 : -1;
  if (kind < 0 || (typeof v === 'bigint' && BigInt.asIntN(64, v) !== v) || (kind === 3 && Number.isNaN(v.getTime()))) {
    throw new TimelakeError('misuse', `no value of a condition: ${value}`);
  }
  if (kind === 3) v = BigInt(value.getTime()) * 1000n;
  const span = kind === 4 ? text(v) : null; /* may move the memory: before the view */
  const view = m.view;
  view.setUint32(at, kind, true);
  if (kind === 0 || kind === 1 || kind === 3) view.setBigInt64(at + 8, BigInt(v), true);
  if (kind === 2) view.setFloat64(at + 16, v, true);
  if (span) { view.setUint32(at + 24, span[0], true); view.setUint32(at + 28, span[1], true); }
}

/* ---- the fetch adapter ---- */

const NO_ROOT = 'no root says where';

/* A key is literal text: everything that is not plain in a path is encoded. */
function encodeKey(key) {
  if (/(^|\/)\.\.?(\/|$)/.test(key)) throw new TimelakeError('elsewhere', `no URL means the key ${key}`, { key });
  const [, start, path] = /^([a-z][a-z0-9+.-]*:\/\/[^/]*)(.*)$/is.exec(key) ?? [null, '', key];
  return start + path.split('/').map((s) => encodeURIComponent(s).replace(/%(3D|2B|3A|40|2C|24|26|3B)/g, decodeURIComponent)).join('/');
}

function readRequest(m) {
  const at = m.x.request() >>> 0;
  return {
    token: m.u64(at), kind: KIND[m.u32(at + 8)], condition: m.u32(at + 12), key: m.span(at + 16) ?? '', etag: m.span(at + 24),
    offset: m.u64(at + 32), length: m.u64(at + 40), accept: m.u64(at + 48), round: m.u32(at + 76),
    purpose: PURPOSE[m.u32(at + 96)], maxKeys: m.u32(at + 72) || 1000, page: m.span(at + 80),
  };
}

/* The body of an answer, at most `accept` bytes of it; whole, or an error. */
async function readBody(response, accept) {
  /* Another origin hides how the body was encoded, and its length is that of the encoded one: there the browser alone sees a cut. */
  const promised = response.type === 'cors' || response.headers.get('content-encoding') ? null : response.headers.get('content-length');
  const chunks = [];
  let size = 0;
  if (response.body?.getReader) {
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (BigInt(size) > accept) {
        reader.cancel().catch(() => {});
        throw new Error(`more than ${accept} bytes`);
      }
      chunks.push(value);
    }
  } else {
    chunks.push(new Uint8Array(await response.arrayBuffer()));
    size = chunks[0].length;
  }
  if (promised !== null && Number(promised) !== size) throw new Error(`cut: ${size} of ${promised} bytes`);
  return { chunks, size };
}

const originOf = (url) => /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url)?.[0] ?? url;
const failed = (text, retryMs = -1, status = null) => ({ outcome: 'failed', text, retryMs, status });

/* Sends one request: { outcome, ... }, also of what throws, and as soon as the signal aborts, which is this request's alone: Node warns
   of many listeners. */
function send(place, request, signal) {
  const work = (async () => (request.kind === 'LIST' && place.lake.list ? listed(place.lake, request, signal) : fetched(place, request, signal)))();
  return abortable(work, signal).catch((error) => (signal.aborted ? { outcome: 'cancelled' } : failed(textOf(error))));
}

async function listed(lake, request, signal) {
  const { entries, next } = await lake.list(request.key, { maxKeys: request.maxKeys, page: request.page, signal });
  return { outcome: 'ok', next: next == null ? '' : String(next), entries: Array.from(entries, (e) => ({ key: String(e.key), size: BigInt(e.size ?? 0) })) };
}

async function fetched(place, request, signal) {
  if (request.kind !== 'GET' && request.kind !== 'HEAD') {
    return { outcome: 'unsupported', text: `no ${request.kind} over fetch without options.list` };
  }
  const { lake } = place;
  if (signal.aborted) return { outcome: 'cancelled' };
  try {
    let target = await place.locate(request.key, request.kind);
    if (typeof target === 'string' || target instanceof URL) target = { url: target };
    request.url = String(target.url);
    const headers = { ...(place.trusts(request.url) && lake.headers), ...target.headers };
    const ranged = request.kind === 'GET' && (request.length !== WHOLE || request.offset !== 0n);
    if (ranged) headers.range = `bytes=${request.offset}-${request.length === WHOLE ? '' : request.offset + request.length - 1n}`;
    if (request.condition === 3) headers['if-none-match'] = request.etag;
    const response = await lake.fetch(request.url, { method: request.kind, headers, signal, cache: 'no-store' });
    const status = response.status, etag = response.headers.get('etag');
    if (status === 404 || status === 410) return { outcome: 'not_found', status };
    if (status === 304) return { outcome: 'not_modified', status };
    if (status === 416 && ranged) return { outcome: 'ok', status, size: 0, chunks: [], etag };
    if (status !== 200 && status !== 206) {
      const after = Number(response.headers.get('retry-after')), comesBack = MAY_COME_BACK.has(status);
      return failed(`HTTP ${status}${response.statusText ? ` ${response.statusText}` : ''}`,
        !comesBack ? -1 : after > 0 ? Math.ceil(Math.min(after, 30) * 1000) : lake.retryMs, status);
    }
    if (request.kind === 'HEAD') {
      const length = response.headers.get('content-length');
      return { outcome: 'ok', status, etag, objectSize: /^\d{1,18}$/.test(length) ? BigInt(length) : WHOLE };
    }
    const body = await readBody(response, request.accept);
    return { outcome: 'ok', status, etag, ...body, bodyOffset: status === 206 ? request.offset : 0n };
  } catch (error) {
    if (error instanceof TimelakeError) return failed(error.message);
    /* Browsers say no more than "Failed to fetch" of a store that does not allow this page. */
    const more = error instanceof TypeError && request.url ? ` (${originOf(request.url)}: no answer, or one that CORS forbids to read)` : '';
    return failed(`${textOf(error)}${error?.cause?.message ? `: ${textOf(error.cause)}` : ''}${more}`, /^more than/.test(error?.message) ? -1 : lake.retryMs);
  }
}

function complete(lake, op, request, answer) {
  const m = lake.m;
  let body = 0;
  if (answer.chunks) {
    body = m.x.alloc(answer.size) >>> 0;
    if (body === 0) answer = failed(`no memory for ${answer.size} bytes`);
    else {
      let at = body;
      for (const c of answer.chunks) { m.bytes.set(c, at); at += c.length; }
    }
  }
  const put = (bytes) => [bytes.length === 0 ? 0 : m.put(bytes), bytes.length], texts = [];
  const entries = answer.entries?.length ?? 0;
  let list = 0;
  try {
    for (const t of [answer.etag, answer.text, answer.next, ...(answer.entries ?? []).map((e) => e.key)]) {
      texts.push(put(encoder.encode(typeof t === 'string' ? t : '')));
    }
    [list] = put(new Uint8Array(24 * entries));
  } catch (error) {
    for (const [address, size] of [[body, answer.size], ...texts]) if (address !== 0) m.x.free(address, size);
    throw error;
  }
  const at = m.x.completion() >>> 0, view = m.view;
  view.setBigUint64(at, request.token, true);
  view.setUint32(at + 8, OUTCOME[answer.outcome], true);
  view.setBigInt64(at + 16, BigInt(answer.retryMs ?? -1), true);
  if (answer.chunks) {
    view.setUint32(at + 24, body, true);
    view.setUint32(at + 28, answer.size, true);
    view.setBigUint64(at + 32, answer.bodyOffset ?? 0n, true);
  }
  view.setBigUint64(at + 40, answer.objectSize ?? WHOLE, true);
  const span = (to, i) => {
    view.setUint32(to, texts[i][0], true);
    view.setUint32(to + 4, texts[i][1], true);
  };
  for (const [i, member] of [[0, 48], [1, 72], [2, 64]]) if (texts[i][1] !== 0) span(at + member, i);
  for (let i = 0; i < entries; i++) {
    span(list + 24 * i, i + 3);
    view.setBigUint64(list + 24 * i + 8, answer.entries[i].size, true);
  }
  view.setUint32(at + 56, list, true);
  view.setUint32(at + 60, entries, true);
  m.x.complete(op, lake.clock());
  for (const [address, size] of [[list, 24 * entries], ...texts]) if (address !== 0) m.x.free(address, size);
}

/* Sends a request and notes it in `log`: { line, answer }. */
async function note(place, request, signal, log) {
  const { lake } = place;
  const line = { round: request.round, method: request.kind, purpose: request.purpose, key: request.key, url: null, outcome: null,
    status: null, reason: null, bytes: 0, start: performance.now(), end: null };
  log.push(line);
  lake.onrequest?.(line);
  const answer = await send(place, request, signal);
  Object.assign(line, { url: request.url ?? null, outcome: answer.outcome, status: answer.status ?? null,
    reason: answer.text ?? null, bytes: answer.size ?? 0, end: performance.now() });
  lake.onrequest?.(line);
  return { line, answer };
}

/* Drives an operation to its end: resolves with the turn; rejects, once all is back, with what the caller's `onrequest` threw.
   Requests are noted in `log`; answers that are there already, in `early` by the last part of their key, are used once. */
function drive(place, op, signal, log, early = new Map()) {
  const { lake } = place, { m } = lake;
  return new Promise((resolve, reject) => {
    const out = new Set(), thrown = []; /* a controller for each request that is out */
    let timer = null, over = false;
    const cancel = () => {
      m.x.cancel(op, lake.clock());
      for (const control of out) control.abort();
      pump();
    };
    const start = async (request) => {
      const name = request.key.split('/').pop(), ready = request.kind === 'GET' ? early.get(name) : undefined;
      const control = new AbortController();
      early.delete(name);
      out.add(control);
      let answer = ready?.answer;
      try {
        answer ??= (await note(place, request, control.signal, log)).answer;
      } catch (error) {
        thrown.push(error);
        answer = { outcome: 'cancelled' };
      }
      out.delete(control);
      if (request.token !== 0n) {
        try { complete(lake, op, request, answer); } catch { complete(lake, op, request, { outcome: 'failed' }); /* without memory, too */ }
      }
      if (thrown.length > 0) cancel();
      else pump();
    };
    const pump = () => {
      clearTimeout(timer);
      while (!over) {
        const turn = TURN[m.x.step(op, lake.clock())];
        if (turn === 'wants') {
          const request = readRequest(m);
          if (request.kind !== 'SLEEP') start(request);
        } else if (turn === 'waits') {
          const deadline = m.x.deadline(op);
          if (deadline !== FOREVER) timer = setTimeout(pump, Math.min(Math.max(0, Number(deadline - lake.clock())), 1 << 30));
          return;
        } else {
          over = true;
          signal?.removeEventListener('abort', cancel);
          if (thrown.length > 0) reject(thrown[0]);
          else resolve(turn);
        }
      }
    };
    if (signal?.aborted) return cancel();
    signal?.addEventListener('abort', cancel);
    pump();
  });
}

/* ---- the lake: what one program knows of its tables ---- */

/* Where a table is opened, and by which name. A table may be reached over HTTPS under another name than its metadata gives. It then
   has versions and keys of its own: who else calls itself the same is another table, and what a stranger's metadata claims concerns
   no other. */
class Place {
  constructor(lake, url) {
    const remote = /^https?:/i.test(url);
    Object.assign(this, { lake, url, remote, name: url, at: lake.at, known: !remote, loads: 0, gone: false });
  }
  /* The URL of a key, or { url, headers }. */
  locate(key, method) {
    const inside = this.name !== this.url && key.startsWith(`${this.name}/`);
    return this.lake.locate(inside ? this.url + key.slice(this.name.length) : key, key, method);
  }
  /* A table's metadata may name any server: the lake's headers, which may be secrets, are for those that the caller named. */
  trusts(url) {
    const origin = originOf(url);
    return [this.url, ...this.lake.roots.map(([, to]) => to)].some((named) => originOf(named) === origin);
  }
  /* Its table calls itself `location`. */
  settle(location) {
    const name = typeof location === 'string' ? location.replace(/\/+$/, '') : '';
    if (!this.remote || this.name !== this.url || name === '' || name === this.url) return;
    this.forget();
    Object.assign(this, { name, known: true, at: this.lake.newLake() });
  }
  forget() { this.lake.m.with(this.name, (at, size) => this.lake.m.x.lake_forget(this.at, at, size)); }
  /* One who holds it is done: when no one does, nothing is kept of a place that has no table, and what is gone is freed. */
  leave() {
    if (--this.loads > 0) return;
    if (!this.known) this.lake.drop(this);
    if (!this.gone || this.at === this.lake.at || this.at === 0) return;
    this.lake.m.x.lake_free(this.at);
    this.at = 0;
  }
}

class Lake {
  constructor(m, options) {
    const given = (name, least) => {
      const n = options[name];
      if (n !== undefined && !(Number(n) >= least)) throw new TimelakeError('misuse', `options.${name} is ${n}`);
      return n;
    };
    Object.assign(this, {
      m, list: options.list, memory: given('memory', 0) ?? 0, fetch: options.fetch ?? ((...a) => globalThis.fetch(...a)),
      roots: Object.entries(options.roots ?? {}).map(([from, to]) => [from.replace(/\/*$/, '/'), String(to).replace(/\/*$/, '/')])
        .sort(([a], [b]) => b.length - a.length),
      headers: options.headers ?? {}, cacheMs: given('cacheMs', -Infinity), now: options.now ?? Date.now,
      retryMs: Math.ceil(Math.min(given('retryMs', 0) ?? 100, 1 << 30)), onrequest: options.onrequest, places: new Map(), locator: options.locate,
    });
    this.at = this.newLake();
  }
  newLake() { return this.m.check(this.m.x.lake_new(this.list ? 0 : 1, this.memory)); }
  clock() {
    let now;
    try { now = Math.floor(this.now()); } catch { /* as below */ }
    return BigInt(Number.isSafeInteger(now) ? now : Date.now());
  }
  /* The URL of the key at `place`, which is the key itself or where its table has it. */
  locate(place, key, method) {
    const [from, to] = this.roots.find(([root]) => place.startsWith(root)) ?? ['', ''];
    const url = encodeKey(to + place.slice(from.length));
    if (this.locator) return this.locator(key, { method, url });
    if (!/^https?:/i.test(url)) throw new TimelakeError('elsewhere', `${NO_ROOT} ${key} is`, { key });
    return url;
  }
  place(url) {
    const name = String(url).replace(/\/+$/, ''), known = this.places.get(name);
    if (known) return known;
    if (/^https?:.*[?#]/i.test(name)) throw new TimelakeError('misuse', `a table's URL has no query: options.locate signs requests (${name})`);
    const place = new Place(this, name);
    if (place.remote) this.places.set(name, place);
    return place;
  }
  /** Opens the newest version of a table, or `version`. Resolves with a Table, rejects with a TimelakeError ('absent': there
      is no such table) or, when `signal` aborts, with its reason. */
  async open(url, options = {}) {
    const place = this.place(url);
    place.loads++; /* its lake is held from the first request on */
    try { return await this.openAt(place, options); } finally { place.leave(); }
  }
  /* Its head, which is wanted in any case, says the table's name; without a head it is in the metadata that the hint leads to. */
  async openAt(place, options) {
    const { known } = place, log = [], early = known ? new Map() : await this.early(place, options, log), before = place.name;
    options.signal?.throwIfAborted();
    if (!known) place.settle(this.nameIn(early.get('timelake-head')?.answer));
    const { name } = place, settled = name !== before;
    try {
      const table = await this.load(place, options, log, early);
      place.settle(table.location);
      place.known = true;
      return table;
    } catch (error) {
      if (settled) this.drop(place); /* the name that its head gave may be what is wrong */
      if (place.name !== name) return this.load(place, options, log); /* another open has learned it meanwhile */
      if (settled || !place.remote || !log.some((l) => l.reason?.startsWith(NO_ROOT))) throw error;
      if (known) { /* it may have been made anew, under another name */
        if (this.places.get(place.url) !== place) throw error;
        this.drop(place);
        return this.open(place.url, options);
      }
      const named = await this.load(place, { ...options, files: false, cacheMs: 0 }, log).catch(() => null);
      named?.close();
      options.signal?.throwIfAborted();
      place.settle(named?.location);
      if (place.name === name) throw error;
      return this.load(place, options, log);
    }
  }
  drop(place) {
    if (this.places.get(place.url) === place) this.places.delete(place.url);
    place.gone = true;
  }
  /* Head and hint, asked for before the machine does. */
  async early(place, options, log) {
    const out = new Map();
    const get = (name, purpose, accept) => apart(options.signal, async (signal) => {
      const request = { kind: 'GET', key: `${place.url}/metadata/${name}`, offset: 0n, length: WHOLE, accept, condition: 0, round: 1, purpose };
      out.set(name, await note(place, request, signal, log));
    });
    const asked = [options.head === false ? null : get('timelake-head', 'head', MOST), this.list ? null : get('version-hint.text', 'hint', 65536n)];
    for (const { reason } of await Promise.allSettled(asked)) if (reason !== undefined) throw reason;
    return out;
  }
  nameIn(answer) {
    if (answer?.outcome !== 'ok') return null;
    try {
      const bytes = new Uint8Array(answer.size);
      answer.chunks.reduce((at, c) => { bytes.set(c, at); return at + c.length; }, 0);
      const head = this.decodeHead(bytes);
      try { return JSON.parse(head.section('metadata').column('json').get(0)).location; } finally { head.close(); }
    } catch { return null; /* the machine will say what is wrong with it */ }
  }
  async load(place, options, log = [], early = new Map()) {
    const m = this.m, cacheMs = options.cacheMs ?? this.cacheMs, version = BigInt.asUintN(64, wholeNumber(options.version ?? 0, 'version'));
    options.signal?.throwIfAborted();
    const age = cacheMs === undefined ? 0n : cacheMs <= 0 ? -1n : cacheMs >= Number.MAX_SAFE_INTEGER ? FOREVER : wholeNumber(Math.ceil(cacheMs), 'cacheMs');
    const flags = (options.defer ? 1 : 0) | (options.head === false ? 2 : 0) | (options.files === false ? 4 : 0);
    const load = m.check(m.with(place.name, (at, size) => m.x.load_new(place.at, at, size, flags, age, version)));
    try {
      const turn = await drive(place, load, options.signal, log, early);
      if (turn === 'none') {
        const what = options.version ? `no version ${options.version} of ${place.url}` : `no table at ${place.url}`;
        throw Object.assign(new TimelakeError('absent', what, { key: place.name }), { requests: log });
      }
      if (turn === 'failed') throw await this.failure(load, options.signal, log);
      const table = new Table(place, m.u32(load + 520), load);
      Object.assign(table, { opened: place.url, requests: log, roundTrips: m.x.op_round_trips(load) });
      const reason = log.findLast((l) => l.purpose === 'head')?.reason;
      if (reason) table.whyMore = `: ${reason}`;
      if (table.why !== null && table.why[1] < TEXTS) await Promise.race([m.learn(), pause(200)]); /* the table is good: not for long */
      if (options.signal?.aborted) table.close();
      options.signal?.throwIfAborted();
      return table;
    } finally {
      m.x.load_end(load);
    }
  }
  async failure(op, signal, log) {
    const m = this.m, at = m.x.op_error(op) >>> 0;
    if (m.u32(at) === CANCELLED && signal?.aborted) return signal.reason;
    if (m.u32(at + 4) < TEXTS) await abortable(m.learn(), signal);
    const key = m.span(m.x.op_error_text(op, 0)), store = m.span(m.x.op_error_text(op, 1));
    const line = log.findLast((l) => l.key === key);
    const error = m.error(at, { key, store, httpStatus: line?.status ?? null });
    return Object.assign(error, { requests: log });
  }
  /** Runs `read(table, signal)` at once on the version that is known, and checks meanwhile that it is the newest. When it is
      not, `signal` aborts, its result is dropped, and it runs again on the newest. The table is closed when `read` is done. */
  async query(url, read, options = {}) {
    let table = await this.open(url, { ...options, defer: true });
    for (;;) {
      const control = new AbortController(), used = table;
      const abort = () => control.abort(options.signal.reason);
      options.signal?.addEventListener('abort', abort);
      const reading = (async () => read(used, control.signal))(), result = abortable(reading, options.signal);
      result.catch(() => {}); /* judged below, once it is known whether the version was the newest */
      try {
        if (!used.unchecked) return await result;
        const newest = await this.open(url, { ...options, defer: false });
        if (newest.version === used.version) {
          newest.close();
          return await result;
        }
        control.abort(new TimelakeError('superseded', `version ${newest.version} is there`));
        table = newest;
      } catch (error) {
        control.abort(error);
        throw error;
      } finally {
        options.signal?.removeEventListener('abort', abort);
        const close = () => used.close();
        reading.then(close, close);
      }
    }
  }
  /** Decodes a head object. */
  decodeHead(bytes) {
    const plain = bytesOf(bytes), at = this.m.put(plain);
    return new Head(this.m, this.m.check(this.m.x.head_decode(at, plain.length)));
  }
  /** Looks at the compatibility header of a timeseries commit, before anything else of it is decoded. */
  inspectProtocol(commit) {
    const m = this.m, bytes = typeof commit === 'string' ? encoder.encode(commit) : bytesOf(commit);
    const fault = () => {
      const f = m.x.fault() >>> 0;
      return Object.assign(m.error(f), { fault: FAULT[m.u32(f + 24)], about: m.text(f + 60, m.u32(f + 56)) });
    };
    return m.with(bytes, (at, size) => {
      const p = m.x.protocol_new(at, size) >>> 0;
      if (p === 0) throw fault();
      const features = (at) => Array.from({ length: m.u32(at + 4) }, (_, i) => m.span(m.u32(at) + 8 * i));
      const out = { version: Number(m.u64(p)), readerFeatures: features(p + 8), writerFeatures: features(p + 16),
        mayWrite: m.x.protocol_may_write(p) === 0, missing: [] };
      const next = (from) => m.x.protocol_missing(p, from);
      for (let i = next(0); i < out.writerFeatures.length; i = next(i + 1)) out.missing.push(out.writerFeatures[i]);
      m.x.protocol_free(p);
      return out;
    });
  }
  /** The header that counts of the timeseries table at `url`: CURRENT, then its commits down to the last with metadata. */
  async protocol(url, { signal = new AbortController().signal } = {}) {
    const place = new Place(this, String(url).replace(/\/+$/, '')), requests = [];
    const get = async (name, purpose, use) => {
      const key = `${place.url}/_timeseries_log/${name}`;
      try {
        for (let tries = 0; ; tries++) {
          const request = { kind: 'GET', key, offset: 0n, length: WHOLE, accept: MOST, condition: 0, round: requests.length + 1, purpose };
          const { answer } = await apart(signal, (own) => note(place, request, own, requests));
          signal.throwIfAborted();
          if (answer.outcome === 'ok') return use(new Uint8Array(await new Blob(answer.chunks).arrayBuffer()));
          if (answer.outcome === 'not_found') throw new TimelakeError('absent', `no ${key}`, { httpStatus: answer.status });
          if (answer.retryMs < 0 || tries === 3) throw new TimelakeError('store', answer.text, { httpStatus: answer.status });
          await pause(answer.retryMs, signal);
        }
      } catch (error) {
        if (!(error instanceof TimelakeError)) throw error;
        if (/\(\d+\)$/.test(error.message)) await abortable(this.m.learn(), signal);
        throw Object.assign(error, { key, requests });
      }
    };
    const current = await get('CURRENT', 'metadata', (bytes) => {
      const text = utf8.decode(bytes).trim();
      if (!/^\d{1,15}$/.test(text)) throw new TimelakeError('corrupt', `CURRENT says "${text.slice(0, 40)}"`);
      return Number(text);
    });
    for (let n = current; n > 0; n--) {
      const header = await get(`${String(n).padStart(10, '0')}.json`, 'commit', (bytes) => this.inspectProtocol(bytes));
      if (header.version !== 0) return { table: current, commit: n, ...header, requests };
    }
    throw Object.assign(new TimelakeError('absent', 'the table has no metadata'), { requests });
  }
  /** Follows a numbered sequence. layout: { directory, suffix, boundary, digits, verify }; SlateDB's manifests by default.
      The first look at it lists: `options.list` of the lake. */
  probe(root, layout = {}) { return new Probe(this, String(root).replace(/\/*$/, '/'), layout); }
  /** Has the texts of all errors. Fetched with the first error else; one that is thrown at once gets its own a moment later. */
  explain() { return this.m.learn(); }
  /** Drops what is known of a table: the next open begins anew. */
  forget(url) {
    const place = this.place(url);
    place.loads++;
    place.forget();
    this.drop(place);
    place.leave();
  }
}

class Probe {
  constructor(lake, root, { directory = 'manifest', suffix = 'manifest', boundary = 'gc/manifest.boundary', digits = 20, verify = false }) {
    Object.assign(this, { lake, at: 0, place: new Place(lake, root), calls: 0, closed: false });
    if ([root, directory, suffix, boundary].some((t) => String(t).includes('\0'))) throw new TimelakeError('misuse', 'a layout with a zero in a text');
    const texts = encoder.encode([root, directory, suffix, boundary, ''].join('\0'));
    this.at = lake.m.check(lake.m.with(texts, (at, size) => lake.m.x.probe_new(at, size, digits, verify ? 1 : 0)));
  }
  /** The newest object: { id, body, requests }, or null when there is none. */
  async latest({ signal, checked = true } = {}) {
    if (this.closed) throw new TimelakeError('misuse', 'this probe is closed');
    const { lake } = this, { m } = lake, log = [];
    const call = m.check(m.x.probe_latest(this.at, checked ? 1 : 0));
    this.calls++;
    try {
      const turn = await drive(this.place, call, signal, log);
      if (turn === 'failed') throw await lake.failure(call, signal, log);
      if (turn === 'none') return null;
      return { id: unsigned(m.u64(call + 520)), body: m.spanBytes(call + 528) ?? new Uint8Array(0), requests: log };
    } finally {
      m.x.probe_end(call);
      this.calls--;
      this.leave();
    }
  }
  /** Frees it, once the calls that are out are done. */
  close() {
    this.closed = true;
    this.leave();
  }
  leave() {
    if (!this.closed || this.calls > 0 || this.at === 0) return;
    this.lake.m.x.probe_free(this.at);
    this.at = 0;
  }
}

/* A file of this package: bytes as they are, else what lies at the URL. */
async function bring(source, signal) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  const url = new URL(source, import.meta.url);
  if (url.protocol === 'file:' && globalThis.process?.versions?.node) return (await import('node:fs/promises')).readFile(url);
  const response = await fetch(url, { signal });
  if (!response.ok) throw new TimelakeError('absent', `${url}: HTTP ${response.status}`, { httpStatus: response.status });
  return response.arrayBuffer();
}

/** Loads the module (`wasm`: URL, bytes or WebAssembly.Module; timelake.wasm beside this file) and gives a lake. */
export async function timelake(options = {}) {
  const wasm = options.wasm ?? new URL('timelake.wasm', import.meta.url);
  const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(await bring(wasm));
  const texts = options.texts ?? new URL('timelake.texts.json', import.meta.url);
  return new Lake(new Module(await WebAssembly.instantiate(module, {}), texts), options);
}

/** One table, with a lake of its own: `open('https://bucket.example.com/wh/iot/trucks')`. */
export async function open(url, options = {}) {
  return (await timelake(options)).open(url, options);
}
