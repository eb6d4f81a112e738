/* examples/web in Debian's Chromium, driven by puppeteer-core, over two nginx: one has the page, the other a bucket with CORS.
   Skipped where one of these is not there. TIMELAKE_SHOTS: a folder for screenshots. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { after, before, test } from 'node:test';
import { freePort, npm, root } from './helper.mjs';

const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
const missing = ['chromium', 'nginx'].filter((c) => !has(c)).concat(process.env.TIMELAKE_NPM ? [] : ['npm packages']);
const skip = missing.length > 0 && `no ${missing.join(', ')}`;
if (skip) console.log(`skipped: the page is not looked at: ${skip}`);

let work, server, browser, page, pageUrl, bucket;
const problems = [], table = 's3://demo-lake/wh/iot/trucks';
const tlake = (...args) => execFileSync(join(root, 'build/tlake'), [...args, '-o', `timelake_local_root=${work}/lake`]).toString();
const metadata = () => join(work, 'lake/wh/iot/trucks/metadata');

function writable(path) {
  chmodSync(path, 0o755);
  if (statSync(path).isDirectory()) for (const n of readdirSync(path)) writable(join(path, n));
}

before(async () => {
  if (skip) return;
  work = mkdtempSync(join(tmpdir(), 'timelake-page-'));
  chmodSync(work, 0o755);
  cpSync(join(root, 'tests/data/warehouse'), join(work, 'lake'), { recursive: true });
  writable(join(work, 'lake'));
  cpSync(join(root, 'build/wasm'), join(work, 'page'), { recursive: true });
  const [a, b, c] = [await freePort(), await freePort(), await freePort()];
  [pageUrl, bucket] = [`http://127.0.0.1:${a}/`, `http://127.0.0.1:${b}/`];
  const serving = (port, folder, more) => `server { listen 127.0.0.1:${port}; root ${work}/${folder}; index index.html; ${more} }`;
  const cors = 'add_header Access-Control-Allow-Origin * always; add_header Access-Control-Expose-Headers ETag always; location /denied/ { return 403; }';
  writeFileSync(join(work, 'nginx.conf'), `pid ${work}/pid; error_log ${work}/error.log; daemon off; worker_processes 1; events {}
http { access_log off; client_body_temp_path ${work}/t1; proxy_temp_path ${work}/t2; fastcgi_temp_path ${work}/t3; uwsgi_temp_path ${work}/t4;
scgi_temp_path ${work}/t5; types { text/html html; text/javascript mjs js; application/wasm wasm; } default_type application/octet-stream;
${serving(a, 'page', '')} ${serving(b, 'lake', cors)} ${serving(c, 'lake', '')} }`);
  server = spawn('nginx', ['-p', work, '-c', join(work, 'nginx.conf')], { stdio: 'ignore' });
  for (let i = 0; i < 100 && !(await fetch(pageUrl).then((r) => r.ok, () => false)); i++) await new Promise((done) => setTimeout(done, 50));
  browser = await npm('puppeteer-core').launch({ executablePath: execFileSync('sh', ['-c', 'command -v chromium']).toString().trim(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'], userDataDir: join(work, 'profile') });
  page = await browser.newPage();
  await page.setViewport({ width: 1100, height: 1000 });
  page.on('pageerror', (e) => problems.push(`page: ${e}`));
  page.on('console', (m) => { if (m.type() === 'error' || m.type() === 'warn') problems.push(`console: ${m.text()} ${m.location().url}`); });
  page.noCors = `http://127.0.0.1:${c}/`;
});
after(async () => {
  await browser?.close();
  server?.kill();
  if (work) rmSync(work, { recursive: true, force: true, maxRetries: 5 });
});

const shot = async (name) => {
  if (!process.env.TIMELAKE_SHOTS) return;
  mkdirSync(process.env.TIMELAKE_SHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.TIMELAKE_SHOTS, `${name}.png`), fullPage: true });
};
const text = (selector) => page.$eval(selector, (e) => e.innerText);
const shown = () => page.waitForFunction(() => !document.getElementById('result').hidden, { timeout: 10000 }); /* a click hides it at once */
const failed = () => page.waitForFunction(() => document.getElementById('error').textContent !== '', { timeout: 10000 });
/* A missing object is an answer here (vN+1, a head), but Chromium logs each 404: those of the bucket are no errors of the page. */
const unexpected = () => problems.filter((p) => !(p.includes('status of 404') && p.includes(bucket)));

async function accessible(where) {
  await page.evaluate(readFileSync(npm.resolve('axe-core/axe.min.js'), 'utf8'));
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const serious = violations.filter((v) => ['serious', 'critical'].includes(v.impact));
  assert.deepEqual(serious.map((v) => `${where}: ${v.id}: ${v.nodes.map((n) => n.target).join(' ')}`), []);
}

test('a table: version, source, requests, partitions, newest rows', { skip }, async () => {
  await page.goto(pageUrl);
  await page.focus('#url');
  await page.keyboard.type(`${bucket}wh/iot/trucks`);
  await page.keyboard.press('Enter'); /* by keyboard alone */
  await shown();
  assert.match(await text('#facts'), /7[\s\S]*the head: one object[\s\S]*6[\s\S]*s3:\/\/demo-lake/);
  assert.match(await text('#requests'), /timelake-head[\s\S]*version-hint\.text/);
  assert.equal(await page.$$eval('#partitions tbody tr', (r) => r.length), 3);
  const want = JSON.parse(tlake('latest', table, '--json').replace(/("\w+": ?)(-?\d{16,})/g, '$1"$2"'));
  assert.equal(await page.$$eval('#latest tbody tr', (r) => r.length), (want.rows ?? want.latest ?? Object.values(want).find(Array.isArray)).length);
  await accessible('light');
  await shot('table-light');
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
  await accessible('dark');
  await shot('table-dark');
  await page.setViewport({ width: 400, height: 800 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'scrolls sideways when narrow');
  await shot('table-narrow');
  await page.setViewport({ width: 1100, height: 1000 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  assert.deepEqual(unexpected(), []);
});

test('it follows a commit that tlake makes', { skip }, async () => {
  const set = JSON.parse(tlake('set', table, 'note=seen', '--json'));
  assert.equal(set.version, 8);
  await page.waitForFunction(() => document.getElementById('status').textContent.startsWith('Version 8 came'), { timeout: 10000 });
  assert.match(await text('#facts'), /^Version\s+8/);
  await shot('followed');
  assert.deepEqual(unexpected(), []);
});

test('it survives a stale head, and says so', { skip }, async () => {
  cpSync(join(root, 'tests/data/warehouse/wh/iot/trucks/metadata/timelake-head'), join(metadata(), 'timelake-head'));
  await page.click('button[type=submit]');
  await shown();
  assert.match(await text('#facts'), /^Version\s+8[\s\S]*the metadata chain/);
  writeFileSync(join(metadata(), 'timelake-head'), 'TLHDnonsense');
  await page.click('button[type=submit]');
  await shown();
  assert.match(await text('#why'), /The head was not used: ./);
  assert.match(await text('#facts'), /^Version\s+8/);
  await shot('corrupt-head');
  assert.deepEqual(unexpected(), []);
});

test('a page with a plain script tag, and no module', { skip }, async () => {
  writeFileSync(join(work, 'page/plain.html'), `<!DOCTYPE html><html lang="en"><title>plain</title><link rel="icon" href="data:,">
<script src="timelake.js"></script><script>
const said = async () => {
  const lake = await Timelake.timelake(), table = await lake.open('${bucket}wh/iot/trucks');
  const error = await Timelake.open('${bucket}wh/iot/types', { version: 99 }).catch((e) => e);
  try { lake.decodeHead(new Uint8Array(9)); } catch (e) { await lake.explain(); var none = e.message; }
  return [table.version, table.files().length, error instanceof Timelake.TimelakeError && error.code, none].join(', ');
};
said().then((text) => { document.body.textContent = text; }, (e) => { document.body.textContent = 'failed: ' + e; });
</script><body></body></html>`);
  await page.goto(`${pageUrl}plain.html`);
  await page.waitForFunction(() => document.body.textContent !== '', { timeout: 10000 });
  assert.match(await text('body'), /^8, 6, absent, .*head/);
  assert.deepEqual(unexpected(), []);
});

test('a bucket that compresses: its lengths are not those of the bodies, and CORS hides why', { skip }, async () => {
  const server_ = createServer((request, response) => {
    const file = join(work, 'lake', new URL(request.url, bucket).pathname), there = statSync(file, { throwIfNoEntry: false })?.isFile();
    const body = there && request.method === 'GET' ? gzipSync(readFileSync(file)) : Buffer.alloc(0);
    response.writeHead(there ? 200 : 404, { 'access-control-allow-origin': '*', 'content-length': body.length, ...(body.length && { 'content-encoding': 'gzip' }) });
    response.end(body);
  });
  await new Promise((done) => server_.listen(0, '127.0.0.1', done));
  await page.goto(`${pageUrl}?table=${encodeURIComponent(`http://127.0.0.1:${server_.address().port}/wh/iot/hourly`)}`);
  await shown();
  assert.match(await text('#facts'), /the head: one object/);
  await page.goto('about:blank');
  server_.closeAllConnections();
  server_.close();
});

test('errors say what to do: 404, 403, CORS', { skip }, async () => {
  for (const [name, url, want] of [['404', `${bucket}wh/iot/nothing`, /absent[\s\S]*Is this the folder/], ['403', `${bucket}denied/table`, /403[\s\S]*does not let this page read/],
    ['cors', `${page.noCors}wh/iot/trucks`, /CORS/]]) {
    await page.goto(`${pageUrl}?table=${encodeURIComponent(url)}`);
    await failed();
    assert.match(await text('#error'), want);
    assert.match(await text('#requests'), /timelake-head/); /* and what was sent is there to see */
    await accessible(name);
    await shot(`error-${name}`);
  }
  /* Of these Chromium itself logs the refused requests; the page throws nothing. */
  assert.deepEqual(problems.filter((p) => p.startsWith('page:')), []);
});
