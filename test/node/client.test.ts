/** The client against answers that no mock node gives. */

import { setMaxListeners } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NodeClient } from '#pickaxe/node/client.js';
import { NodeClock } from '#pickaxe/node/clock.js';
import type { NodeError } from '#pickaxe/node/errors.js';
import { type NodeLimits, nodeLimits } from '#pickaxe/node/limits.js';
import { BY_AUTHORITY } from '#pickaxe/node/tls.js';
import { nodeAddress } from '#pickaxe/node/url.js';
import { systemClock } from '#pickaxe/system/clock.js';
import { eventually } from '../source/follow.ts';
import { miner } from '../source/node/node.ts';

const NODE_HEADERS = { 'x-server-timestamp': '1800000000' };
const never = new AbortController().signal;

async function clientOf(answer: RequestListener, limits: Partial<NodeLimits> = {}): Promise<NodeClient> {
  const server = createServer({ keepAliveTimeout: 0 }, answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = clientAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, limits);
  onTestFinished(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  return client;
}

function clientAt(url: string, limits: Partial<NodeLimits>): NodeClient {
  return new NodeClient({
    address: nodeAddress(url, 'development'),
    miner,
    nodeClock: new NodeClock(systemClock),
    clock: systemClock,
    userAgent: 'test',
    trust: BY_AUTHORITY,
    limits: { ...nodeLimits, ...limits },
  });
}

const faultOf = (promise: Promise<unknown>): Promise<NodeError> =>
  promise.then(
    () => {
      throw new Error('there was no fault');
    },
    (error) => error as NodeError,
  );

describe.each([429, 503])('%i', (status) => {
  it('is busy, with the patience that it asks for', async () => {
    const client = await clientOf((_, response) =>
      response.writeHead(status, { ...NODE_HEADERS, 'retry-after': '7' }).end(),
    );
    for (const request of [client.getWork(never), client.postSolved(new Uint8Array(286), never)]) {
      expect(await faultOf(request)).toMatchObject({ fault: 'busy', retryAfterMs: 7_000, mayHaveBeenTaken: false });
    }
  });

  it('of a gateway may hide that a solution was taken', async () => {
    const client = await clientOf((_, response) => response.writeHead(status).end());
    const fault = await faultOf(client.postSolved(new Uint8Array(286), never));
    expect(fault).toMatchObject({ fault: 'busy', mayHaveBeenTaken: true });
  });
});

it('an answer far larger than any is not read', async () => {
  const client = await clientOf((_, response) => {
    response.writeHead(200, { ...NODE_HEADERS, 'content-length': 1_100_000 }).end(Buffer.alloc(1_100_000));
  });
  const fault = await faultOf(client.getWork(never));
  expect(fault).toMatchObject({ fault: 'garbled', message: expect.stringMatching(/far more than the specification/) });
});

it('a work request does not wait for submissions that hang', async () => {
  const record = Buffer.alloc(322, 1);
  let submissions = 0;
  const client = await clientOf(({ method }, response) => {
    if (method === 'POST') submissions++;
    else response.writeHead(200, NODE_HEADERS).end(record);
  });
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const pending = Array.from({ length: 20 }, () => faultOf(client.postSolved(new Uint8Array(286), stop.signal)));
  await eventually(() => expect(submissions).toBe(20));
  expect(await client.getWork(never)).toEqual(record);
  stop.abort();
  await Promise.all(pending);
});

it('a stream that is refused is not told to be a missing mining API', async () => {
  const client = await clientOf((_, response) => response.writeHead(404, NODE_HEADERS).end());
  const fault = await faultOf(client.openUpdates(3, never));
  expect(fault.message).toMatch(/refuses update streams \(404\)/);
});

describe('a ping', () => {
  it('is answered by a node, whatever it says of that path', async () => {
    const client = await clientOf((_, response) => response.writeHead(404, NODE_HEADERS).end('nothing here'));
    await client.ping(never);
    expect(client.lastAnswerMs).toBeGreaterThan(0);
  });

  it('counts no answer that is not the node’s', async () => {
    const client = await clientOf((_, response) => response.writeHead(404).end());
    expect(await faultOf(client.ping(never))).toMatchObject({ fault: 'not a node' });
    expect(client.lastAnswerMs).toBe(Number.NEGATIVE_INFINITY);
  });
});

describe('an answer that never ends', () => {
  /** Nothing but the status may be waited for. */
  const limits = { bodyTimeoutMs: 60_000, workTimeoutMs: 60_000, solvedTimeoutMs: 60_000, probeTimeoutMs: 60_000 };
  const answer = async (status: number, text = 'so far') =>
    await clientOf((_, response) => void response.writeHead(status, NODE_HEADERS).write(text), limits);

  it('has taken a solution when its status says so', async () => {
    const client = await answer(200);
    expect(await client.postSolved(new Uint8Array(286), never)).toEqual({ status: 200, text: '' });
  });

  it('and is far longer than a refusal: it is told as far as it was read', async () => {
    const client = await answer(400, 'no '.repeat(10_000));
    const { status, text } = await client.postSolved(new Uint8Array(286), never);
    expect(status).toBe(400);
    expect(text).toMatch(/^no no .*…$/);
  });

  it('is busy when its status says so, whatever was asked', async () => {
    const client = await answer(503);
    for (const request of [
      client.getWork(never),
      client.postSolved(new Uint8Array(286), never),
      client.openUpdates(3, never),
      client.ping(never),
    ]) {
      expect(await faultOf(request)).toMatchObject({ fault: 'busy' });
    }
  });

  it('is cut off after a while, so that its connection does not stay', async () => {
    let closed = 0;
    const client = await clientOf(
      (_, response) => {
        response.on('close', () => closed++);
        response.writeHead(503, NODE_HEADERS).write('so far');
      },
      { bodyTimeoutMs: 50 },
    );
    await faultOf(client.getWork(never));
    await eventually(() => expect(closed).toBe(1));
  });

  it('refuses a stream, or tells that the node is there, by its status', async () => {
    const client = await answer(404);
    expect(await faultOf(client.openUpdates(3, never))).toMatchObject({ fault: 'refused' });
    await client.ping(never);
  });
});

it('a ping has less time than a work request', async () => {
  const client = await clientOf(() => {}, { probeTimeoutMs: 50, workTimeoutMs: 60_000 });
  expect(await faultOf(client.ping(never))).toMatchObject({ fault: 'no answer' });
});

it('a host that takes connections and says nothing has the time for connecting alone', async () => {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => void sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = clientAt(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    connectTimeoutMs: 50,
    workTimeoutMs: 60_000,
  });
  onTestFinished(async () => {
    await client.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const fault = await faultOf(client.getWork(never));
  expect(fault).toMatchObject({ fault: 'unreachable', message: expect.stringContaining('UND_ERR_CONNECT_TIMEOUT') });
  expect((fault.cause as Error).message).toContain('timeout: 50ms');
});

it('the system tries connections that are silent', async () => {
  const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
  onTestFinished(() => keepAlive.mockRestore());
  const client = await clientOf((_, response) => void response.writeHead(200, NODE_HEADERS).end());
  await client.ping(never);
  expect(keepAlive).toHaveBeenCalledWith(true, 10_000);
});

describe('connections that are renewed', () => {
  /** Answers everything at once, solutions when told to; streams end as soon as they are open. */
  async function counting() {
    const sockets = new Set<Socket>();
    let connections = 0;
    let release: () => void = () => {};
    const client = await clientOf(({ method, socket }, response) => {
      if (!sockets.has(socket)) {
        connections++;
        sockets.add(socket.on('close', () => sockets.delete(socket)));
      }
      const answer = () => response.writeHead(200, NODE_HEADERS).end();
      if (method === 'POST') release = answer;
      else answer();
    });
    const stream = async () => {
      for await (const _ of await client.openUpdates(3, never));
    };
    return { client, stream, sockets, connections: () => connections, release: () => release() };
  }

  it('are others, for requests and for streams, and the old ones are closed', async () => {
    const { client, stream, sockets, connections } = await counting();
    for (let i = 0; i < 2; i++) {
      await client.ping(never);
      await stream();
    }
    expect(connections()).toBe(2);
    client.renewConnections();
    await eventually(() => expect(sockets.size).toBe(0));
    await client.ping(never);
    expect(connections()).toBe(3);
    await stream();
    expect(connections()).toBe(4);
  });

  it('leave a solution that is on its way alone', async () => {
    const { client, sockets, release } = await counting();
    const pending = client.postSolved(new Uint8Array(286), never);
    await eventually(() => expect(sockets.size).toBe(1));
    client.renewConnections();
    await client.ping(never);
    release();
    expect(await pending).toEqual({ status: 200, text: '' });
  });
});
