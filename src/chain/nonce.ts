/**
 * The nonce, and the rectangles of nonces that are searched.
 *
 * `nonce = page · 2^48 + counter · 2^16 + lane`, stored as a little-endian u64 in header bytes 278..286. In the last
 * blake2s block the lane is the high half of message word 5, the counter is word 6 and the page is the low half of word
 * 7. A nonce can have any value of a u64, so it is a bigint and never a number.
 */

import { TARGET_BYTES } from './bytes.ts';

/** How many lanes (2^16), counters (2^32) and pages (2^16) there are. */
export const LANES = 0x1_0000;
export const COUNTERS = 0x1_0000_0000;
export const PAGES = 0x1_0000;

/**
 * The low bytes of the nonce, which a pool assigns to a miner so that no two miners search the same nonces: none, the
 * low byte of the lane, or the whole lane.
 */
export interface Nonce1 {
  /** 0 … 2^(8 · bytes) − 1 */
  readonly value: number;
  readonly bytes: 0 | 1 | 2;
}

/** All nonces may be searched. */
export const NO_NONCE1: Nonce1 = { value: 0, bytes: 0 };

/** How many nonces there are. */
const NONCES = 2n ** 64n;

/** @returns whether it is a nonce (0 … 2^64 − 1) whose low bytes are nonce1 */
export function isNonceWithin({ value, bytes }: Nonce1, nonce: bigint): boolean {
  return nonce >= 0n && nonce < NONCES && nonce % 256n ** BigInt(bytes) === BigInt(value);
}

/** @returns the lane with its low bytes replaced by nonce1 */
export function laneWithin({ value, bytes }: Nonce1, lane: number): number {
  const mask = 2 ** (8 * bytes) - 1;
  return (lane & ~mask) | value;
}

export interface NonceParts {
  /** 0 … 2^16 − 1. A pool can assign lanes to miners (`Nonce1`); a rig by itself chooses a random one. */
  readonly lane: number;
  /** 0 … 2^32 − 1 */
  readonly counter: number;
  /** 0 … 2^16 − 1 */
  readonly page: number;
}

export function joinNonce({ lane, counter, page }: NonceParts): bigint {
  return (BigInt(page) << 48n) | (BigInt(counter) << 16n) | BigInt(lane);
}

/** @param nonce 0 … 2^64 − 1 */
export function splitNonce(nonce: bigint): NonceParts {
  return {
    lane: Number(nonce & 0xffffn),
    counter: Number((nonce >> 16n) & 0xffff_ffffn),
    page: Number(nonce >> 48n),
  };
}

/** A rectangle of nonces of one lane: counters `[counter, counter + counters)` on pages `[page, page + pages)`. */
export interface Range {
  readonly lane: number;
  readonly page: number;
  readonly pages: number;
  readonly counter: number;
  readonly counters: number;
}

/** @returns how many nonces the range has: at most 2^48, so a number holds it exactly */
export function sizeOf(range: { readonly pages: number; readonly counters: number }): number {
  return range.pages * range.counters;
}

/* Targets and hashes: 32 bytes, read as unsigned 256-bit little-endian integers (document 1, "Mining work bytes"). */

/** Whether `hash <= target`. Both are 32 bytes. */
export function meetsTarget(hash: Uint8Array, target: Uint8Array): boolean {
  for (let i = TARGET_BYTES - 1; i >= 0; i--) {
    if (hash[i] !== target[i]) return hash[i] < target[i];
  }
  return true;
}

/** @param target 32 bytes, little-endian */
export function targetToInteger(target: Uint8Array): bigint {
  let value = 0n;
  for (let i = TARGET_BYTES - 1; i >= 0; i--) value = (value << 8n) | BigInt(target[i]);
  return value;
}

/**
 * @returns 32 bytes, little-endian
 * @throws RangeError when the value is negative or does not fit in 256 bits.
 */
export function integerToTarget(value: bigint): Uint8Array {
  if (value < 0n || value >= 1n << 256n) throw new RangeError('a target is an unsigned 256-bit integer');
  return Uint8Array.from({ length: TARGET_BYTES }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}

/**
 * @returns the number of hashes that a solution needs on average, 2^256 / (target + 1), rounded to a number's precision
 */
export function difficultyOf(target: Uint8Array): number {
  // Scaled by 2^32 so that targets near the top keep their fraction.
  return Number((1n << 288n) / (targetToInteger(target) + 1n)) / 2 ** 32;
}

/** @returns the target, 32 bytes, at which a solution needs `difficulty` hashes on average; less than 1 counts as 1 */
export function targetForDifficulty(difficulty: number): Uint8Array {
  const scaled = BigInt(Math.max(1, Math.round(difficulty * 2 ** 16)));
  const target = (1n << 272n) / scaled - 1n;
  const most = (1n << 256n) - 1n;
  return integerToTarget(target > most ? most : target);
}
