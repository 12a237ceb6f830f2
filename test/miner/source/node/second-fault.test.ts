/** What a second broken answer, and what the eighth unknown work, mean to a rig. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { FaultInput } from '#pickaxe/mock-node/server/faults.js';
import { DIALECTS } from '../../../mock-node/node.ts';
import { eventually, mine } from '../follow.ts';
import { followNode, nodesOf } from './node.ts';

const workFault = (kind: FaultInput['kind'], more: Partial<FaultInput> = {}): FaultInput[] => [
  { endpoint: 'work', kind, ...more },
];
/** After a node is reported as lost, it is not asked again within a test. */
const NO_MORE = { fetchPauses: { firstMs: 600_000, mostMs: 600_000 } };

describe.each(DIALECTS)('a node of the dialect %s', (dialect) => {
  const startNode = nodesOf(dialect);

  it.each<[FaultInput['kind'], number]>([
    ['drop', 2],
    ['lost-answer', 2],
    ['unavailable', 1],
    ['wrong-length', 1],
  ])('whose every answer has the fault %s is lost after %i requests', async (kind, requests) => {
    const { node, url } = await startNode();
    node.server.faults = workFault(kind);
    const { follower } = followNode(url, NO_MORE);
    await eventually(() => expect(follower.of('lost')).toHaveLength(1));
    expect(node.server.stats.requests.work).toBe(requests);
    expect(follower.received).toEqual([]);
  });

  it.each<[FaultInput['kind'], number]>([
    ['drop', 2],
    ['lost-answer', 2],
    ['unavailable', 1],
    ['wrong-length', 1],
  ])(
    'whose answers have the fault %s after the first one is lost after %i more requests, and its work is still mined',
    async (kind, requests) => {
      const { node, url } = await startNode({ streamLimit: 0 });
      const { follower } = followNode(url, { ...NO_MORE, pollMs: 20 });
      await follower.work();
      const before = node.server.stats.requests.work;
      node.server.faults = workFault(kind);
      await eventually(() => expect(follower.of('lost')).toHaveLength(1));
      expect(node.server.stats.requests.work - before).toBeLessThanOrEqual(requests + 1);
      expect(follower.of('stale')).toEqual([]);
    },
  );

  it('that breaks one connection now and then is not lost', async () => {
    const { node, url } = await startNode({ streamLimit: 0 });
    const { follower } = followNode(url, { ...NO_MORE, pollMs: 10 });
    for (let fault = 0; fault < 3; fault++) {
      node.server.faults = workFault('drop', { times: 1 });
      await eventually(() => expect(node.server.faults[0].times).toBe(0));
      const { work } = node.server.stats.requests;
      await eventually(() => expect(node.server.stats.requests.work).toBeGreaterThan(work + 1));
    }
    expect(follower.of('lost')).toEqual([]);
  });
});

it('a node is unhealthy once it does not know eight of its own works in a row, and not after seven', async () => {
  const { node, url } = await nodesOf('chainweb')();
  node.server.faults = [{ endpoint: 'solved', kind: 'status', status: 404, text: 'no such work' }];
  const { source, follower, recorder } = followNode(url, { refusedMs: 0 });
  const unhealthy = () => recorder.of('source').filter(({ state }) => state === 'unhealthy');
  for (let solution = 1; solution <= 8; solution++) {
    expect(unhealthy()).toEqual([]);
    const { length } = follower.received;
    expect((await source.submit(mine(await follower.work()), follower.stop)).outcome).toBe('stale');
    await eventually(() => expect(follower.received.length).toBeGreaterThan(length));
  }
  expect(unhealthy()).toMatchObject([{ reason: expect.stringContaining('“no such work”') }]);
});

it('a node that does not know works that New Cuts have ended is healthy, and no New Cut is an outage', async () => {
  const { node, url } = await nodesOf('chainweb')();
  node.ledger.pickChain = () => 3;
  node.server.faults = [{ endpoint: 'solved', kind: 'status', status: 404, text: 'no such work' }];
  const { source, follower, recorder } = followNode(url, { refusedMs: 0, burstMs: 0 });
  await follower.work();
  await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
  for (let block = 1; block <= 9; block++) {
    const work = await follower.work();
    node.ledger.advance(3);
    await eventually(() => expect(follower.of('stale').flatMap(({ works }) => works)).toContain(work));
    expect((await source.submit(mine(work), follower.stop)).outcome).toBe('stale');
  }
  expect(recorder.of('source').filter(({ state }) => state !== 'info' && state !== 'connected')).toEqual([]);
});

describe('after a suspension', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('a request for work that hangs is sent again', async () => {
    const { node, url } = await nodesOf('chainweb')({ streamLimit: 0 });
    let asleepMs = 0;
    const clock = { ...systemClock, nowUs: () => systemClock.nowUs() + BigInt(asleepMs) * 1000n };
    node.server.faults = workFault('hang', { times: 1 });
    const { follower } = followNode(url, {}, {}, { clock });
    await eventually(() => expect(node.server.faults[0].times).toBe(0));
    expect(follower.received).toEqual([]);
    asleepMs = 60_000;
    await vi.advanceTimersByTimeAsync(1_000);
    await follower.work();
  });
});
