/** A node whose update streams have faults, and a source on it whose limits are short. */

import { expect } from 'vitest';
import type { FaultInput } from '#pickaxe/mock-node/server/faults.js';
import type { NodeLimits } from '#pickaxe/node/http/request-limits.js';
import { eventually } from '../follow.ts';
import { followNode, nodesOf } from './node.ts';

const startNode = nodesOf('document');

/** Limits that are a few milliseconds instead of seconds. */
export const QUICK: Partial<NodeLimits> = { refreshMs: 200, pollMs: 50, newCutGraceMs: 100, steadyStreamMs: 150 };

export const onUpdates = (kind: FaultInput['kind'], more: Partial<FaultInput> = {}): FaultInput[] => [
  { endpoint: 'updates', kind, ...more },
];

export async function deaf(
  faults: FaultInput[],
  options: Parameters<typeof startNode>[0] = {},
  limits: Partial<NodeLimits> = QUICK,
) {
  const { node, url } = await startNode(options);
  node.ledger.pickChain = () => 3;
  node.server.faults = faults;
  const followed = followNode(url, limits);
  await followed.follower.work();
  await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
  const { recorder } = followed;
  const polled = () => recorder.of('polling').map(({ chains }) => chains);
  /** Adds a block that the stream should announce, after a fetch that shows the state before it. */
  const advanced = async () => {
    const { work } = node.server.stats.requests;
    await eventually(() => expect(node.server.stats.requests.work).toBeGreaterThan(work + 1));
    node.ledger.advance(3);
  };
  return { node, ...followed, polled, advanced };
}
