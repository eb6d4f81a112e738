/* What bench/wasm/run measures, in a page: medians of milliseconds. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const top = new URL('../../', import.meta.url).pathname, npm = createRequire(join(process.env.TIMELAKE_NPM, 'package.json'));
const types = { mjs: 'text/javascript', js: 'text/javascript', wasm: 'application/wasm', html: 'text/html' };
const served = {
  '/': '<!doctype html><link rel=icon href="data:,"><script src=arrow.js></script>',
  '/arrow.js': readFileSync(join(process.env.TIMELAKE_NPM, 'node_modules/apache-arrow/Arrow.es2015.min.js')),
  '/head': readFileSync(process.argv[2]),
};
for (const file of ['timelake.mjs', 'timelake.wasm', 'timelake-small.wasm']) served[`/${file}`] = readFileSync(join(top, 'build/wasm', file));
const server = createServer((request, response) => {
  const type = types[request.url === '/' ? 'html' : request.url.split('.').pop()] ?? 'application/octet-stream';
  response.writeHead(served[request.url] ? 200 : 404, { 'content-type': type }).end(served[request.url]);
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const browser = await npm('puppeteer-core').launch({ executablePath: execFileSync('sh', ['-c', 'command -v chromium']).toString().trim(),
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
const page = await browser.newPage();
await page.goto(`http://127.0.0.1:${server.address().port}/`);

const measured = await page.evaluate(async () => {
  const { timelake } = await import('/timelake.mjs');
  const lake = await timelake(), small = await timelake({ wasm: '/timelake-small.wasm' }), bytes = new Uint8Array(await (await fetch('/head')).arrayBuffer()), { Arrow } = globalThis;
  const head = lake.decodeHead(bytes), rows = head.section('files').rows;
  const streams = head.sections.map((s) => s.toIPC());
  head.close();
  const using = (work) => [lake, small].map((by) => () => {
    const h = by.decodeHead(bytes);
    work(h);
    h.close();
  });
  const work = {
    'open: sections, columns, schemas': [...using((h) => h.sections), () => streams.forEach((s) => Arrow.tableFromIPC(s))],
    'the list of files: every value': [...using((h) => h.section('files').toRows()), () => {
      const files = streams.map((s) => Arrow.tableFromIPC(s)).find((t) => t.schema.metadata.get('timelake.section') === 'files' || t.getChild('records'));
      files.toArray().forEach((r) => r.toJSON());
    }],
    'everything: every value': [...using((h) => h.sections.forEach((s) => s.toRows())),
      () => streams.forEach((s) => Arrow.tableFromIPC(s).toArray().forEach((r) => r.toJSON()))],
    'everything: buffers decompressed and checked (apache-arrow: neither)': [...using((h) => h.sections.forEach((s) => s.columns())),
      () => streams.forEach((s) => Arrow.tableFromIPC(s))],
  };
  /* The clock of a page is coarse: many at a time, all in turn. */
  const once = (f, times) => {
    const from = performance.now();
    for (let i = 0; i < times; i++) f();
    return (performance.now() - from) / times;
  };
  const median = (list) => list.sort((a, b) => a - b)[list.length >> 1], out = [];
  for (const [what, ways] of Object.entries(work)) {
    const times = ways.map((f) => Math.ceil(20 / Math.max(0.02, once(f, 5)))), taken = ways.map(() => []);
    for (let round = 0; round < 9; round++) ways.forEach((f, i) => taken[i].push(once(f, times[i])));
    out.push([what, ...taken.map(median)]);
  }
  return { rows, head: bytes.length, streams: streams.reduce((n, s) => n + s.length, 0), out };
});
await browser.close();
server.close();
console.log(`a head of ${measured.rows} files: ${measured.head} bytes; its sections as Arrow streams, not compressed: ${measured.streams}`);
console.log('timelake.wasm  timelake-small  apache-arrow  ms, in Chromium');
const line = (what, whole, small, theirs) => `${whole.toFixed(3).padStart(13)}  ${small.toFixed(3).padStart(14)}  ${theirs.toFixed(3).padStart(12)}  ${what}`;
for (const row of measured.out) console.log(line(...row));
const [, whole, small, theirs] = measured.out[0], passed = +(whole < theirs) + +(small < theirs);
console.log(`${passed} passed, ${2 - passed} failed`);
process.exit(+(passed < 2));
