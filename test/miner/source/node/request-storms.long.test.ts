/** Nodes that give one reason after another to ask them for work, or for streams: they are asked only so often. */

import { expect, it } from 'vitest';
import { eventually, mine } from '../follow.ts';
import { followNode, nodesOf } from './node.ts';
import { StillClock } from './still-clock.ts';

const startNode = nodesOf('chainweb');

const isTold = ({ reason }: { reason: string }) => /makes this rig fetch work too often/.test(reason);

it('New Cuts without end cause 250 fetches at once, and then 25 a second, which is said once', async () => {
  const { node, url } = await startNode();
  // Each work is outdated as soon as it is given.
  node.ledger.pickChain = () => {
    setImmediate(() => node.ledger.advance(3));
    return 3;
  };
  const clock = new StillClock();
  const { recorder } = followNode(url, { burstMs: 0 }, {}, { clock });
  const { requests } = node.server.stats;
  await eventually(() => expect(recorder.of('source').filter(isTold)).toHaveLength(1));
  expect(requests.work).toBe(250);
  for (let seconds = 1; seconds <= 4; seconds++) {
    clock.ms += 1_000;
    await eventually(() => expect(requests.work).toBe(250 + 25 * seconds));
  }
  expect(recorder.of('source').filter(isTold)).toHaveLength(1);
});

it('accepted solutions each pay for a fetch, so that easy blocks are mined as fast as the node answers', async () => {
  const { node, url } = await startNode({ streamLimit: 0, difficulty: 1 });
  const clock = new StillClock();
  const { source, follower, recorder } = followNode(url, {}, {}, { clock });
  for (let solved = 0; solved < 400; solved++) {
    const work = await follower.work();
    clock.ms += 10;
    expect((await source.submit(mine(work), follower.stop)).outcome).toBe('accepted');
    await eventually(() => expect(follower.received.at(-1)).not.toBe(work));
  }
  expect(recorder.of('source').filter(isTold)).toEqual([]);
  expect(node.server.stats.requests.work).toBeGreaterThan(400);
});
