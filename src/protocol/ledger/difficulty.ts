/**
 * The ledger's rule for targets. An epoch is 120 blocks of a chain, which have the same target. The target of the next
 * epoch is computed from the epoch's duration, so that blocks are 30 seconds apart on average.
 */

import { integerToTarget, targetToInteger } from '../chain/target.ts';
import { chainsAt } from './graphs.ts';
import { type BlockHeader, networkOf } from './header.ts';
import { LedgerFormatError } from './json.ts';

/**
 * Number of blocks of a chain in an epoch, except for early epochs and the first epoch of a new chain. An epoch begins
 * at each height that is a multiple of this number.
 */
const EPOCH_BLOCKS = 120n;
/** Number of blocks in an epoch up to height 120. It is small, because the hash rate of a new network changes fast. */
const EARLY_EPOCH_BLOCKS = 12n;
/** Intended time between two blocks of a chain, in microseconds. */
const BLOCK_US = 30_000_000n;

/**
 * Which epochs determine the next target: those of all parents, or only that of the parent on the same chain. The older
 * rule, `own-parent`, held on mainnet01 from height 452,820 to 771,413, and on testnet04 up to 318,203. The rules of
 * mainnet01 below height 452,820 are not implemented.
 */
export type TargetRule = 'all-parents' | 'own-parent';

interface Epoch {
  /** Target of the epoch's blocks: 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** Time when the epoch begins, in microseconds since the UNIX epoch. */
  readonly epochStartUs: bigint;
}

/**
 * @param adjacents the parents on the neighbouring chains, all at the parent's height
 * @returns the epoch of the block on these parents
 * @throws LedgerFormatError if a new target is computed by `own-parent`, and the duration or the target of the old
 *   epoch is not positive
 * @throws RangeError if a new target is computed by `all-parents`, and the mean of the corrected targets is negative
 */
export function nextEpoch(
  parent: BlockHeader,
  adjacents: readonly BlockHeader[],
  rule: TargetRule = 'all-parents',
): Epoch {
  if ((parent.height + 1n) % epochBlocks(parent) !== 0n) {
    // The first block of a new chain is far older than the second, so the first epoch begins with the second block.
    const epochStartUs = isSecondOfNewChain(parent) ? parent.creationTimeUs : parent.epochStartUs;
    return { target: parent.target, epochStartUs };
  }
  const target = rule === 'all-parents' ? averageTarget([parent, ...adjacents]) : ownTarget(parent);
  return { target: integerToTarget(target), epochStartUs: parent.creationTimeUs };
}

function epochBlocks({ height }: BlockHeader): bigint {
  return height <= EPOCH_BLOCKS ? EARLY_EPOCH_BLOCKS : EPOCH_BLOCKS;
}

function epochUs(parent: BlockHeader): bigint {
  return epochBlocks(parent) * BLOCK_US;
}

/** @returns whether the block is the second of its chain, and the chain's first block is above height 0 */
function isSecondOfNewChain({ version, chain, height }: BlockHeader): boolean {
  const existsAt = (at: bigint) => chain < (chainsAt(networkOf(version), at) ?? Number.POSITIVE_INFINITY);
  return height > 1n && existsAt(height - 1n) && !existsAt(height - 2n);
}

/** @returns the mean, rounded down, of the corrected targets of the parents */
function averageTarget(parents: readonly BlockHeader[]): bigint {
  const sum = parents.reduce((total, parent) => total + correctedTarget(parent), 0n);
  return sum / BigInt(parents.length);
}

/** @returns the parent's target × the epoch's duration / the intended duration, rounded up; at most 2^256 − 1 */
function correctedTarget(parent: BlockHeader): bigint {
  const grown = tookUs(parent) * targetToInteger(parent.target);
  const rounded = (grown + epochUs(parent) - 1n) / epochUs(parent);
  return rounded < MAX_UINT256 ? rounded : MAX_UINT256;
}

/**
 * Corrects the difficulty, (2^256 − 1) / target, by the duration of the parent's epoch, and rounds it up.
 * @returns the target for this difficulty, rounded down
 * @throws LedgerFormatError if the duration or the parent's target is not positive
 */
function ownTarget(parent: BlockHeader): bigint {
  const divisor = targetToInteger(parent.target) * tookUs(parent);
  if (divisor <= 0n) throw new LedgerFormatError('The epoch took no time, so the next target cannot be computed');
  const difficulty = (MAX_UINT256 * epochUs(parent) + divisor - 1n) / divisor;
  return MAX_UINT256 / difficulty;
}

function tookUs({ creationTimeUs, epochStartUs }: BlockHeader): bigint {
  return creationTimeUs - epochStartUs;
}

/* Weights: 256-bit sums of difficulties by which nodes choose among branches (document 1, "Block header" and "Cut"). */

const MAX_UINT256 = 2n ** 256n - 1n;

/** @param target 32 bytes, little-endian @returns the block's difficulty, rounded down */
export function blockWeight(target: Uint8Array): bigint {
  const integer = targetToInteger(target);
  // A false header can have the target 0, which no hash meets.
  return integer === 0n ? MAX_UINT256 : MAX_UINT256 / integer;
}

/** @param target the block's own target, 32 bytes @returns the weight of a block on this parent */
export function weightAbove(parent: BlockHeader, target: Uint8Array): bigint {
  return parent.weight + blockWeight(target);
}

/** @param headers the header of one block of each chain @returns the weight of the cut with these blocks */
export function cutWeight(headers: readonly BlockHeader[]): bigint {
  return headers.reduce((sum, { weight }) => sum + weight, 0n);
}
