import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../any-text.ts';
import { cases } from '../../cases.ts';
import { sendRaw, serve } from './serving.ts';

const TOKEN = 'correct-horse-battery';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const json = { 'content-type': 'application/json' };

describe('the server refuses', () => {
  it.each(['evil.example', 'localhost.evil.example:80', '192.168.0.1', 'a@127.0.0.1', '[::]'])(
    'requests for the name %s',
    async (host) => {
      const { ask } = await serve();
      for (const path of ['/api/v1/status', '/metrics', '/healthz', '/nope']) {
        const { status, json } = await ask(path, { headers: { host } });
        expect([path, status, json.error.code]).toEqual([path, 403, 'forbidden-host']);
      }
    },
  );

  it('requests without a Host header', async () => {
    const { port } = await serve();
    expect(await sendRaw(port, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    expect(await sendRaw(port, 'GET /healthz HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('pages of another website, whatever they ask for', async () => {
    const { ask, asked } = await serve({ control: true });
    const origin = { origin: 'https://evil.example' };
    expect(await ask('/api/v1/stop', { method: 'POST', headers: origin })).toMatchObject({ status: 403 });
    expect((await ask('/api/v1/status', { headers: origin })).json.error.code).toBe('forbidden-origin');
    const preflight = { ...origin, 'access-control-request-method': 'POST' };
    const { status, headers } = await ask('/api/v1/stop', { method: 'OPTIONS', headers: preflight });
    expect(status).toBe(403);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('pictures and scripts of another website, which have no Origin header, but not a link to this one', async () => {
    const { ask } = await serve();
    for (const site of ['cross-site', 'same-site']) {
      const fetched = { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' };
      expect((await ask('/api/v1/status', { headers: fetched })).json.error.code).toBe('forbidden-origin');
    }
    const followed = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect((await ask('/api/v1/status', { headers: followed })).status).toBe(200);
  });

  it('requests without the token, except for health', async () => {
    const { ask } = await serve({ token: TOKEN });
    for (const path of ['/api/v1/status', '/metrics', '/api.json', '/api/v1/events', '/nope']) {
      for (const headers of [{}, bearer('wrong'), bearer(`${TOKEN}x`), { authorization: TOKEN }]) {
        const { status, headers: got, json } = await ask(path, { headers });
        expect([path, status, json.error.code]).toEqual([path, 401, 'unauthorized']);
        expect(got['www-authenticate']).toBe('Bearer');
      }
    }
    expect((await ask('/api/v1/status', { headers: bearer(TOKEN) })).status).toBe(200);
    expect((await ask('/nope', { headers: bearer(TOKEN) })).status).toBe(404);
    expect((await ask('/healthz')).status).toBe(200);
    expect((await ask('/readyz')).status).toBe(503);
  });

  it('changes, unless they are allowed', async () => {
    const { ask, asked } = await serve({ token: TOKEN });
    const written = ['/api/v1/st%6fp', '/api/v1/%70ause', '/api/v1/stop#a', '/%61pi/v1/resume?x=1'];
    for (const path of ['/api/v1/pause', '/api/v1/resume', '/api/v1/stop', ...written]) {
      const { status, json } = await ask(path, { method: 'POST', headers: bearer(TOKEN) });
      expect([status, json.error.code]).toEqual([403, 'read-only']);
      expect(json.error.message).toContain('--http-control');
    }
    expect(asked).toEqual([]);
  });
});

describe('requests that are not valid', () => {
  it.each([
    ['GET', '/nope', 404, 'not-found'],
    ['GET', '/', 404, 'not-found'],
    ['GET', '/../../etc/passwd', 404, 'not-found'],
    ['GET', '/api/v1/%2e%2e/status', 404, 'not-found'],
    ['GET', '/api/v1/status/', 404, 'not-found'],
    ['GET', '//api/v1/status', 404, 'not-found'],
    ['GET', '/API/v1/status', 404, 'not-found'],
    ['GET', '/%zz', 400, 'bad-request'],
    ['POST', '/api/v1/status', 405, 'method-not-allowed'],
    ['DELETE', '/metrics', 405, 'method-not-allowed'],
    ['PUT', '/1/summary', 405, 'method-not-allowed'],
    ['GET', '/api/v1/pause', 405, 'method-not-allowed'],
    ['PROPFIND', '/healthz', 405, 'method-not-allowed'],
    ['GET', '/api/v1/history?range=99h', 400, 'bad-request'],
    ['GET', '/api/v1/history?range=', 400, 'bad-request'],
    ['GET', '/api/v1/history?range=1h&range=24h', 400, 'bad-request'],
    ['GET', '/api/v1/history?rnage=1h', 400, 'bad-request'],
    ['GET', '/api/v1/history?range[]=1h', 400, 'bad-request'],
    ['GET', '/api/v1/history?__proto__=1h&constructor=x', 400, 'bad-request'],
    ['GET', '/api/v1/log?after=-1', 400, 'bad-request'],
    ['GET', '/api/v1/log?after=1e3', 400, 'bad-request'],
    ['GET', `/api/v1/log?after=${'9'.repeat(400)}`, 400, 'bad-request'],
  ])('%s %s is answered with %i %s', async (method, path, status, code) => {
    const { ask, logged } = await serve();
    const answer = await ask(path, { method });
    expect([answer.status, answer.json]).toEqual([status, { error: { code, message: expect.any(String) } }]);
    expect(answer.text).not.toMatch(/node_modules|dist\/|\.js:\d/);
    if (status === 405) expect(answer.headers.allow).toMatch(/^(GET|POST)$/);
    expect(logged).toEqual([]);
  });

  it.each([
    ['not JSON', json, '{"device":', 400, 'bad-request'],
    ['of another type', { 'content-type': 'text/plain' }, '{}', 415, 'not-json'],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'device=gpu0', 415, 'not-json'],
    ['without a type', {}, '{}', 415, 'not-json'],
    ['an object with a value of another type', json, '{"device":1}', 400, 'bad-request'],
    ['an object with an unknown key', json, '{"devcie":"gpu0"}', 400, 'bad-request'],
    ['a list', json, '[]', 400, 'bad-request'],
    ['null', json, 'null', 400, 'bad-request'],
    ['an object with a long name', json, JSON.stringify({ device: 'x'.repeat(100) }), 400, 'bad-request'],
    ['a prototype', json, '{"__proto__":{"device":"gpu0"}}', 400, 'bad-request'],
    ['too long', json, JSON.stringify({ device: 'x'.repeat(5_000) }), 413, 'body-too-large'],
    ['the name of a missing device', json, '{"device":"gpu9"}', 404, 'no-such-device'],
  ])('are refused if the body is %s', async (_, headers, body, status, code) => {
    const { ask } = await serve({ control: true });
    const answer = await ask('/api/v1/pause', { method: 'POST', headers, body });
    expect([answer.status, answer.json.error.code]).toEqual([status, code]);
  });

  it('are refused at once if the announced body is huge', async () => {
    const { port } = await serve({ control: true });
    const head = 'POST /api/v1/pause HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n';
    expect(await sendRaw(port, `${head}content-length: 99999999999\r\n\r\n{`)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('are refused if the headers are too large, such as those with a huge token', async () => {
    const { port } = await serve({ token: TOKEN });
    const huge = `GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${'x'.repeat(100_000)}\r\n\r\n`;
    const answer = await sendRaw(port, huge, false);
    // Data that the server has not read may make the system discard the answer.
    if (answer !== '') expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('do not stop the server, whatever they contain', async () => {
    const { port, ask, logged } = await serve();
    const lines = fc.array(anyText(), { maxLength: 4 }).map((all) => all.join('\r\n'));
    const bytes = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      lines.map((text) => `GET ${text}\r\n\r\n`),
      fc
        .stringMatching(/^\/[\w.~%/-]{0,40}$/)
        .map((path) => `GET ${path}?${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`),
      fc.string({ maxLength: 60 }).map((host) => `GET /metrics HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (sent) => {
        const answer = await sendRaw(port, sent);
        expect(answer).not.toMatch(/^HTTP\/1\.1 5/);
      }),
      { numRuns: cases(150) },
    );
    expect((await ask('/healthz')).status).toBe(200);
    expect(logged).toEqual([]);
  });
});

it('HEAD is answered like GET, without the body, except for a stream', async () => {
  const { ask } = await serve({ token: TOKEN });
  expect(await ask('/healthz', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  expect((await ask('/metrics', { method: 'HEAD' })).status).toBe(401);
  expect((await ask('/metrics', { method: 'HEAD', headers: bearer(TOKEN) })).status).toBe(200);
  expect((await ask('/api/v1/events', { method: 'HEAD', headers: bearer(TOKEN) })).status).toBe(405);
});

it('every answer says what browsers may do with it', async () => {
  const { ask } = await serve();
  for (const path of ['/api/v1/status', '/nope', '/metrics', '/%zz']) {
    const { headers } = await ask(path);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
  }
});

it('the error says where the server cannot listen', async () => {
  const { port } = await serve();
  await expect(serve({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
