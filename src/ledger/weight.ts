/**
 * Weights: the sums of difficulties by which nodes choose among branches (document 1, "Block header" and "Cut").
 * 256-bit integers.
 */

import { targetToInteger } from '../chain/target.ts';
import type { BlockHeader } from './header.ts';

/** The highest difficulty, and the highest target. */
export const MAX_UINT256 = 2n ** 256n - 1n;

/**
 * @param target 32 bytes, little-endian, not zero
 * @returns what a block with this target adds to the weight of its parent: its difficulty, rounded down
 */
export function blockWeight(target: Uint8Array): bigint {
  return MAX_UINT256 / targetToInteger(target);
}

/** @param parent the block below @param target that of the block itself @returns the weight that its header must say */
export function weightAbove(parent: BlockHeader, target: Uint8Array): bigint {
  return parent.weight + blockWeight(target);
}

/** @param headers one of each chain @returns the weight of a cut of these blocks */
export function cutWeight(headers: readonly BlockHeader[]): bigint {
  return headers.reduce((sum, { weight }) => sum + weight, 0n);
}
