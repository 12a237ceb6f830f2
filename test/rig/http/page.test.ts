import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Rig } from '../page/rig.ts';
import { modulesOf } from './page-modules.ts';

it.each([
  ['/', 'text/html; charset=utf-8', 'dist/rig/page/index.html'],
  ['/rig/page/style/style.css', 'text/css; charset=utf-8', 'dist/rig/page/style/style.css'],
  ['/rig/page/main.js', 'text/javascript; charset=utf-8', 'dist/rig/page/main.js'],
  ['/rig/page/style/icon.svg', 'image/svg+xml', 'dist/rig/page/style/icon.svg'],
  ['/rig/status/units.js', 'text/javascript; charset=utf-8', 'dist/rig/status/units.js'],
  ['/rig/page/uplot.js', 'text/javascript; charset=utf-8', 'node_modules/uplot/dist/uPlot.esm.js'],
  ['/rig/page/uplot.css', 'text/css; charset=utf-8', 'node_modules/uplot/dist/uPlot.min.css'],
])('the server sends %s to everybody, and not again while it stays the same', async (path, type, file) => {
  const rig = await new Rig().serve({ token: 'a token of some length' });
  const { status, headers, text } = await rig.ask(path);
  expect(status).toBe(200);
  expect(text).toBe(readFileSync(file, 'utf8'));
  expect(headers).toMatchObject({
    'content-type': type,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  });
  const again = await rig.ask(path, { headers: { 'if-none-match': headers.etag! } });
  expect(again).toMatchObject({ status: 304, text: '' });
  const other = await rig.ask(path, { headers: { 'if-none-match': '"another"' } });
  expect(other.status).toBe(200);
  expect((await rig.ask('/api/v1/status')).status).toBe(401);
});

it('the server sends every module that the page imports', async () => {
  const rig = await new Rig().serve();
  const modules = await modulesOf((path) => rig.ask(path), ['/rig/page/main.js']);
  expect(modules.size).toBeGreaterThanOrEqual(12);
});

it('the page loads nothing from elsewhere, and runs no inline scripts', async () => {
  const rig = await new Rig().serve();
  const { headers, text } = await rig.ask('/');
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toContain('unsafe');
  expect(text).not.toMatch(/https?:|<style|style=|\son\w+=|<script(?![^>]* src=)/);
});

it.each([
  '/index.html',
  '/rig/page/',
  '/rig/page/index.html',
  '/rig/page/main.d.ts',
  '/rig/page/main.js.map',
  '/rig/page/../cli/main.js',
  '/rig/page/..%2fcli%2fmain.js',
  '/rig/page/%2e%2e/cli/main.js',
  '/rig/page//main.js',
  '/cli/main.js',
  '/rig/status/tally.js',
  '/package.json',
  '/rig/page/main.js%00.css',
  '/rig/page/toString',
])('the server does not send %s', async (path) => {
  const rig = await new Rig().serve();
  expect([400, 404]).toContain((await rig.ask(path)).status);
});
