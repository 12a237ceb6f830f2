/** A stream that sends everything at its end, with the real pauses. */

import { expect, it } from 'vitest';
import type { FaultInput } from '#pickaxe/mock-node/server/faults.js';
import type { NodeLimits } from '#pickaxe/node/http/request-limits.js';
import { eventually } from '../follow.ts';
import { followNode, nodesOf } from './node.ts';

const startNode = nodesOf('document');

/** Limits that are a few milliseconds instead of seconds. */
const QUICK: Partial<NodeLimits> = { refreshMs: 200, pollMs: 50, newCutGraceMs: 100, steadyStreamMs: 150 };

const onUpdates = (kind: FaultInput['kind'], more: Partial<FaultInput> = {}): FaultInput[] => [
  { endpoint: 'updates', kind, ...more },
];

async function deaf(faults: FaultInput[], options = {}, limits: Partial<NodeLimits> = QUICK) {
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

it('a stream that sends everything at its end is not trusted because of that', async () => {
  // On a machine that is busy the end of a stream can be read some time after what it has told.
  const limits = { ...QUICK, steadyStreamMs: 1_000 };
  const { node, recorder, advanced } = await deaf(onUpdates('buffered-stream'), { streamMs: 1_500 }, limits);
  await advanced();
  await eventually(() => expect(recorder.of('missed-cut')).toHaveLength(1));
  const { updates } = node.server.stats.requests;
  await eventually(() => {
    node.ledger.advance(3);
    expect(node.server.stats.requests.updates).toBeGreaterThan(updates + 2);
  });
  const since = recorder.all.findIndex(({ type }) => type === 'missed-cut');
  const told = recorder.all.slice(since).flatMap((event) => (event.type === 'polling' ? [event.chains] : []));
  expect(told).toEqual([[{ chain: 3, reason: 'missed-block' }]]);
});
