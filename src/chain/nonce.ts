/**
 * The nonce and the rectangles it is searched in.
 *
 * `nonce = page · 2^48 + counter · 2^16 + lane`, stored little-endian at header 278..286. Seen from the last blake2s
 * block the lane is the high half of message word 5, the counter is word 6 (what kernels run over) and the page is the
 * low half of word 7. Nonces use the whole u64, so they are bigint, never number.
 */

/** Lanes (2^16), counters (2^32) and pages (2^16) that a nonce can name. */
export const LANES = 0x1_0000;
export const COUNTERS = 0x1_0000_0000;
export const PAGES = 0x1_0000;

export interface NonceParts {
  /** 0 … 2^16 − 1: a pool's or fleet's share of the space, random on a lone rig. */
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

/** Nonces in a range: at most 2^48, so a plain number is exact. */
export function sizeOf(range: { readonly pages: number; readonly counters: number }): number {
  return range.pages * range.counters;
}
