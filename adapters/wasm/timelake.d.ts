/* Types of timelake.mjs. docs/javascript.md is the manual. */
/// <reference lib="dom" />
/// <reference lib="esnext.disposable" />

/** In a page with <script src="timelake.js">. */
export as namespace Timelake;

/** A word for what went wrong. */
export type Code = 'misuse' | 'no memory' | 'limit' | 'corrupt' | 'truncated' | 'checksum' | 'not a head' | 'unsupported'
  | 'no codec' | 'layout' | 'absent' | 'store' | 'cancelled' | 'gave up' | 'elsewhere' | 'superseded' | (string & {});

export class TimelakeError extends Error {
  readonly code: Code;
  /** The byte of the object `key` where it goes wrong. */
  readonly position: number | null;
  readonly key: string | null;
  readonly httpStatus: number | null;
  /** Of operations: what was sent until then. */
  readonly requests?: Request[];
  /** Of inspectProtocol: the broken rule by the reference's name, and the features or columns that it is about. */
  readonly fault?: string | null;
  readonly about?: string | null;
}

/** number, bigint (64 bits), boolean, string, Uint8Array, decimals as string, nested values as arrays and objects, maps as
    arrays of [key, value], null. */
export type Value = number | bigint | boolean | string | Uint8Array | null | Value[] | { [name: string]: Value };
export type Row = { [column: string]: Value };
export type TypedArray = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array
  | BigInt64Array | BigUint64Array;

export interface Request {
  round: number;
  method: 'GET' | 'HEAD' | 'LIST';
  purpose: string;
  key: string;
  url: string | null;
  /** null while it is out. */
  outcome: 'ok' | 'not_found' | 'not_modified' | 'unsupported' | 'failed' | 'cancelled' | null;
  status: number | null;
  reason: string | null;
  bytes: number;
  /** performance.now() */
  start: number;
  end: number | null;
}

export interface Field {
  name: string;
  /** As pyarrow spells it: "int64", "timestamp[us, tz=UTC]", "list<item: int32>". */
  type: string;
  nullable: boolean;
  metadata: { [key: string]: string };
}

/** Typed arrays here are views of the module's memory, without a copy: they hold until the next call into the library. */
export interface Chunk {
  readonly length: number;
  readonly nullCount: number;
  /** Where bit 0 of `validity` is counted from. */
  readonly offset: number;
  readonly values: TypedArray | undefined;
  readonly offsets: Int32Array | BigInt64Array | undefined;
  readonly data: Uint8Array | undefined;
  readonly validity: Uint8Array | undefined;
  readonly children: Chunk[];
  readonly dictionary: Chunk | null;
  isNull(i: number): boolean;
  get(i: number): Value;
}

export interface Column extends Field {
  readonly length: number;
  readonly chunks: Chunk[];
  readonly values: TypedArray | undefined;
  get(i: number): Value;
  toArray(): Value[];
}

export interface Section {
  readonly name: string;
  readonly rows: number;
  readonly fields: Field[];
  readonly metadata: { [key: string]: string };
  columns(): Column[];
  column(name: string): Column | null;
  toRows(): Row[];
  /** A complete Arrow IPC stream, not compressed. Not of timelake-small.wasm. */
  toIPC(): Uint8Array;
}

interface Document extends Disposable {
  readonly version: number | bigint;
  readonly sections: Section[];
  readonly properties: { [key: string]: string };
  section(name: string): Section | null;
  close(): void;
}

export interface Head extends Document {
  readonly codec: string;
}

export interface DataFile {
  path: string;
  size: number | bigint;
  records: number | bigint;
  /** Hours, days or months since 1970, by the table's transform. */
  partition: number | null;
  snapshotId: bigint;
  sequenceNumber: bigint;
  fileSequenceNumber: bigint;
  sortOrderId: number | null;
  /** The end of the Parquet file, where the head has it: `null` of a table that was read from its chain. */
  footer: Uint8Array | null;
}

export type Literal = number | bigint | boolean | string | Date;
export type Condition = [column: string, compare: '=' | '<' | '<=' | '>' | '>=', value: Literal]
  | [column: string, compare: 'in', values: Iterable<Literal>] | [column: string, compare: 'is null' | 'is not null'];

export interface Table extends Document {
  readonly source: 'head' | 'chain';
  readonly location: string;
  /** A newer version may be there: opened with `defer`. */
  readonly unchecked: boolean;
  /** Why the head did not serve; null when it did. */
  readonly whyNoHead: string | null;
  readonly requests: Request[];
  readonly roundTrips: number;
  readonly checkIntervalMs: number;
  readonly metadataText: string;
  readonly metadata: any;
  files(): DataFile[];
  /** Not of timelake-small.wasm. Integers beyond 2^53 are given as bigint. */
  plan(conditions?: Condition[]): { files: DataFile[]; skipped: number };
  latest(): Row[] | null;
  url(key: string): Located | Promise<Located>;
  check(options?: OpenOptions): Promise<Table>;
}

export type Located = string | URL | { url: string | URL; headers?: Record<string, string> };

export interface LakeOptions {
  /** URL, bytes or module; timelake.wasm beside timelake.mjs. timelake-small.wasm has no json codec, no LZ4, no plan(), no toIPC(). */
  wasm?: string | URL | BufferSource | WebAssembly.Module;
  /** The texts of errors, which the first error fetches: URL or bytes; timelake.texts.json beside timelake.mjs. */
  texts?: string | URL | BufferSource;
  /** Sends the requests of tables; the module and the texts come by the global one. */
  fetch?: typeof fetch;
  /** Where keys lie: { 's3://bucket/': 'https://bucket.example.com/' }. The longest that fits counts. */
  roots?: Record<string, string>;
  /** The URL of each request, signed or with headers; `url` is what `roots` make of the key. */
  locate?: (key: string, about: { method: 'GET' | 'HEAD'; url: string }) => Located | Promise<Located>;
  /** The keys that begin with `prefix`, in byte order. */
  list?: (prefix: string, about: { maxKeys: number; page: string | null; signal: AbortSignal }) =>
    Promise<{ entries: { key: string; size?: number }[]; next?: string | null }>;
  /** Sent to the servers of `roots` and of a table's own URL, and no others that metadata may name. */
  headers?: Record<string, string>;
  /** A version confirmed so long ago is taken without a request; not given: the table's own interval; 0: always checked. */
  cacheMs?: number;
  /** Pause before a failed request is sent again: 100. */
  retryMs?: number;
  /** Bytes of table versions that are kept: 256 MiB; of each table that is opened by HTTPS and calls itself otherwise, as much again. */
  memory?: number;
  onrequest?: (request: Request) => void;
  now?: () => number;
}

export interface OpenOptions {
  signal?: AbortSignal;
  cacheMs?: number;
  version?: number | bigint;
  /** Usable before it is checked. */
  defer?: boolean;
  /** false: no head is asked for; a version that the lake has already is given as it was read. */
  head?: boolean;
  /** false: no manifests are read. */
  files?: boolean;
}

export interface ProtocolHeader {
  version: number;
  readerFeatures: string[];
  writerFeatures: string[];
  mayWrite: boolean;
  missing: string[];
}

export interface Probe {
  latest(options?: { signal?: AbortSignal; checked?: boolean }): Promise<{ id: number | bigint; body: Uint8Array; requests: Request[] } | null>;
  /** Frees it, once the calls that are out are done. */
  close(): void;
}

export interface Lake {
  open(url: string | URL, options?: OpenOptions): Promise<Table>;
  query<T>(url: string | URL, read: (table: Table, signal: AbortSignal) => T | Promise<T>, options?: OpenOptions): Promise<T>;
  /** Has the texts of all errors: those that were thrown at once (decodeHead, toRows, ...) have them from then on. */
  explain(): Promise<void>;
  /** Drops what is known of a table: the next open begins anew. */
  forget(url: string | URL): void;
  decodeHead(bytes: ArrayBuffer | ArrayBufferView): Head;
  inspectProtocol(commit: ArrayBuffer | ArrayBufferView | string): ProtocolHeader;
  protocol(url: string | URL, options?: { signal?: AbortSignal }): Promise<ProtocolHeader & { table: number; commit: number; requests: Request[] }>;
  probe(root: string | URL, layout?: { directory?: string; suffix?: string; boundary?: string; digits?: number; verify?: boolean }): Probe;
}

export function timelake(options?: LakeOptions): Promise<Lake>;
export function open(url: string | URL, options?: LakeOptions & OpenOptions): Promise<Table>;
