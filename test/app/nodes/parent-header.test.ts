import { describe, expect, it } from 'vitest';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { parentHeader } from '#pickaxe/app/nodes/parent-header.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { verify } from '#pickaxe/protocol/chain/verify.js';
import { creationTimeOf, nonceOf, workOfHeader } from '#pickaxe/protocol/chain/work.js';
import { eventually, mine } from '../../miner/source/follow.ts';
import { followNode, nodesOf } from '../../miner/source/node/node.ts';

const never = new AbortController().signal;

const settingsFor = (...urls: string[]) => ({
  node: { ...DEFAULTS.node, urls, network: 'development' },
  ledger: DEFAULTS.ledger,
});

describe.each(['document', 'chainweb'] as const)('the block on which a work builds, of a %s node', (dialect) => {
  const startNode = nodesOf(dialect);

  it('is the one that was found before it, also if only the second node knows it', async () => {
    const { node, url } = await startNode();
    node.ledger.pickChain = () => 3;
    const { source, follower } = followNode(url);
    const first = await follower.work();
    await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
    expect(await source.submit(mine(first), never)).toMatchObject({ outcome: 'accepted' });
    const work = await eventually(() => {
      const next = follower.received.at(-1)!;
      expect(next.height).toBe(first.height + 1n);
      return next;
    });
    const other = await startNode({ seed: 8 });
    for (const urls of [[url], [other.url, url]]) {
      const header = (await parentHeader(settingsFor(...urls), work, never))!;
      const parent = workOfHeader(header);
      expect(parent).toMatchObject({ chain: work.chain, height: first.height });
      expect(verify(prepareJob(parent, creationTimeOf(header)), nonceOf(header)).solution).toBeDefined();
    }
    await node.close();
    expect(await parentHeader(settingsFor(url), work, never)).toBeUndefined();
    expect(await parentHeader(settingsFor(other.url), work, never)).toBeUndefined();
  });
});
