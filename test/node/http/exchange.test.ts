/** Tests the transport, through the mining calls, with answers that the mock node cannot give. */

import { X509Certificate } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fingerprintOf } from '#pickaxe/base/net/certificate.js';
import { BY_AUTHORITY, type Trust } from '#pickaxe/base/net/tls-trust.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { MiningClient } from '#pickaxe/node/client/mining.js';
import type { NodeError } from '#pickaxe/node/http/node-error.js';
import { type NodeLimits, nodeLimits } from '#pickaxe/node/http/request-limits.js';
import { nodeAddress } from '#pickaxe/node/http/url.js';
import { parseWork } from '#pickaxe/protocol/chain/work.js';
import { eventually } from '../../miner/source/follow.ts';
import { miner } from '../../miner/source/node/node.ts';
import { type Identity, selfSigned } from '../client/certificates.ts';

const NODE_HEADERS = { 'x-server-timestamp': '1800000000' };
const trustIn = ({ cert }: Identity): Trust => ({
  by: 'fingerprint',
  fingerprints: [fingerprintOf(new X509Certificate(cert).raw)],
});
const never = new AbortController().signal;

async function httpOf(
  answer: RequestListener,
  limits: Partial<NodeLimits> = {},
  clock = systemClock,
): Promise<MiningClient> {
  const server = createServer({ keepAliveTimeout: 0 }, answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const http = httpAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, limits, clock);
  onTestFinished(async () => {
    await http.close();
    server.closeAllConnections();
    server.close();
  });
  return http;
}

function httpAt(
  url: string,
  limits: Partial<NodeLimits>,
  clock = systemClock,
  trust: Trust = BY_AUTHORITY,
): MiningClient {
  return new MiningClient({
    address: nodeAddress(url, 'development'),
    clock,
    userAgent: 'test',
    trust,
    limits: { ...nodeLimits, ...limits },
  });
}

/** A work record with the number of the network development in its header. */
function someWork(): Buffer {
  const record = Buffer.alloc(322, 1);
  record.writeUInt32LE(1, 36 + 266);
  return record;
}

const faultOf = (promise: Promise<unknown>): Promise<NodeError> =>
  promise.then(
    () => {
      throw new Error('there was no fault');
    },
    (error) => error as NodeError,
  );

describe.each([429, 503])('the status %i', (status) => {
  it('means that the node is busy, for as long as it says', async () => {
    const http = await httpOf((_, response) =>
      response.writeHead(status, { ...NODE_HEADERS, 'retry-after': '7' }).end(),
    );
    for (const request of [http.work(miner, never), http.submit(new Uint8Array(286), never)]) {
      expect(await faultOf(request)).toMatchObject({ isBusy: true, retryAfterMs: 7_000, mayHaveBeenTaken: false });
    }
  });

  it('from a gateway may hide that a solution was accepted', async () => {
    const http = await httpOf((_, response) => response.writeHead(status).end());
    const fault = await faultOf(http.submit(new Uint8Array(286), never));
    expect(fault).toMatchObject({ isBusy: true, mayHaveBeenTaken: true });
  });
});

it.each([
  [400, 'begin with https://'],
  [426, 'begin with https://'],
  [404, 'Is there a login page or a proxy in between'],
  [200, 'Is there a login page or a proxy in between'],
])('what answers with %i and without the headers of a node is none', async (status, says) => {
  const http = await httpOf((_, response) => response.writeHead(status).end('welcome'));
  const fault = await faultOf(http.work(miner, never));
  expect(fault).toMatchObject({ kind: 'not a node', status, message: expect.stringContaining(says) });
});

it.each([
  [429, 'too many requests', 'is busy', true],
  [500, 'failed', 'failed', false],
  [502, 'failed', 'failed', false],
  [503, 'failed', 'is busy', true],
])('the status %i means %s, and that the node %s', async (status, kind, words, isBusy) => {
  const http = await httpOf((_, response) => response.writeHead(status, NODE_HEADERS).end());
  const fault = await faultOf(http.work(miner, never));
  expect(fault).toMatchObject({ kind, status, isBusy, mayHaveBeenTaken: !isBusy, retryable: true });
  expect(fault.message).toContain(` ${words} (${status} for `);
});

it.each([
  ['0', 0],
  ['999999', 999_999_000],
  ['1000000', undefined],
  ['-1', undefined],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
])('retry-after: %s', async (value, retryAfterMs) => {
  const headers = { ...NODE_HEADERS, 'retry-after': value };
  const http = await httpOf((_, response) => response.writeHead(503, headers).end());
  expect(await faultOf(http.work(miner, never))).toMatchObject({ retryAfterMs });
});

it('an answer that is far too large is not read', async () => {
  const http = await httpOf((_, response) => {
    response.writeHead(200, { ...NODE_HEADERS, 'content-length': 1_100_000 }).end(Buffer.alloc(1_100_000));
  });
  const fault = await faultOf(http.work(miner, never));
  expect(fault).toMatchObject({
    kind: 'not understood',
    message: expect.stringMatching(/far more than the specification/),
  });
});

describe('what is below the body', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\nx-server-timestamp: 1800000000\r\ntransfer-encoding: chunked\r\n\r\n';
  const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n';
  const floods = {
    'interim answers': { begin: '', noise: hint.repeat(200) },
    'a chunk extension': { begin: `${HEAD}1;`, noise: 'x'.repeat(10_000) },
    'a chunk size': { begin: HEAD, noise: '0'.repeat(10_000) },
  };
  /** Long limits, so that a test in which nothing is cut off times out. */
  const limits = { workTimeoutMs: 600_000, solvedTimeoutMs: 600_000, probeTimeoutMs: 600_000 };

  /** A server that answers each request with `begin`, and then with `noise` for as long as that is read. */
  async function flooding({ begin, noise }: { begin: string; noise: string }, tls: boolean) {
    const take = (socket: Socket) => {
      socket.on('error', () => {});
      let isSending = false;
      const send = () => {
        while (!socket.destroyed && socket.write(noise));
      };
      socket.on('data', () => {
        if (isSending) return;
        isSending = true;
        socket.write(begin);
        socket.on('drain', () => setImmediate(send));
        send();
      });
    };
    const server = tls ? createTlsServer(selfSigned, take) : createTcpServer(take);
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => void sockets.add(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const http = httpAt(url, limits, systemClock, tls ? trustIn(selfSigned) : BY_AUTHORITY);
    onTestFinished(async () => {
      await http.close();
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return { http, sockets };
  }

  const read = async (stream: Promise<AsyncIterable<Uint8Array>>) => {
    for await (const _ of await stream);
  };

  describe.each([false, true])('(with TLS: %s)', (tls) => {
    it.each(Object.entries(floods))('is bounded: %s', async (_, flood) => {
      const { http, sockets } = await flooding(flood, tls);
      const far = { kind: 'not understood', message: expect.stringMatching(/far more/) };
      expect(await faultOf(http.work(miner, never))).toMatchObject(far);
      expect(await faultOf(read(http.updates(3, never)))).toMatchObject(far);
      // Of these answers, only the status matters.
      for (const ask of [() => http.submit(new Uint8Array(286), never), () => http.ping(never)]) {
        if (flood.begin === '') expect(await faultOf(ask())).toMatchObject(far);
        else await ask();
      }
      await eventually(() => expect([...sockets].every(({ destroyed }) => destroyed)).toBe(true));
    });
  });

  it('does not add up over many answers on one connection', async () => {
    let connections = 0;
    const record = someWork();
    const http = await httpOf(({ socket }, response) => {
      if (!seen.has(socket)) connections++;
      seen.add(socket);
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.writeHead(200, { ...NODE_HEADERS, padding: 'x'.repeat(10_000) }).end(record);
    });
    const seen = new Set<Socket>();
    // The answers together are longer than one answer may be.
    for (let i = 0; i < 400; i++) expect(await http.work(miner, never)).toEqual(parseWork(record));
    expect(connections).toBeLessThanOrEqual(2);
  });

  it('may be as long as a stream takes minutes to send it', async () => {
    let ms = 1e9;
    const event = 'event:New Cut\n\n'.repeat(200);
    const clock = { ...systemClock, monotonicMs: () => ms };
    let answer: (text: string) => void = () => {};
    const server = await httpOf(
      (_, response) => {
        response.writeHead(200, NODE_HEADERS).flushHeaders();
        answer = (text) => void response.write(text);
      },
      {},
      clock,
    );
    const stream = (await server.updates(3, never))[Symbol.asyncIterator]();
    let [length, sent] = [0, 0];
    const pass = async () => {
      ms += 1_000;
      answer(event);
      sent += event.length;
      while (length < sent) length += (await stream.next()).value.length;
    };
    // 300 kB in 100 s.
    for (let i = 0; i < 100; i++) await pass();
    answer('x'.repeat(100_000));
    await expect(
      (async () => {
        while (true) await stream.next();
      })(),
    ).rejects.toThrow(/far more data/);
  });
});

it('a work request does not wait behind submissions that hang', async () => {
  const record = someWork();
  let submissions = 0;
  const http = await httpOf(({ method }, response) => {
    if (method === 'POST') submissions++;
    else response.writeHead(200, NODE_HEADERS).end(record);
  });
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const pending = Array.from({ length: 20 }, () => faultOf(http.submit(new Uint8Array(286), stop.signal)));
  await eventually(() => expect(submissions).toBe(20));
  expect(await http.work(miner, never)).toEqual(parseWork(record));
  stop.abort();
  await Promise.all(pending);
});

it('a refused stream is not reported as a missing mining API', async () => {
  const http = await httpOf((_, response) => response.writeHead(404, NODE_HEADERS).end());
  const fault = await faultOf(http.updates(3, never));
  expect(fault.message).toMatch(/refuses update streams \(404\)/);
});

describe('a ping', () => {
  it('is answered by a node with any status for that path', async () => {
    const http = await httpOf((_, response) => response.writeHead(404, NODE_HEADERS).end('nothing here'));
    await http.ping(never);
    expect(http.lastAnswerMs).toBeGreaterThan(0);
  });

  it('ignores answers that are not the node’s', async () => {
    const http = await httpOf((_, response) => response.writeHead(404).end());
    expect(await faultOf(http.ping(never))).toMatchObject({ kind: 'not a node' });
    expect(http.lastAnswerMs).toBe(Number.NEGATIVE_INFINITY);
  });
});

describe('an answer that never ends', () => {
  /** Long limits, so that a test that waits for more than the status times out. */
  const limits = { bodyTimeoutMs: 60_000, workTimeoutMs: 60_000, solvedTimeoutMs: 60_000, probeTimeoutMs: 60_000 };
  const answer = async (status: number, text = 'so far') =>
    await httpOf((_, response) => void response.writeHead(status, NODE_HEADERS).write(text), limits);

  it('accepts a solution if its status says so', async () => {
    const http = await answer(200);
    expect(await http.submit(new Uint8Array(286), never)).toEqual({ status: 200, text: '' });
  });

  it('is quoted as far as it was read if it is far too long', async () => {
    const http = await answer(400, 'no '.repeat(10_000));
    const { status, text } = await http.submit(new Uint8Array(286), never);
    expect(status).toBe(400);
    expect(text).toMatch(/^no no .*…$/);
  });

  it('means that the node is busy if its status says so, whatever was asked', async () => {
    const http = await answer(503);
    for (const request of [
      http.work(miner, never),
      http.submit(new Uint8Array(286), never),
      http.updates(3, never),
      http.ping(never),
    ]) {
      expect(await faultOf(request)).toMatchObject({ isBusy: true });
    }
  });

  it('is cut off after a while, so that its connection does not stay', async () => {
    let closed = 0;
    const http = await httpOf(
      (_, response) => {
        response.on('close', () => closed++);
        response.writeHead(503, NODE_HEADERS).write('so far');
      },
      { bodyTimeoutMs: 50 },
    );
    await faultOf(http.work(miner, never));
    await eventually(() => expect(closed).toBe(1));
  });

  it('may refuse a stream by its status, and even that shows that the node answers', async () => {
    const http = await answer(404);
    expect(await faultOf(http.updates(3, never))).toMatchObject({ kind: 'refused' });
    await http.ping(never);
  });
});

it('the time limit of a ping is shorter than that of a work request', async () => {
  const http = await httpOf(() => {}, { probeTimeoutMs: 50, workTimeoutMs: 60_000 });
  expect(await faultOf(http.ping(never))).toMatchObject({ kind: 'timed out' });
});

it('connecting to a host that accepts connections and says nothing ends with the connect timeout', async () => {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => void sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const http = httpAt(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    connectTimeoutMs: 50,
    workTimeoutMs: 60_000,
  });
  onTestFinished(async () => {
    await http.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const fault = await faultOf(http.work(miner, never));
  expect(fault).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('UND_ERR_CONNECT_TIMEOUT') });
  expect((fault.cause as Error).message).toContain('timeout: 50ms');
});

it('the operating system probes connections that are silent', async () => {
  const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
  onTestFinished(() => keepAlive.mockRestore());
  const http = await httpOf((_, response) => void response.writeHead(200, NODE_HEADERS).end());
  await http.ping(never);
  expect(keepAlive).toHaveBeenCalledWith(true, 10_000);
});

describe('renewing the connections', () => {
  /** Answers solutions when the test allows it, and everything else at once. Streams end as soon as they are open. */
  async function counting() {
    const sockets = new Set<Socket>();
    let connections = 0;
    let release: () => void = () => {};
    const http = await httpOf(({ method, socket }, response) => {
      if (!sockets.has(socket)) {
        connections++;
        sockets.add(socket.on('close', () => sockets.delete(socket)));
      }
      const answer = () => response.writeHead(200, NODE_HEADERS).end();
      if (method === 'POST') release = answer;
      else answer();
    });
    const stream = async () => {
      for await (const _ of await http.updates(3, never));
    };
    return { http, stream, sockets, connections: () => connections, release: () => release() };
  }

  it('opens new ones for requests and for streams, and closes the old ones', async () => {
    const { http, stream, sockets, connections } = await counting();
    for (let i = 0; i < 2; i++) {
      await http.ping(never);
      await stream();
    }
    expect(connections()).toBe(2);
    http.renewConnections();
    await eventually(() => expect(sockets.size).toBe(0));
    await http.ping(never);
    expect(connections()).toBe(3);
    await stream();
    expect(connections()).toBe(4);
  });

  it('does not disturb a submission that is under way', async () => {
    const { http, sockets, release } = await counting();
    const pending = http.submit(new Uint8Array(286), never);
    await eventually(() => expect(sockets.size).toBe(1));
    http.renewConnections();
    await http.ping(never);
    release();
    expect(await pending).toEqual({ status: 200, text: '' });
  });
});
