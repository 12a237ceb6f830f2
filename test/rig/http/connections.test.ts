import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Refusals } from '#pickaxe/base/system/bounded.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Connections } from '#pickaxe/rig/http/connections.js';
import { type HttpLimits, httpLimits, REASONS } from '#pickaxe/rig/http/http-access.js';
import { PATIENCE } from '../../patience.ts';
import { FakeClock } from '../status/fakes.ts';
import { serve } from './serving.ts';

const GET = 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n';
/** More than the system buffers for a client that does not read. */
const HUGE = Buffer.alloc(32 * 1024 * 1024);

const sockets: Socket[] = [];
const servers: Server[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

const patiently = (expected: () => unknown) => vi.waitFor(expected, { ...PATIENCE, interval: 5 });

/** A client that reads, and what it has received. */
function client(port: number) {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  sockets.push(socket);
  const got = { socket, text: '', closed: false };
  socket.on('data', (chunk) => {
    got.text += chunk;
  });
  socket.on('close', () => {
    got.closed = true;
  });
  return got;
}

/** A client that never reads. */
function lazy(port: number, sent: string | Buffer): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  sockets.push(socket);
  socket.pause();
  socket.write(sent);
  return socket;
}

const answersIn = (text: string) => text.split('HTTP/1.1 200').length - 1;

/** Connections of a server whose answers a test sets. */
async function watched(answer: RequestListener, limits: Partial<HttpLimits> = {}) {
  const clock = new FakeClock();
  const refusals = new Refusals(systemClock, REASONS, () => {}, 60_000);
  const connections = new Connections(clock, { ...httpLimits, checkMs: 10, ...limits }, refusals);
  /** Called for each request that Node.js has parsed, whether it is answered or not. */
  const told = vi.fn();
  const server = createServer((request, response) => {
    told();
    if (connections.begin(request, response)) answer(request, response);
  });
  servers.push(server);
  connections.watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const count = () => new Promise<number>((resolve) => server.getConnections((_, n) => resolve(n)));
  return { port: (server.address() as AddressInfo).port, clock, counts: refusals.counts, told, count };
}

describe('a client that sends a request before it has its answer', () => {
  it('is disconnected, with one answer at most', async () => {
    const { port, ask } = await serve();
    const got = client(port);
    got.socket.write(GET.repeat(1_000));
    await patiently(() => expect(got.closed).toBe(true));
    expect(answersIn(got.text)).toBeLessThanOrEqual(1);
    expect((await ask('/metrics')).text).toContain('pickaxe_http_refused_total{reason="pipelined"} 1');
  });

  it('is disconnected for that alone, even if nonsense follows at once', async () => {
    const { port, ask } = await serve();
    const got = client(port);
    got.socket.write(`${GET.repeat(2)}nonsense\r\n\r\n`);
    await patiently(() => expect(got.closed).toBe(true));
    const { text } = await ask('/metrics');
    const counted = [...text.matchAll(/^pickaxe_http_refused_total\{reason="(.*)"\} [1-9]/gm)].map(
      ([, reason]) => reason,
    );
    expect(counted).toEqual(['pipelined']);
  });

  it('is disconnected even if its requests have an Expect header', async () => {
    const { port, ask } = await serve();
    const expecting = (what: string) => GET.replace('\r\n\r\n', `\r\nexpect: ${what}\r\n\r\n`);
    for (const what of ['100-continue', 'nonsense']) {
      const got = client(port);
      got.socket.write(expecting(what).repeat(1_000));
      await patiently(() => expect(got.closed).toBe(true));
    }
    expect((await ask('/metrics')).text).toContain('pickaxe_http_refused_total{reason="pipelined"} 2');
    expect(await ask('/healthz', { headers: { expect: 'nonsense' } })).toMatchObject({ status: 200 });
  });

  it('costs one answer, and no more than the requests in a few hundred bytes are parsed, however much it has sent', async () => {
    const answer = vi.fn();
    const { port, told, counts, count } = await watched(answer);
    const all = Buffer.from(GET.repeat(20_000));
    for (let i = 0; i < 20; i++) lazy(port, all);
    await patiently(() => expect(counts.pipelined).toBe(20));
    await patiently(async () => expect(await count()).toBe(0));
    expect(answer).toHaveBeenCalledTimes(20);
    expect(told.mock.calls.length).toBeLessThanOrEqual(20 * Math.ceil(512 / GET.length + 1));
  });

  it('is distinguished from one that waits, which may send many requests on one connection', async () => {
    const { port } = await serve();
    const got = client(port);
    for (let asked = 1; asked <= 150; asked++) {
      got.socket.write(GET);
      await patiently(() => expect(answersIn(got.text)).toBe(asked));
    }
    expect(got.closed).toBe(false);
  });

  it('is distinguished from one that sends a request in parts', async () => {
    const { port } = await serve({ control: true });
    const got = client(port);
    const body = JSON.stringify({ device: 'gpu0' });
    const head = `POST /api/v1/pause HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${'x'.repeat(3_000)}\r\n`;
    for (const part of [head, `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`, body]) {
      got.socket.write(part);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await patiently(() => expect(got.text).toMatch(/^HTTP\/1\.1 204 /));
  });
});

describe('a connection is closed after 15 s', () => {
  it('if the client does not read the answer', async () => {
    const { port, clock, counts, count } = await watched((_, response) => response.end(HUGE));
    for (let i = 0; i < 3; i++) lazy(port, GET);
    const reading = client(port);
    reading.socket.write(GET);
    await patiently(() => expect(reading.text.length).toBeGreaterThan(HUGE.length));
    expect(await count()).toBe(4);
    clock.advance(10_000);
    reading.socket.write(GET);
    await patiently(() => expect(reading.text.length).toBeGreaterThan(2 * HUGE.length));
    clock.advance(5_000);
    await patiently(async () => expect(await count()).toBe(1));
    expect([counts.timeout, reading.closed]).toEqual([3, false]);
  });

  it('if the client has its answer, and sends something that is not a request yet', async () => {
    const { port, clock } = await serve({ limits: { checkMs: 10 } });
    const got = client(port);
    got.socket.write(GET);
    await patiently(() => expect(answersIn(got.text)).toBe(1));
    const trickle = setInterval(() => got.socket.writable && got.socket.write('\r\n'), 5);
    clock.advance(14_000);
    await patiently(() => expect(got.closed).toBe(true));
    clearInterval(trickle);
  });

  it('if the client sends nothing, which is not logged', async () => {
    const { port, ask, http, logged } = await serve({ limits: { requestMs: 50, checkMs: 10 } });
    const got = client(port);
    await patiently(() => expect(got.closed).toBe(true));
    expect(got.text).toMatch(/^HTTP\/1\.1 408 /);
    expect((await ask('/metrics')).text).toContain('pickaxe_http_refused_total{reason="timeout"} 0');
    await http.close();
    expect(logged).toEqual([]);
  });

  it.each([
    ['headers', 'GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\nx: '],
    [
      'a body',
      'POST /api/v1/pause HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n',
    ],
  ])('if the client sends %s one letter at a time', async (_, head) => {
    const { port, ask } = await serve({ control: true, limits: { requestMs: 100, checkMs: 20 } });
    const got = client(port);
    got.socket.write(head);
    const trickle = setInterval(() => got.socket.writable && got.socket.write('x'), 10);
    await patiently(() => expect(got.closed).toBe(true));
    clearInterval(trickle);
    expect(got.text).toMatch(/^HTTP\/1\.1 408 /);
    expect((await ask('/metrics')).text).toContain('pickaxe_http_refused_total{reason="timeout"} 1');
  });

  it('but not if it sends a request every few seconds, nor if it is an event stream', async () => {
    const { port, clock } = await serve({ limits: { checkMs: 10, requestMs: 60_000 } });
    const [silent, asking, listening] = [client(port), client(port), client(port)];
    listening.socket.write('GET /api/v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    await patiently(() => expect(answersIn(listening.text)).toBe(1));
    for (let asked = 1; asked <= 6; asked++) {
      asking.socket.write(GET);
      await patiently(() => expect(answersIn(asking.text)).toBe(asked));
      clock.advance(9_000);
    }
    // Connections have been checked.
    await patiently(() => expect(silent.closed).toBe(true));
    expect([asking.closed, listening.closed]).toEqual([false, false]);
  });
});

it('a connection that has ended does not count against the limit', async () => {
  const { port, counts, count } = await watched((_, response) => response.end(), { connections: 1 });
  for (let i = 0; i < 3; i++) {
    const got = client(port);
    got.socket.write(GET);
    await patiently(() => expect(answersIn(got.text)).toBe(1));
    got.socket.destroy();
    await patiently(async () => expect(await count()).toBe(0));
  }
  expect(counts.crowded).toBe(0);
});

it('connections are checked for as long as the server is open', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const server = createServer();
    new Connections(new FakeClock(), httpLimits, new Refusals(systemClock, REASONS, () => {}, 60_000)).watch(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    expect(vi.getTimerCount()).toBe(1);
    await once(server.close(), 'close');
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

it('when the limit is reached, the connection that has gone unanswered for the longest time makes room for the next client', async () => {
  const { port, clock, ask } = await serve({ limits: { requestMs: 60_000, keepAliveMs: 60_000 } });
  // The client that connects first is accepted first.
  const [waiting, asking] = [client(port), client(port)];
  asking.socket.write(GET);
  await patiently(() => expect(answersIn(asking.text)).toBe(1));
  clock.advance(1_000);
  asking.socket.write(GET);
  await patiently(() => expect(answersIn(asking.text)).toBe(2));
  clock.advance(1_000);
  const silent = Array.from({ length: 62 }, () => client(port));
  await Promise.all(silent.map(({ socket }) => once(socket, 'connect')));
  clock.advance(1_000);
  expect((await ask('/healthz')).status).toBe(200);
  await patiently(() => expect(waiting.closed).toBe(true));
  expect([asking, ...silent].filter(({ closed }) => closed)).toEqual([]);
  for (let i = 0; i < 80; i++) silent.push(client(port));
  await patiently(() => expect(silent.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(78));
  expect(asking.closed).toBe(true);
  expect((await ask('/healthz')).status).toBe(200);
  expect((await ask('/metrics')).text).toMatch(/^pickaxe_http_refused_total\{reason="crowded"\} (8\d|9\d)$/m);
});
