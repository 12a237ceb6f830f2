/** Cuts of the mock ledger: the heads of all chains, now or some blocks ago. */

import { createHash } from 'node:crypto';
import { type Cut, type Peer, sumOfHeights } from '../../ledger/cut.ts';
import { cutWeight } from '../../ledger/difficulty.ts';
import { encodeBase64url } from '../../ledger/json.ts';
import type { Block } from './block-store.ts';
import type { Chains } from './chains.ts';

interface CutRequest {
  readonly origin: Peer | null;
  readonly network: string;
  /** How many blocks of each chain are left out, as far as there are so many. */
  readonly blocksBack: number;
}

export function cutOf(chains: Chains, { origin, network, blocksBack }: CutRequest): Cut {
  const blocks = chains.graph.map((_, chain) => headOf(chains, chain, BigInt(blocksBack)));
  const heads = new Map(blocks.map(({ header, hash }) => [header.chain, { height: header.height, hash }] as const));
  const cut = { origin, heads, network, id: idOf(blocks), weight: cutWeight(blocks.map(({ header }) => header)) };
  return { ...cut, height: sumOfHeights({ ...cut, height: 0n }) };
}

/**
 * A cut of about a height: every chain has lost as many blocks, so that the sum of the heights is at most the asked
 * one, unless the oldest blocks are above it.
 */
export function blocksAbove(chains: Chains, maxHeight: bigint): number {
  const sum = chains.graph.reduce((total, _, chain) => total + chains.heightOf(chain), 0n);
  if (sum <= maxHeight) return 0;
  const count = BigInt(chains.graph.length);
  return Number((sum - maxHeight + count - 1n) / count);
}

function headOf(chains: Chains, chain: number, blocksBack: bigint): Block {
  const store = chains.blocksOf(chain);
  const height = store.tip.header.height - blocksBack;
  return store.canonical(height > store.lowest ? height : store.lowest)!;
}

/** The meaning of a cut's id is up to the node. */
function idOf(blocks: readonly Block[]): string {
  const hash = createHash('sha512-256');
  for (const block of blocks) hash.update(block.hash);
  return encodeBase64url(hash.digest());
}
