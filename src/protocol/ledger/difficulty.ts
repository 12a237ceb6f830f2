/**
 * The ledger's rule for targets. A chain keeps its target for an epoch of 120 blocks, and then corrects it by the
 * duration of the epoch. A block should take 30 seconds.
 */

import { integerToTarget, targetToInteger } from '../chain/target.ts';
import { chainsAt } from './graphs.ts';
import { type BlockHeader, networkOf } from './header.ts';
import { LedgerFormatError } from './json.ts';

/** Number of blocks of a chain in an epoch. Epochs begin at multiples of this height. */
const EPOCH_BLOCKS = 120n;
/** Length of epochs up to height 120, because the hash rate of a new network changes fast. */
const EARLY_EPOCH_BLOCKS = 12n;
/** Intended time between two blocks, in microseconds. */
const BLOCK_US = 30_000_000n;

/**
 * Whose epochs the rule uses: those of all parents, or only that of the parent on the same chain. The second, older
 * rule held on mainnet01 from height 452,820 to 771,413, and on testnet04 up to 318,203. The rules of mainnet01 before
 * that are not implemented.
 */
export type TargetRule = 'all-parents' | 'own-parent';

interface Epoch {
  /** 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** Microseconds since the UNIX epoch. */
  readonly epochStartUs: bigint;
}

/**
 * @param adjacents the parents on the neighbouring chains, all at the parent's height
 * @throws LedgerFormatError if the older rule gets an epoch without duration
 */
export function nextEpoch(
  parent: BlockHeader,
  adjacents: readonly BlockHeader[],
  rule: TargetRule = 'all-parents',
): Epoch {
  if ((parent.height + 1n) % epochBlocks(parent) !== 0n) {
    // The first block of a new chain is far older than the second, so its epoch is measured from the second one.
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

/** Whether the chain's first block is the one below, and not at height 0. */
function isSecondOfNewChain({ version, chain, height }: BlockHeader): boolean {
  const existsAt = (at: bigint) => chain < (chainsAt(networkOf(version), at) ?? Number.POSITIVE_INFINITY);
  return height > 1n && existsAt(height - 1n) && !existsAt(height - 2n);
}

/** The mean of the targets that follow from each parent's own epoch, rounded down. */
function averageTarget(parents: readonly BlockHeader[]): bigint {
  const sum = parents.reduce((total, parent) => total + correctedTarget(parent), 0n);
  return sum / BigInt(parents.length);
}

/** The target grows with the duration of the epoch. It is rounded up, and is at most 2^256 − 1. */
function correctedTarget(parent: BlockHeader): bigint {
  const grown = tookUs(parent) * targetToInteger(parent.target);
  const rounded = (grown + epochUs(parent) - 1n) / epochUs(parent);
  return rounded < MAX_UINT256 ? rounded : MAX_UINT256;
}

/** Corrects the difficulty, (2^256 − 1) / target, and rounds it up. Its target is rounded down. */
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

/** @param target 32 bytes, little-endian, not zero @returns the block's difficulty, rounded down */
export function blockWeight(target: Uint8Array): bigint {
  return MAX_UINT256 / targetToInteger(target);
}

/** @param target of the block itself */
export function weightAbove(parent: BlockHeader, target: Uint8Array): bigint {
  return parent.weight + blockWeight(target);
}

/** @param headers one of each chain */
export function cutWeight(headers: readonly BlockHeader[]): bigint {
  return headers.reduce((sum, { weight }) => sum + weight, 0n);
}
