/* A private bucket of a real S3 server (s3s-fs, which checks signatures): presigned URLs, signed headers and listings, made by
   aws4fetch of npm. Skipped where the server, which `make interop` installs, is not there. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { timelake } from '../../adapters/wasm/timelake.mjs';
import { data, freePort, npm, said, texts, wasm } from './helper.mjs';

const cache = process.env.TIMELAKE_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'timelake');
const program = join(cache, 's3s-fs/bin/s3s-fs'), skip = (!existsSync(program) && 'no s3s-fs') || (!process.env.TIMELAKE_NPM && 'no npm packages');
if (skip) console.log(`skipped: no private bucket is read: ${skip}`);

let work, server, endpoint, aws;
const table = 's3://demo-lake/wh/iot/trucks', keys = { accessKeyId: 'AKIDEXAMPLE0000TEST', secretAccessKey: 'secretsecretsecretsecret' };
before(async () => {
  if (skip) return;
  work = mkdtempSync(join(tmpdir(), 'timelake-s3-'));
  cpSync(data('warehouse'), join(work, 'demo-lake'), { recursive: true });
  const port = await freePort();
  endpoint = `http://127.0.0.1:${port}/demo-lake/`;
  server = spawn(program, ['--host', '127.0.0.1', '--port', String(port), '--access-key', keys.accessKeyId, '--secret-key', keys.secretAccessKey, work],
    { stdio: 'ignore' });
  for (let i = 0; i < 100 && !(await fetch(endpoint).then(() => true, () => false)); i++) await new Promise((done) => setTimeout(done, 50));
  aws = new (npm('aws4fetch').AwsClient)({ ...keys, service: 's3', region: 'us-east-1', retries: 0 });
});
after(() => {
  server?.kill();
  if (work) rmSync(work, { recursive: true, force: true, maxRetries: 5 });
});
const lake = (options) => timelake({ wasm, texts, roots: { 's3://demo-lake/': endpoint }, retryMs: 1, ...options });

test('without a signature the bucket is closed, and the error says so', { skip }, async () => {
  await assert.rejects((await lake()).open(table), (e) => e.code === 'store' && e.httpStatus === 403 && /HTTP 403/.test(e.message));
});

test('presigned URLs', { skip }, async () => {
  const locate = async (key, { method, url }) => (await aws.sign(url, { method, aws: { signQuery: true } })).url;
  const got = await (await lake({ locate })).open(table);
  assert.equal(got.version, 7);
  assert.equal(said(got.requests), '1 GET head ok, 1 GET hint ok, 2 HEAD v8 not_found, 2 HEAD v7 ok');
  const file = got.files()[0], body = await (await fetch(await got.url(file.path))).arrayBuffer();
  assert.equal(body.byteLength, file.size);
  assert.equal((await (await lake({ locate })).open('s3://demo-lake/wh/iot/trucks_none')).source, 'chain');
});

test('signed headers, and the listing that makes it one round trip', { skip }, async () => {
  const sign = async (url, method) => {
    const { url: signed, headers } = await aws.sign(url, { method });
    return { url: signed, headers: Object.fromEntries([...headers].filter(([name]) => name !== 'host')) };
  };
  const list = async (prefix, { maxKeys, page }) => {
    const query = new URLSearchParams({ 'list-type': '2', prefix: prefix.slice('s3://demo-lake/'.length), 'max-keys': String(maxKeys) });
    if (page) query.set('continuation-token', page);
    const response = await aws.fetch(`${endpoint}?${query}`), text = await response.text();
    if (!response.ok) throw new Error(`listing: HTTP ${response.status} ${text.slice(0, 200)}`);
    const entries = [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map((m) => ({ key: `s3://demo-lake/${m[1]}` }));
    return { entries, next: /<NextContinuationToken>([^<]*)</.exec(text)?.[1] };
  };
  const got = await (await lake({ locate: (key, { method, url }) => sign(url, method), list })).open(table);
  assert.equal(said(got.requests), '1 GET head ok, 1 LIST v ok');
  assert.deepEqual([got.version, got.source, got.unchecked, got.roundTrips], [7, 'head', false, 1]);
});
