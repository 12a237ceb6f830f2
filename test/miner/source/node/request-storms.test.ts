/** Nodes that give one reason after another to ask them for work, or for streams: they are asked only so often. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../follow.ts';
import { followNode, nodesOf } from './node.ts';
import { Stage } from './node-stage.ts';
import { StillClock } from './still-clock.ts';

const startNode = nodesOf('chainweb');

describe('a node that gives work on 20 chains in turn', () => {
  it.each([3, 10])('and no more than %i streams is polled, and not asked for other streams', async (streamLimit) => {
    const { node, url } = await startNode({ streamLimit });
    let next = 0;
    node.ledger.pickChain = () => next++ % 20;
    const { recorder } = followNode(url, { refreshMs: 30, pollMs: 30 });
    const { stats, streams } = node.server;
    await eventually(() => expect(stats.requests.work).toBeGreaterThan(60));
    expect(streams.open).toBe(streamLimit);
    // One more was asked for and refused. A slow machine asks for it again after a pause, but not with each work.
    expect(stats.requests.updates).toBeLessThan(streamLimit + stats.requests.work / 4);
    const told = recorder.of('source').filter(({ reason }) => reason.includes('no update stream'));
    expect(told).toHaveLength(1);
    expect(told[0].reason).toMatch(/Other chains have one/);
  });

  it('and refuses streams and work now and then is asked for no more', async () => {
    const { node, url } = await startNode({ streamLimit: 3 });
    let next = 0;
    node.ledger.pickChain = () => next++ % 20;
    node.server.faults = [{ endpoint: 'work', kind: 'status', status: 429, probability: 0.3 }];
    followNode(url, { refreshMs: 30, pollMs: 30 });
    const { requests } = node.server.stats;
    await eventually(() => expect(requests.work).toBeGreaterThan(60));
    expect(requests.updates).toBeLessThan(3 + requests.work / 4);
  });
});

it('streams that fail again and again are 60 at once, and then 5 a second', async () => {
  const { node, url } = await startNode();
  let next = 0;
  node.ledger.pickChain = () => next++ % 20;
  node.server.faults = [{ endpoint: 'updates', kind: 'end-stream' }];
  const clock = new StillClock();
  followNode(url, { streamPauses: { firstMs: 1, mostMs: 10 }, pollMs: 10 }, {}, { clock });
  const { requests } = node.server.stats;
  await eventually(() => expect(requests.updates).toBe(60));
  for (let seconds = 1; seconds <= 3; seconds++) {
    clock.ms += 1_000;
    await eventually(() => expect(requests.updates).toBe(60 + 5 * seconds));
  }
});

it('solutions that a node does not take cause 250 fetches at once, and the next one a 25th of a second later', async () => {
  const stage = new Stage('chainweb');
  onTestFinished(() => stage.end());
  await stage.pass(0);
  let fetches = 0;
  while (stage.isAsked('work')) {
    const name = fetches++ % 2 === 0 ? 'A' : 'B';
    await stage.give(name);
    stage.submit(name);
    await stage.pass(0);
    stage.answer('solved', { status: 404 });
    await stage.pass(0);
  }
  expect(fetches).toBe(250);
  await stage.pass(41);
  expect(stage.isAsked('work')).toBe(true);
});
