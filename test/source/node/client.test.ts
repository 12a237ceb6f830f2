/** The client against answers that no mock node gives. */

import { setMaxListeners } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/clock.js';
import { NodeClient } from '#pickaxe/source/node/client.js';
import { NodeClock } from '#pickaxe/source/node/clock.js';
import type { NodeError } from '#pickaxe/source/node/errors.js';
import { nodeLimits } from '#pickaxe/source/node/limits.js';
import { BY_AUTHORITY } from '#pickaxe/source/node/tls.js';
import { nodeAddress } from '#pickaxe/source/node/url.js';
import { eventually } from '../follow.ts';
import { miner } from './node.ts';

const NODE_HEADERS = { 'x-server-timestamp': '1800000000' };
const never = new AbortController().signal;

async function clientOf(answer: RequestListener): Promise<NodeClient> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new NodeClient({
    address: nodeAddress(`http://127.0.0.1:${port}`, 'development'),
    miner,
    nodeClock: new NodeClock(systemClock),
    clock: systemClock,
    userAgent: 'test',
    trust: BY_AUTHORITY,
    limits: nodeLimits,
  });
  onTestFinished(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  return client;
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
