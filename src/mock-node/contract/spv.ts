/** Cross-chain proofs: the path from an output to a block of another chain that depends on it. */

import { distance } from '../../ledger/graphs.ts';
import { blockLeaves, HEADER_LEAF } from '../../ledger/header.ts';
import { type MerkleStep, merklePath } from '../../ledger/merkle.ts';
import { outputLeaves } from '../../ledger/payload.ts';
import { encodeSpvProof } from '../../ledger/spv-proof.ts';
import type { Block } from '../ledger/block-store.ts';
import type { Chains } from '../ledger/chains.ts';
import type { FoundOutput } from './outputs.ts';

/** @returns the height that the target chain must have reached for a proof from this block */
export function heightNeeded(chains: Chains, block: Block, target: number): bigint {
  return block.header.height + BigInt(distance(chains.graph, block.header.chain, target));
}

/** @returns the proof; undefined while the target chain is too low */
export function makeProof(chains: Chains, { block, index }: FoundOutput, target: number): string | undefined {
  if (chains.heightOf(target) < heightNeeded(chains, block, target)) return undefined;
  const { payload, header } = block;
  const position = index + 1; // The coinbase comes first.
  const steps: MerkleStep[] = [
    ...merklePath(outputLeaves(payload), position),
    { side: 'left', hash: payload.transactionsHash },
    ...merklePath(blockLeaves(header), HEADER_LEAF.payloadHash),
    ...stepsBetween(chains, block, target),
  ];
  return encodeSpvProof({ targetChain: target, output: payload.outputs[index], position: BigInt(position), steps });
}

/** @returns the steps from a block's hash to the first block on the target chain that depends on it */
function stepsBetween(chains: Chains, block: Block, target: number): MerkleStep[] {
  const { graph } = chains;
  const steps: MerkleStep[] = [];
  let { chain, height } = block.header;
  while (chain !== target) {
    const nearer = graph[chain].find((other) => distance(graph, other, target) < distance(graph, chain, target))!;
    height += 1n;
    const next = chains.blocksOf(nearer).canonical(height)!;
    const leaf = HEADER_LEAF.adjacents + next.header.adjacents.findIndex((adjacent) => adjacent.chain === chain);
    steps.push(...merklePath(blockLeaves(next.header), leaf));
    chain = nearer;
  }
  return steps;
}
