/** Targets and hashes: 32 bytes, read as unsigned 256-bit little-endian integers (document 1, "Mining work bytes"). */

import { TARGET_BYTES } from './bytes.ts';

/** @returns whether `hash <= target`; both are 32 bytes */
export function meetsTarget(hash: Uint8Array, target: Uint8Array): boolean {
  for (let i = TARGET_BYTES - 1; i >= 0; i--) {
    if (hash[i] !== target[i]) return hash[i] < target[i];
  }
  return true;
}

export function targetToInteger(target: Uint8Array): bigint {
  let value = 0n;
  for (let i = TARGET_BYTES - 1; i >= 0; i--) value = (value << 8n) | BigInt(target[i]);
  return value;
}

/** @throws RangeError if the value is negative or does not fit into 256 bits */
export function integerToTarget(value: bigint): Uint8Array {
  if (value < 0n || value >= 1n << 256n) throw new RangeError('a target is an unsigned 256-bit integer');
  return Uint8Array.from({ length: TARGET_BYTES }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}

/** @returns the average number of hashes that a solution takes: 2^256 / (target + 1), rounded */
export function difficultyOf(target: Uint8Array): number {
  // The integer division is scaled by 2^32, so that small difficulties keep their fraction.
  return Number((1n << 288n) / (targetToInteger(target) + 1n)) / 2 ** 32;
}

/**
 * @param difficulty average number of hashes that a solution takes; less than 1 counts as 1
 * @returns the target, 32 bytes, little-endian
 */
export function targetForDifficulty(difficulty: number): Uint8Array {
  const scaled = BigInt(Math.max(1, Math.round(difficulty * 2 ** 16)));
  const target = (1n << 272n) / scaled - 1n;
  const most = (1n << 256n) - 1n;
  return integerToTarget(target > most ? most : target);
}
