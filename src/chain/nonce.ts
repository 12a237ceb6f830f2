/**
 * The nonce, and the rectangles of nonces that are searched.
 *
 * `nonce = page · 2^48 + counter · 2^16 + lane`, stored as a little-endian u64 in header bytes 278..286. In the last
 * blake2s block the lane is the high half of message word 5, the counter is word 6 and the page is the low half of word
 * 7. A nonce can have any value of a u64, so it is a bigint and never a number.
 */

export const LANES = 0x1_0000;
export const COUNTERS = 0x1_0000_0000;
export const PAGES = 0x1_0000;

/**
 * The low bytes of the nonce, which a pool assigns to a miner so that no two miners search the same nonces: no byte,
 * the low byte of the lane, or the whole lane.
 */
export interface Nonce1 {
  /** 0 … 2^(8 · bytes) − 1 */
  readonly value: number;
  readonly bytes: 0 | 1 | 2;
}

/** All nonces may be searched. */
export const NO_NONCE1: Nonce1 = { value: 0, bytes: 0 };

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

/** @returns the number of nonces in the range: at most 2^48, so a number holds it exactly */
export function sizeOf(range: { readonly pages: number; readonly counters: number }): number {
  return range.pages * range.counters;
}
