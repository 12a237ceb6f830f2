import { MockNode } from '#pickaxe/mock-node/mock-node.js';
import { FailoverSource } from '#pickaxe/source/failover.js';
import { NodeSource } from '#pickaxe/source/node/node-source.js';
import type { PoolSource } from '#pickaxe/source/pool/pool-source.js';
import { MockPool } from '../../bench/lib/mock-pool.mjs';
import { miner } from '../source/node/node.ts';
import { poolSource } from '../source/pool/pool.ts';
import { type SourceUnderTest, sourceContract } from './source-contract.ts';

const LIMITS = { pollMs: 200, submitAfterStopMs: 200 };

async function behindNodes(
  count: number,
  make: (sources: NodeSource[]) => SourceUnderTest['source'],
): Promise<SourceUnderTest> {
  const nodes = Array.from({ length: count }, (_, i) => new MockNode({ difficulty: 100, seed: i }));
  const addresses = await Promise.all(nodes.map((node) => node.start()));
  const sources = addresses.map(
    ({ url }) => new NodeSource({ url, network: 'development', miner }, { limits: LIMITS }),
  );
  const closeNodes = async () => void (await Promise.all(nodes.map((node) => node.close())));
  return {
    source: make(sources),
    newCut: () => {
      for (const node of nodes)
        for (let chain = 0; chain < node.ledger.settings.chains; chain++) node.ledger.advance(chain);
    },
    fail: closeNodes,
    close: closeNodes,
  };
}

sourceContract('NodeSource', () => behindNodes(1, ([source]) => source));
sourceContract('FailoverSource over one node', () => behindNodes(1, (sources) => new FailoverSource({ sources })));
sourceContract('FailoverSource over two nodes', () =>
  behindNodes(2, (sources) => new FailoverSource({ sources, patienceMs: 100 })),
);

async function behindPools(
  count: number,
  make: (sources: PoolSource[]) => SourceUnderTest['source'],
): Promise<SourceUnderTest> {
  const pools = Array.from({ length: count }, () => new MockPool({ difficulty: 100, shareDifficulty: 100 }));
  const urls = await Promise.all(pools.map((pool) => pool.start()));
  const closePools = async () => void (await Promise.all(pools.map((pool) => pool.close())));
  return {
    source: make(urls.map((url) => poolSource(url))),
    newCut: () => {
      for (const pool of pools) pool.newCut();
    },
    fail: closePools,
    close: closePools,
  };
}

sourceContract('PoolSource', () => behindPools(1, ([source]) => source));
sourceContract('FailoverSource over two pools', () =>
  behindPools(2, (sources) => new FailoverSource({ sources, patienceMs: 100, standbyMs: 100 })),
);
