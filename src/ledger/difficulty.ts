/**
 * How the ledger sets targets. A chain keeps its target for an epoch of 120 blocks, of 30 seconds each if the target is
 * right, and then corrects it by how long the epoch took. A miner never computes a target; this says what the next one
 * will be, and checks headers.
 */

import { integerToTarget, targetToInteger } from '../chain/target.ts';
import { LedgerFormatError } from './errors.ts';
import type { BlockHeader } from './header.ts';
import { MAX_UINT256 } from './weight.ts';

/** How many blocks of a chain an epoch has. The first of them is at a height that is a multiple of it. */
export const EPOCH_BLOCKS = 120n;
/** How long an epoch should take, in microseconds. */
const EPOCH_US = EPOCH_BLOCKS * 30_000_000n;

/**
 * Whose epochs count: those of all parents, on the chain itself and on its neighbours, or that of the chain's own
 * parent. The older rule held on mainnet01 from height 452,820 to 771,413.
 */
export type TargetRule = 'all-parents' | 'own-parent';

/** What a header says about its epoch. */
export interface Epoch {
  /** 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** Microseconds since the UNIX epoch. */
  readonly epochStartUs: bigint;
}

/**
 * @param parent the block below on the same chain
 * @param adjacents the parents on the neighbouring chains, all at the parent's height
 * @returns what the header of the next block must say
 * @throws LedgerFormatError when the older rule meets an epoch that took no time.
 */
export function nextEpoch(
  parent: BlockHeader,
  adjacents: readonly BlockHeader[],
  rule: TargetRule = 'all-parents',
): Epoch {
  if ((parent.height + 1n) % EPOCH_BLOCKS !== 0n) return { target: parent.target, epochStartUs: parent.epochStartUs };
  const target = rule === 'all-parents' ? averageTarget([parent, ...adjacents]) : ownTarget(parent);
  return { target: integerToTarget(target), epochStartUs: parent.creationTimeUs };
}

/** The mean of what each parent's own epoch calls for, rounded down. */
function averageTarget(parents: readonly BlockHeader[]): bigint {
  const sum = parents.reduce((total, parent) => total + correctedTarget(parent), 0n);
  return sum / BigInt(parents.length);
}

/** A target grows as the epoch took longer; it is rounded up, and is at most 2^256 − 1. */
function correctedTarget(parent: BlockHeader): bigint {
  const grown = tookUs(parent) * targetToInteger(parent.target);
  const rounded = (grown + EPOCH_US - 1n) / EPOCH_US;
  return rounded < MAX_UINT256 ? rounded : MAX_UINT256;
}

/**
 * The older rule: the difficulty, (2^256 − 1) / target, is corrected and rounded up, and made a target again, rounded
 * down.
 */
function ownTarget(parent: BlockHeader): bigint {
  const divisor = targetToInteger(parent.target) * tookUs(parent);
  if (divisor <= 0n) throw new LedgerFormatError('The epoch took no time, so the next target cannot be computed');
  const difficulty = (MAX_UINT256 * EPOCH_US + divisor - 1n) / divisor;
  return MAX_UINT256 / difficulty;
}

function tookUs({ creationTimeUs, epochStartUs }: BlockHeader): bigint {
  return creationTimeUs - epochStartUs;
}
