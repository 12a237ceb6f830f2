/** Nodes that serve the paths of one dialect alone, at a URL without a path. */

import { describe, expect, it } from 'vitest';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import { examineNode, whyNoWork } from '#pickaxe/rig/survey/examine-node.js';
import { DIALECTS } from '../../../mock-node/node.ts';
import { eventually, Follower, mine } from '../follow.ts';
import { followNode, miner, nodesOf } from './node.ts';

const other = { document: 'chainweb', chainweb: 'document' } as const;
const stop = new AbortController().signal;

describe.each(DIALECTS)('a node of the dialect %s', (dialect) => {
  const [startNode, startOther] = [nodesOf(dialect), nodesOf(other[dialect])];

  it('gives work, announces New Cuts and accepts solutions', async () => {
    const { node, url } = await startNode();
    node.ledger.pickChain = () => 3;
    const { source, follower, recorder } = followNode(url);
    const work = await follower.work();
    await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
    node.ledger.advance(3);
    await eventually(() => expect(follower.received.at(-1)?.height).toBe(work.height + 1n));
    expect((await source.submit(mine(await follower.work()), stop)).outcome).toBe('accepted');
    expect(node.ledger.stats.accepted).toBe(1);
    expect(recorder.of('source').map(({ source, state }) => [source, state])).not.toContainEqual([url, 'lost']);
  });

  it('is mined on again when it was replaced by one of the other dialect', async () => {
    const { node, url } = await startNode();
    const { source, follower } = followNode(url, { pollMs: 50, streamPauses: { firstMs: 20, mostMs: 50 } });
    await follower.work();
    await node.close();
    const second = await startOther({ port: Number(new URL(url).port), seed: 8 });
    await eventually(() => expect(second.node.ledger.stats.workIssued).toBeGreaterThan(0));
    await eventually(() => expect(second.node.server.streams.open).toBeGreaterThan(0));
    await eventually(async () => {
      expect((await source.submit(mine(await follower.work()), stop)).outcome).toBe('accepted');
    });
  });

  it('is found when it was away at first', async () => {
    const { node, url } = await startNode();
    await node.close();
    const { follower } = followNode(url);
    await eventually(() => expect(follower.of('lost')).toHaveLength(1));
    await startNode({ port: Number(new URL(url).port) });
    await follower.work();
  });

  it('takes over from one of the other dialect', async () => {
    const first = await startOther();
    const second = await startNode({ seed: 8 });
    const options = { network: 'development', miner };
    const limits = { fetchPauses: { firstMs: 20, mostMs: 50 }, expiryMs: 100 };
    const sources = [first, second].map(({ url }) => new NodeSource({ ...options, url }, { limits }));
    const source = new FailoverSource({ sources, patienceMs: 100, readyPatienceMs: 100 });
    const follower = new Follower(source);
    try {
      await eventually(async () => expect(source.nameOf(await follower.work())).toBe(first.url));
      await first.node.close();
      const solution = await eventually(async () => {
        const work = await follower.work();
        expect(source.nameOf(work)).toBe(second.url);
        return mine(work);
      });
      expect((await source.submit(solution, stop)).outcome).toBe('accepted');
    } finally {
      await follower.end();
    }
  });

  it('passes an examination', async () => {
    const { url } = await startNode();
    for (const network of ['development', undefined]) {
      const { findings } = await examineNode({ url, network, miner });
      expect(findings.map(({ about, state }) => `${state} ${about}`)).toEqual([
        'ok connection',
        'ok network',
        'ok work',
        'ok updates',
        'ok clock',
      ]);
    }
    expect(await whyNoWork({ url, network: 'development', miner })).toBeUndefined();
  });
});
