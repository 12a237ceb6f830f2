/** When a node counts as one that answers. The clock is the test's. */

import { expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import { eventually, type Follower } from '../follow.ts';
import { followNode, nodesOf } from './node.ts';

const startNode = nodesOf('chainweb');
/** So short that the clock is never moved by as much as a suspension of the machine would. */
const PROBE_MS = 1_000;

async function setUp() {
  let passedMs = 0;
  const clock = { ...systemClock, monotonicMs: () => passedMs };
  const { node, url } = await startNode();
  node.ledger.pickChain = () => 3;
  // It is asked for nothing by itself.
  const { source, follower } = followNode(
    url,
    { probeTimeoutMs: PROBE_MS, refreshMs: 1e9, pollMs: 1e9 },
    {},
    { clock },
  );
  await follower.work();
  await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
  await eventually(() => expect(node.server.stats.requests.work).toBe(2));
  await follower.work();
  const pass = (ms: number) => {
    passedMs += ms;
  };
  return { node, source, follower, pass };
}

/** An idle connection that breaks says nothing, so that a node that has gone may be asked twice. */
const saysNo = async (source: NodeSource, { stop }: Follower) => expect(await source.answers(stop)).toBe(false);

it('a node that has answered lately is not asked, and one that has gone is asked and does not answer', async () => {
  const { node, source, follower, pass } = await setUp();
  await node.close();
  pass(PROBE_MS - 1);
  expect(await source.answers(follower.stop)).toBe(true);
  pass(1);
  await eventually(() => saysNo(source, follower));
});

it('a node that is asked and answers is not asked again for a while', async () => {
  const { node, source, follower, pass } = await setUp();
  pass(PROBE_MS);
  expect(await source.answers(follower.stop)).toBe(true);
  await node.close();
  pass(PROBE_MS - 1);
  expect(await source.answers(follower.stop)).toBe(true);
  pass(1);
  await eventually(() => saysNo(source, follower));
});

it('a New Cut is an answer', async () => {
  const { node, source, follower, pass } = await setUp();
  const { height } = await follower.work();
  pass(PROBE_MS);
  node.server.faults = [{ endpoint: 'work', kind: 'hang' }];
  node.ledger.advance(3);
  await eventually(() => expect(follower.of('stale')).toHaveLength(1));
  expect(follower.received.at(-1)?.height).toBe(height);
  await node.close();
  pass(PROBE_MS - 1);
  expect(await source.answers(follower.stop)).toBe(true);
  pass(1);
  await eventually(() => saysNo(source, follower));
});

it('a rig that stops says nothing against a node', async () => {
  const { node, source, pass } = await setUp();
  await node.close();
  pass(PROBE_MS);
  expect(await source.answers(AbortSignal.abort())).toBe(true);
});
