/**
 * The nonce, and the rectangles of nonces that are searched.
 *
 * `nonce = page · 2^48 + counter · step · 2^16 + lane`, stored as a little-endian u64 in header bytes 278..286. In the
 * last blake2s block, the low two bytes of the lane are the high half of message word 5, and the page is the low half
 * of word 7. Word 6 is `counter · step` plus the lane's higher bytes, if it has any. A lane has two bytes and the step
 * is 1, unless the source of the work, such as a pool, fixes three or four bytes of the nonce. Then a lane has three or
 * four bytes, and the step is 256 or 65,536. A nonce can have any value of a u64, so it is a bigint and never a number.
 */

/** Number of lanes, number of counters on a page of a lane, and number of pages, for a step of 1. */
export const LANES = 0x1_0000;
export const COUNTERS = 0x1_0000_0000;
export const PAGES = 0x1_0000;

/** The possible steps. Message word 6 grows by the step from one counter to the next. */
export const STEPS = [1, 0x100, 0x1_0000] as const;

/** @returns the number of lanes for this step */
export function lanesAt(step: number): number {
  return LANES * step;
}

/** @returns the number of counters on a page of a lane for this step */
export function countersAt(step: number): number {
  return COUNTERS / step;
}

/** Maximum length of nonce1, in bytes. A longer nonce1 would leave too few counters to the miner. */
export const MOST_NONCE1_BYTES = 4;

/**
 * The low bytes of the nonce. The source of the work, such as a pool, assigns them to a miner, so that no two miners
 * search the same nonces.
 */
export interface Nonce1 {
  /** The assigned bytes as an integer: 0 … 2^(8 · bytes) − 1. */
  readonly value: number;
  /** Number of assigned bytes. */
  readonly bytes: 0 | 1 | 2 | 3 | 4;
}

/** A nonce1 without bytes: all nonces may be searched. */
export const NO_NONCE1: Nonce1 = { value: 0, bytes: 0 };

const NONCES = 2n ** 64n;

/** @returns whether the nonce is in 0 … 2^64 − 1, and its low bytes are nonce1 */
export function isNonceWithin({ value, bytes }: Nonce1, nonce: bigint): boolean {
  return nonce >= 0n && nonce < NONCES && nonce % 256n ** BigInt(bytes) === BigInt(value);
}

/** The set of all nonces with the same low bytes. */
export interface Lane {
  /**
   * The low bytes as an integer: 0 … 2^16 · step − 1. The source of the work can assign some or all of them (`Nonce1`).
   * By default, a miner chooses the other bytes at random.
   */
  readonly lane: number;
  /** One of `STEPS`: 1, 256 or 65,536. */
  readonly step: number;
}

/** @returns the step that a nonce1 of this length needs */
export function stepFor({ bytes }: Nonce1): number {
  return STEPS[Math.max(0, bytes - 2)];
}

/**
 * @param lane a lane of two bytes. If nonce1 has fewer than two bytes, the result has the higher bytes of this lane
 * @returns the lane whose low bytes are nonce1
 */
export function laneWithin(nonce1: Nonce1, lane: number): Lane {
  const { value, bytes } = nonce1;
  const low = 2 ** (8 * bytes);
  return { lane: low < LANES ? lane - (lane % low) + value : value, step: stepFor(nonce1) };
}

export interface NonceParts extends Lane {
  /** Number of the counter: 0 … 2^32 / step − 1. */
  readonly counter: number;
  /** Number of the page: 0 … 2^16 − 1. */
  readonly page: number;
}

/** @returns word 6 of the last message block of blake2s */
export function word6Of({ lane, step, counter }: Omit<NonceParts, 'page'>): number {
  return counter * step + Math.floor(lane / LANES);
}

export function joinNonce({ lane, step, counter, page }: NonceParts): bigint {
  return (BigInt(page) << 48n) | (BigInt(counter * step) << 16n) | BigInt(lane);
}

/** @param nonce 0 … 2^64 − 1 */
export function splitNonce(nonce: bigint, step: number = 1): NonceParts {
  const lanes = BigInt(lanesAt(step));
  return {
    lane: Number(nonce % lanes),
    step,
    counter: Number((nonce / lanes) % BigInt(countersAt(step))),
    page: Number(nonce >> 48n),
  };
}

/** A rectangle of nonces in one lane: counters `[counter, counter + counters)` on pages `[page, page + pages)`. */
export interface Range extends Lane {
  readonly page: number;
  readonly pages: number;
  readonly counter: number;
  readonly counters: number;
}

/** @returns the number of nonces in the range. It is at most 2^48, so a number represents it exactly */
export function sizeOf(range: { readonly pages: number; readonly counters: number }): number {
  return range.pages * range.counters;
}
