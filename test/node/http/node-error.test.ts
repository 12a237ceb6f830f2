import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { NodeApi } from '#pickaxe/node/client/node-api.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import { apiOf, apiWith, CHAINWEB, errorOf, QUICK, serve } from '../client/server.ts';

const hash = 'A'.repeat(43);

it.each([
  ['unreachable', false],
  ['no such side', false],
  ['broken', true],
  ['timed out', true],
  ['not a node', true],
  ['bad request', true],
  ['unauthorized', true],
  ['not found', true],
  ['not acceptable', true],
  ['too many requests', true],
  ['failed', true],
  ['refused', true],
  ['not understood', true],
  ['other network', true],
] as const)('an error that says only "%s" tells whether the node may have done it: %s', (kind, mayHaveBeenTaken) => {
  expect(new NodeError(kind, 'why')).toMatchObject({
    kind,
    mayHaveBeenTaken,
    retryable: false,
    isBusy: false,
    text: '',
  });
  for (const known of [true, false]) {
    expect(new NodeError(kind, 'why', { mayHaveBeenTaken: known }).mayHaveBeenTaken).toBe(known);
  }
});

describe('a status', () => {
  it.each([
    [400, 'bad request', false],
    [401, 'unauthorized', false],
    [403, 'refused', false],
    [404, 'not found', false],
    [406, 'not acceptable', false],
    [408, 'timed out', true],
    [423, 'refused', true],
    [425, 'refused', true],
    [429, 'too many requests', true],
    [500, 'failed', true],
    [502, 'failed', true],
    [503, 'failed', true],
    [302, 'refused', false],
  ] as const)('of %i means %s, and only what may pass is tried again', async (status, kind, retryable) => {
    const { api, seen } = await apiWith(() => ({ status, body: 'so it is' }));
    const error = await errorOf(api.cut());
    expect(error).toMatchObject({ kind, status, retryable, text: 'so it is' });
    expect(error.message).toMatch(new RegExp(`^http://.*/cut .*\\(${status}: "so it is"\\)\\.$`));
    expect(seen).toHaveLength(retryable ? 3 : 1);
  });

  it.each([408, 423, 425, 429, 500, 503, 504])('of %i may pass', async (status) => {
    const { api, seen } = await apiWith((_, before) => (before < 2 ? { status } : { body: 'well' }));
    expect(await api.health()).toBe('well');
    expect(seen).toHaveLength(3);
  });

  it.each([
    ['"upper branch bound limit exceeded"', 'upper branch bound limit exceeded'],
    ['plain', 'plain'],
    ['"half', '"half'],
    ['', ''],
  ])('of 400 has its text in a JSON string or bare: %s', async (body, text) => {
    const { api } = await apiWith(() => ({ status: 400, body }));
    expect((await errorOf(api.cut())).text).toBe(text);
  });

  it('of 404 says which key was not found, and why', async () => {
    const { api } = await apiWith(() => ({ status: 404, body: { key: hash, reason: 'key not found' } }));
    expect(await errorOf(api.cut())).toMatchObject({ kind: 'not found', key: hash, reason: 'key not found' });
  });

  it.each(['', 'nothing', '[]', 'null', '{"key":3}', '{"key":'])('of 404 may say nothing: %s', async (body) => {
    const { api } = await apiWith(() => ({ status: 404, body }));
    expect(await errorOf(api.cut())).toMatchObject({ kind: 'not found', key: undefined, reason: undefined });
  });

  it('of 429 without retry-after, as real nodes send it, is tried again after our own pause', async () => {
    const { api, seen } = await apiWith((_, before) => (before < 1 ? { status: 429 } : { body: 'well' }));
    expect(await api.health()).toBe('well');
    expect(seen).toHaveLength(2);
  });

  it('tells whether the node may have done it', async () => {
    for (const [status, mayHaveBeenTaken] of [
      [400, false],
      [404, false],
      [408, true],
      [425, false],
      [429, false],
      [500, true],
      [502, true],
      [503, true],
    ] as const) {
      const { api } = await apiWith(() => ({ status }));
      expect(await errorOf(api.cut())).toMatchObject({ status, mayHaveBeenTaken });
    }
  });

  it('tells that the node may have done it at an earlier attempt', async () => {
    const { api, seen } = await apiWith((_, before) => (before < 1 ? 'break' : { status: 400 }));
    expect(await errorOf(api.cut())).toMatchObject({ status: 400, mayHaveBeenTaken: true });
    expect(seen).toHaveLength(2);
  });

  it('does not show the customer’s key in the path of a hosted node', async () => {
    const { url } = await serve(({ path }) => ({ status: 404, body: `Cannot GET ${path}` }));
    const { message } = await errorOf(apiOf({ url: `${url}/SECRET/chainweb/0.0/mainnet01` }).cut());
    expect(message).toContain('/…/chainweb/0.0/mainnet01/cut');
    expect(message).not.toContain('SECRET');
  });

  it('does not command a terminal', async () => {
    const { api } = await apiWith(() => ({ status: 400, body: 'a\u001b[2Jb\nc' }));
    expect((await errorOf(api.cut())).message).toContain('"a [2Jb c"');
  });
});

describe('no answer', () => {
  it('in time', async () => {
    const { url, seen } = await serve(() => 'silence');
    const limits = { ...QUICK.limits, answerTimeoutMs: 30 };
    const error = await errorOf(apiOf({ url, dialect: 'document' }, { limits }).cut());
    expect(error).toMatchObject({ kind: 'timed out', status: undefined, retryable: true, mayHaveBeenTaken: true });
    expect(error.message).toMatch(/\/cut did not answer in time\.$/);
    // On a busy machine the time may be over before a request has reached the server.
    expect(seen.length).toBeLessThanOrEqual(3);
  });

  it('because the connection breaks', async () => {
    const { api, seen } = await apiWith((_, before) => (before < 2 ? 'break' : { body: 'well' }));
    expect(await api.health()).toBe('well');
    expect(seen).toHaveLength(3);
  });

  it('because nothing listens', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const error = await errorOf(apiOf({ url: `http://127.0.0.1:${port}` }).cut());
    expect(error).toMatchObject({ kind: 'unreachable', retryable: false, mayHaveBeenTaken: false });
  });

  it('because it is not HTTP', async () => {
    // A socket that does not read never learns that the other side has ended.
    const server = createServer(
      (socket) =>
        void socket
          .on('error', () => {})
          .resume()
          .end('220 mail\r\n'),
    );
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const error = await errorOf(apiOf({ url: `http://127.0.0.1:${port}` }).cut());
    expect(error.kind).toBe('not a node');
  });
});

describe('stopping', () => {
  it('ends a request that is under way with the reason', async () => {
    const stop = new AbortController();
    const { url } = await serve(() => {
      stop.abort(new Error('enough'));
      return 'silence';
    });
    await expect(apiOf({ url }).cut({}, stop.signal)).rejects.toThrow('enough');
  });

  it('ends the pause that a node has asked for', async () => {
    const stop = new AbortController();
    const { url, seen } = await serve(() => {
      setImmediate(() => stop.abort(new Error('enough')));
      return { status: 503, headers: { ...CHAINWEB, 'retry-after': '60' } };
    });
    await expect(apiOf({ url, dialect: 'document' }).cut({}, stop.signal)).rejects.toThrow('enough');
    expect(seen).toHaveLength(1);
  });

  it('before a request prevents it', async () => {
    const { api, seen } = await apiWith(() => ({ body: {} }));
    await expect(api.cut({}, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    expect(seen).toHaveLength(0);
  });
});

describe('an answer that is not understood', () => {
  it.each([
    ['<html>login</html>', /not JSON/],
    ['{}', /cut\.height/],
    ['', /not JSON/],
    [Buffer.from([0xff, 0xfe]), /UTF-8/],
  ])('says why: %s', async (body, why) => {
    const { api, seen } = await apiWith(() => ({ body }));
    const error = await errorOf(api.cut());
    expect(error).toMatchObject({ kind: 'not understood', status: 200, retryable: false });
    expect(error.message).toMatch(why);
    expect(error.message).not.toContain('headers of a node');
    expect(seen).toHaveLength(1);
  });

  it('says if it is not a node’s', async () => {
    const { api } = await apiWith(() => ({ body: 'Welcome!', headers: {} }));
    expect((await errorOf(api.cut())).message).toMatch(/headers of a node are missing/);
  });

  it.each([
    ['cut', 1, (api: NodeApi) => api.cut()],
    ['info', 1, (api: NodeApi) => api.info()],
    ['headers', 1, (api: NodeApi) => api.headers(0, {}).next()],
    ['peers', 1, (api: NodeApi) => api.peers({}).next()],
    ['payload', 3, (api: NodeApi) => api.payload(0, new Uint8Array(32))],
    ['results', 3, (api: NodeApi) => api.poll(0, [hash])],
  ])('of the %s may have %i MiB at most', async (_, mebibytes, ask) => {
    const most = mebibytes * 2 ** 20;
    let bytes = most;
    const { url } = await serve(() => ({ body: ' '.repeat(bytes) }));
    const api = apiOf({ url, dialect: 'document' }, { limits: { mostAnswerBytes: 3 * 2 ** 20 } });
    expect((await errorOf(ask(api))).message).not.toContain('far more than');
    bytes++;
    expect((await errorOf(ask(api))).message).toContain('far more than');
  });

  it('may be too long', async () => {
    const { url } = await serve(() => ({ body: '1'.repeat(2_000) }));
    const api = apiOf({ url, dialect: 'document' }, { limits: { mostAnswerBytes: 1_000 } });
    expect(await errorOf(api.cut())).toMatchObject({
      kind: 'not understood',
      message: expect.stringContaining('far more than'),
    });
  });
});

describe('a node that only strangers have named', () => {
  it('is not connected to where its name leads to this machine', async () => {
    const { url, seen } = await serve(() => ({ body: 'well' }));
    const named = url.replace('127.0.0.1', 'localhost');
    const stranger = apiOf({ url: named, dialect: 'chainweb' }, { isStranger: true, limits: { attempts: 1 } });
    expect(await errorOf(stranger.health())).toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/leads to (127\.0\.0\.1|::1), which no node can have/),
    });
    expect(seen).toEqual([]);
    await apiOf({ url: named, dialect: 'chainweb' }).health();
    expect(seen).toHaveLength(1);
  });
});
