import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { version } from '#pickaxe/base/system/version.js';
import { NOTICES, type Notice } from '#pickaxe/rig/notify/notices.js';
import { Webhook, type WebhookOptions, webhookBody } from '#pickaxe/rig/notify/webhook.js';
import { selfSigned } from '../../node/client/certificates.ts';
import { PATIENCE } from '../../patience.ts';
import { listeningLog } from '../pauses/fakes.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const fine: Answer = (_, response) => response.end('ok');

/** A server on the loopback interface. Each request gets the next answer; the last answer is repeated. */
async function service(...answers: Answer[]) {
  const got: { method?: string; url?: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    got.push({ method: request.method!, url: request.url!, headers: request.headers, body });
    (answers[got.length - 1] ?? answers.at(-1)!)(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/services/SECRET?key=SECRET`);
  return { url, got, server };
}

const QUICK = { timeoutMs: 10_000, retryAfterMs: [5, 10], waiting: 4, endMs: 25_000 };
/** Limits for tests of services that hang: short, but long enough for an answer on a busy machine. */
const IMPATIENT = { limits: { ...QUICK, timeoutMs: 1_000 } };

function webhook(url: URL, more: Partial<WebhookOptions> = {}) {
  const { log, said } = listeningLog();
  const events = new Set(NOTICES);
  const hook = new Webhook({ url, events, log, limits: QUICK, ...more });
  const warned = () => said.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
  return { hook, said, warned };
}

/** A notice for tests. Its fields need not match its type. */
const notice = (more: object = {}) =>
  ({ type: 'block', timeMillis: 1, rig: 'rig-7', text: 'a block', ...more }) as Notice;

test('a notice is POSTed as JSON, with the token', async () => {
  const { url, got } = await service(fine);
  const { hook, said } = webhook(url, { token: 'TOKEN' });
  hook.send(notice({ height: 42 }));
  await hook.end();
  expect(got).toHaveLength(1);
  expect(got[0]).toMatchObject({ method: 'POST', url: '/services/SECRET?key=SECRET' });
  expect(got[0].headers).toMatchObject({
    'content-type': 'application/json',
    authorization: 'Bearer TOKEN',
    'user-agent': `pickaxe/${version}`,
  });
  expect(JSON.parse(got[0].body)).toEqual({ type: 'block', timeMillis: 1, rig: 'rig-7', text: 'a block', height: 42 });
  expect(said).toEqual([]);
});

describe('the body of a notice', () => {
  const text = 'a block, @everyone';
  const discord = { type: 'block', timeMillis: 1, rig: 'rig-7', text, content: text, allowed_mentions: { parse: [] } };
  it.each([
    ['https://discord.com/api/webhooks/1/x', discord],
    ['https://ptb.discord.com/api/webhooks/1/x', discord],
    ['https://discordapp.com/api/webhooks/1/x', discord],
    ['https://notdiscord.com/x', { type: 'block', timeMillis: 1, rig: 'rig-7', text }],
    ['https://discord.com.example/x', { type: 'block', timeMillis: 1, rig: 'rig-7', text }],
  ])('has what the service at %s requires', (url, body) => {
    expect(webhookBody(new URL(url), notice({ text }))).toEqual(body);
  });
});

test('only the chosen events are sent, in order', async () => {
  const { url, got } = await service(fine);
  const { hook } = webhook(url, { events: new Set(['start', 'stop'] as const) });
  for (const type of ['start', 'block', 'device-lost', 'stop'] as const) hook.send(notice({ type }));
  await hook.end();
  expect(got.map(({ body }) => JSON.parse(body).type)).toEqual(['start', 'stop']);
});

describe('a delivery is tried again after faults that may pass', () => {
  const status =
    (code: number): Answer =>
    (_, response) =>
      response.writeHead(code).end('no');
  const hang: Answer = () => {};
  const slow: Answer = (_, response) => response.writeHead(200).write('and then nothing');
  const closed: Answer = (request) => request.socket.destroy();
  const garbage: Answer = (request) => request.socket.end('BZZT\0 not http at all\r\n\r\n');

  it.each<[string, Answer, Partial<WebhookOptions>?]>([
    ['an error', status(500)],
    ['a time limit of the service', status(408)],
    ['too many requests', status(429)],
    ['no answer', hang, IMPATIENT],
    ['a closed connection', closed],
    ['garbage', garbage],
  ])('such as %s', async (_, fault, more) => {
    const { url, got } = await service(fault, fault, fine);
    const { hook, warned } = webhook(url, more);
    hook.send(notice());
    await hook.end();
    expect(got).toHaveLength(3);
    expect(warned()).toEqual([]);
  });

  it('but not after an answer that never ends, which counts as accepted', async () => {
    const { url, got } = await service(slow);
    const { hook, warned } = webhook(url, IMPATIENT);
    hook.send(notice());
    await hook.end();
    expect(got).toHaveLength(1);
    expect(warned()).toEqual([]);
  });

  it('but only a few times, and failures are logged once until a delivery succeeds', async () => {
    const bad = status(503);
    const { url, got } = await service(bad, bad, bad, bad, bad, bad, fine, bad);
    const { hook, said, warned } = webhook(url);
    for (const type of ['start', 'block', 'low-hashrate', 'stop'] as const) hook.send(notice({ type }));
    await hook.end();
    expect(got).toHaveLength(3 + 3 + 1 + 3);
    expect(warned()).toEqual([
      `${url.origin} did not get the event start: it answered 503`,
      `${url.origin} did not get the event stop: it answered 503`,
    ]);
    expect(said.map(({ msg }) => msg)).toContain(`${url.origin} did not get the event block: it answered 503`);
  });

  it('such as a service that does not exist', async () => {
    const { url, server } = await service(fine);
    server.close();
    await once(server, 'close');
    const { hook, warned } = webhook(url);
    hook.send(notice());
    await hook.end();
    expect(warned()[0]).toMatch(/did not get the event block: .*ECONNREFUSED/);
  });
});

describe('a delivery is not tried again after lasting faults', () => {
  it.each([300, 399, 400, 401, 404, 407, 409, 410, 428, 430, 499])('such as the status %i', async (code) => {
    const { url, got } = await service((_, response) => response.writeHead(code).end());
    const { hook, warned } = webhook(url);
    hook.send(notice());
    await hook.end();
    expect(got).toHaveLength(1);
    const why = code < 400 ? ', and redirects are not followed' : '';
    expect(warned()).toEqual([`${url.origin} did not get the event block: it answered ${code}${why}`]);
  });

  it.each([200, 201, 204, 299])('but the status %i means that it was accepted', async (code) => {
    const { url, got } = await service((_, response) => response.writeHead(code).end());
    const { hook, said } = webhook(url);
    hook.send(notice());
    await hook.end();
    expect(got).toHaveLength(1);
    expect(said).toEqual([]);
  });

  it('such as a redirect, which is not followed because it would send the token elsewhere', async () => {
    const other = await service(fine);
    const { url, got } = await service((_, response) => response.writeHead(307, { location: other.url.href }).end());
    const { hook, warned } = webhook(url, { token: 'TOKEN' });
    hook.send(notice());
    await hook.end();
    expect(got).toHaveLength(1);
    expect(other.got).toHaveLength(0);
    expect(warned()[0]).toContain('it answered 307, and redirects are not followed');
  });
});

test('certificates are checked, whatever the environment says for other programs', async () => {
  const got: string[] = [];
  const server = createHttpsServer({ ...selfSigned }, (request, response) => {
    got.push(request.url!);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { port } = server.address() as AddressInfo;
  const { hook, warned } = webhook(new URL(`https://127.0.0.1:${port}/SECRET`), { token: 'TOKEN' });
  hook.send(notice());
  await hook.end();
  expect(got).toEqual([]);
  expect(warned()).toEqual([expect.stringMatching(/did not get the event block: .*self-signed certificate/)]);
});

test('the path of the URL and the token are never shown', async () => {
  const { url } = await service((_, response) => response.writeHead(500).end());
  const { hook, said } = webhook(url, { token: 'TOKEN' });
  hook.send(notice());
  await hook.end();
  expect(said.length).toBeGreaterThan(0);
  expect(JSON.stringify(said)).not.toMatch(/SECRET|TOKEN/);
});

test('a service that hangs delays the end only for a limited time', async () => {
  const { url, got } = await service(() => {});
  const { hook, warned } = webhook(url, { limits: { ...QUICK, timeoutMs: 600_000, endMs: 100 } });
  hook.send(notice());
  hook.send(notice({ type: 'stop' }));
  await vi.waitFor(() => expect(got).toHaveLength(1), PATIENCE);
  await hook.end();
  expect(warned()).toHaveLength(1);
  expect(warned()[0]).toContain('pickaxe has ended');
});

test('a flood of notices is dropped, which is logged once', async () => {
  const { url } = await service(() => {});
  const { hook, said } = webhook(url, { limits: { ...QUICK, timeoutMs: 600_000, endMs: 0 } });
  for (let i = 0; i < 10; i++) hook.send(notice());
  expect(said.map(({ level }) => level)).toEqual(['warn', ...Array(4).fill('debug')]);
  await hook.end();
});
