/* What the tests share: the lake that Timelake wrote behind a real HTTP server that counts, delays and breaks. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { createServer as createListener } from 'node:net';
import { join } from 'node:path';
import { timelake } from '../../adapters/wasm/timelake.mjs';

export const root = new URL('../../', import.meta.url).pathname;
export const data = (...names) => join(root, 'tests/data', ...names);
export const read = (...names) => readFileSync(data(...names));
export const wasm = await WebAssembly.compile(readFileSync(join(root, 'build/wasm', process.env.TIMELAKE_MODULE ?? 'timelake.wasm')));
/* The texts of errors, beside the module. */
export const texts = new URL('../../build/wasm/timelake.texts.json', import.meta.url);
export const tables = ['iot/trucks', 'iot/trucks_json', 'iot/trucks_none', 'iot/hourly', 'iot/monthly', 'iot/created', 'iot/types',
  'iot/budget_0', 'iot/budget_3000', 'iot/budget_9000', 'iot/many', 'iot/compacted', 'iot/stale', 'iot/unknown_codec', 'iot/props',
  'dim/devices'];

/* A package of npm, from the cache that tools/wasm-test filled. */
export const npm = createRequire(join(process.env.TIMELAKE_NPM ?? root, 'package.json'));

export const tlake = (...args) => execFileSync(join(root, 'build/tlake'), args, { maxBuffer: 1 << 28 }).toString();

/* Serves tests/data/warehouse. `over` maps a path to what is there instead: bytes, null (nothing), or a function of (request,
   response); `log` has one line per request: "GET head 200". */
export async function serve() {
  const world = { log: [], over: new Map() };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://x').pathname);
    response.on('close', () => world.log.push(`${request.method} ${short(path)} ${response.headersSent ? response.statusCode : 'cut'}`));
    const special = world.over.get(path);
    if (typeof special === 'function') return special(request, response);
    const file = data('warehouse', path.slice(1));
    const body = special !== undefined ? special : existsSync(file) ? readFileSync(file) : null;
    if (body === null) return response.writeHead(404).end('none');
    response.writeHead(200, { 'content-length': body.length });
    return response.end(request.method === 'HEAD' ? undefined : body);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  world.url = `http://127.0.0.1:${server.address().port}/`;
  world.close = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  world.lake = (options = {}) => timelake({ wasm, texts, roots: { 's3://demo-lake/': world.url }, retryMs: 1, ...options });
  return world;
}

function short(path) {
  const name = path.split('/').pop();
  return name === 'timelake-head' ? 'head' : name === 'version-hint.text' ? 'hint' : name.startsWith('snap-') ? 'list-file'
    : name.endsWith('-m.avro') ? 'manifest' : name.split('.')[0];
}

export const freePort = () => new Promise((done) => {
  const s = createListener().listen(0, '127.0.0.1', () => {
    const { port } = s.address();
    s.close(() => done(port));
  });
});

/* The requests of an operation in words, as tests/load.c has them: "1 GET head ok, 1 GET hint ok". */
export function said(requests) {
  const lines = requests.map((r) => `${r.round} ${r.method} ${short(r.key)} ${r.outcome}`), out = [];
  for (const line of lines) {
    const last = out.at(-1);
    if (last?.[0] === line) last[1]++;
    else out.push([line, 1]);
  }
  return out.map(([line, n]) => (n > 1 ? `${line} x${n}` : line)).join(', ');
}

/* JSON whose numbers keep their digits: { number: "..." }. */
export function parseExact(text) {
  return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (t) => (t[0] === '"' ? t : `{"number":"${t}"}`)));
}
