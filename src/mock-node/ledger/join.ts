/**
 * The cut that a node makes of its own and of another node's: the heavier of the two, with the blocks of the other on top that
 * fit, as real nodes do it. Two nodes that do this with each other's cuts end with the same one.
 */

import type { Block } from './block.ts';
import type { BlockStore } from './block-store.ts';

/** What can be looked up of a chain's blocks. */
type Blocks = Pick<BlockStore, 'ancestry'>;

/** @param stores the blocks of each chain @param cuts the heads of all chains, in their order @returns the heads of the new cut */
export function joinCuts(stores: readonly Blocks[], ours: readonly Block[], theirs: readonly Block[]): Block[] {
  const [base, other] = compareCuts(theirs, ours) > 0 ? [theirs, ours] : [ours, theirs];
  const heads = [...base];
  for (const block of blocksAbove(stores, base, other)) {
    const { chain, parent } = block.header;
    const isNext = Buffer.compare(heads[chain].hash, parent) === 0;
    if (isNext && fits(stores, heads, block)) heads[chain] = block;
  }
  return heads;
}

/** Whether these heads are a cut: each builds on blocks below the others, or on the others themselves. */
export function isCut(stores: readonly Blocks[], heads: readonly Block[]): boolean {
  return heads.every((head) => fits(stores, heads, head));
}

/** Whether the block builds on blocks that are on the branches of the other chains' heads. */
function fits(stores: readonly Blocks[], heads: readonly Block[], { header }: Block): boolean {
  return header.adjacents.every(({ chain, hash }) => {
    for (const below of stores[chain].ancestry(heads[chain])) {
      if (below.header.height < header.height) {
        return Buffer.compare(below.hash, hash) === 0;
      }
    }
    return true; // What is below the oldest blocks is not known.
  });
}

/** @returns the blocks of a cut that are above the heads of another, the lowest first */
function blocksAbove(stores: readonly Blocks[], heads: readonly Block[], cut: readonly Block[]): Block[] {
  const found: Block[] = [];
  for (const [chain, head] of cut.entries()) {
    for (const block of stores[chain].ancestry(head)) {
      if (block.header.height <= heads[chain].header.height) break;
      found.push(block);
    }
  }
  return found.sort((a, b) => Number(a.header.height - b.header.height));
}

/** Weight decides; among equals the sum of heights, and then the hashes, so that all nodes decide alike. */
function compareCuts(a: readonly Block[], b: readonly Block[]): number {
  const weight = sum(a, ({ header }) => header.weight) - sum(b, ({ header }) => header.weight);
  const height = sum(a, ({ header }) => header.height) - sum(b, ({ header }) => header.height);
  if (weight !== 0n) return Number(weight > 0n) || -1;
  if (height !== 0n) return Number(height > 0n) || -1;
  return Buffer.compare(hashesOf(a), hashesOf(b));
}

function sum(blocks: readonly Block[], value: (block: Block) => bigint): bigint {
  return blocks.reduce((total, block) => total + value(block), 0n);
}

function hashesOf(blocks: readonly Block[]): Buffer {
  return Buffer.concat(blocks.map(({ hash }) => hash));
}
