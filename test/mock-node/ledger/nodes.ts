/** Chains of several nodes with the same first blocks, without servers, and the exchange of blocks between them. */

import { ChainState } from '#pickaxe/mock-node/execution/chain-state.js';
import { NO_TRANSACTIONS } from '#pickaxe/mock-node/execution/transactions.js';
import type { Block } from '#pickaxe/mock-node/ledger/block-store.js';
import { Chains } from '#pickaxe/mock-node/ledger/chains.js';
import { makeFirstBlocks } from '#pickaxe/mock-node/ledger/first-blocks.js';
import { PayloadMaker } from '#pickaxe/mock-node/ledger/payloads.js';
import { graphFor, type MockNodeOptions, optionsSchema } from '#pickaxe/mock-node/options.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';

export const START_US = 1_700_000_000_000_000n - 30_000_000n;
export const NOW_US = START_US + 30_000_000n;
export const MINER = { account: 'k:a', predicate: 'keys-all', publicKeys: ['a'] };

/** @param seed of the random choices of each node; the first blocks are the same for all */
export function chainsOf(options: MockNodeOptions = {}, seed = 3): Chains {
  const { chains, reward, outputEvents, retargets, firstHeight } = optionsSchema.parse(options);
  const graph = graphFor(chains);
  const target = targetForDifficulty(100);
  const stateOf = () => new ChainState();
  const first = { graph, version: 5, height: BigInt(firstHeight), timeUs: START_US, target, stateOf };
  const random = seededRandom(seed);
  const payloads = new PayloadMaker({ reward, outputEvents, chains }, NO_TRANSACTIONS, random);
  return new Chains({ graph, first: makeFirstBlocks(first, seededRandom(1)), payloads, random, retargets });
}

/** Adds a block to a chain, after the blocks on other chains that it needs. */
export function grow(chains: Chains, chain: number, nowUs = NOW_US): Block {
  const tipUs = chains.tip(chain).header.creationTimeUs;
  for (let behind = chains.laggardOf(chain); behind !== undefined; behind = chains.laggardOf(chain)) {
    chains.addRival(behind, tipUs);
  }
  return chains.addRival(chain, nowUs, MINER);
}

/** Copies all canonical blocks of a node to another one. @returns the heads of the first node */
export function share(from: Chains, to: Chains, nowUs = NOW_US + 60_000_000n): Block[] {
  const blocks = from.graph.flatMap((_, chain) => {
    return [...from.blocksOf(chain).ancestry(from.tip(chain))].filter(({ id }) => !to.blocksOf(chain).get(id));
  });
  blocks.sort((a, b) => Number(a.header.height - b.header.height));
  for (const { bytes, payload } of blocks) to.receive(bytes, payload, nowUs);
  return from.graph.map((_, chain) => to.blocksOf(chain).get(from.tip(chain).id)!);
}
