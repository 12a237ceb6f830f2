/**
 * A challenge: a header, a fixed set of nonces and an easy target, all from a seed. Whoever searches every nonce finds
 * the same candidates, on whatever device; whoever leaves nonces out misses some of them.
 */

import { blake2s } from '@noble/hashes/blake2.js';
import { viewOf } from '../chain/bytes.ts';
import { type Job, prepareJob } from '../chain/job.ts';
import { HEADER_BYTES, WORK_BYTES, WORK_OFFSET } from '../chain/layout.ts';
import { COUNTERS, PAGES, type Range, splitNonce } from '../chain/nonce.ts';
import { targetForDifficulty } from '../chain/target.ts';
import { parseWork } from '../chain/work.ts';

export const DEFAULT_SEED = 'pickaxe';
/** A slow CPU is through in seconds, a fast GPU in some hundredths of one. */
export const DEFAULT_COUNT = 2 ** 27;
/** With fewer, more than every sixteenth nonce would have to be a candidate. */
export const LEAST_COUNT = 2 ** 16;
/** A minute of today's fastest GPU; 2^29 counters on each of 2^11 pages. */
export const MOST_COUNT = 2 ** 40;
export const MOST_SEED_CHARACTERS = 64;

/** Candidates to be expected: skipping one nonce in a thousand goes unseen in one case of sixty, e^-4.096. */
export const EXPECTED_CANDIDATES = 4_096;
/** Standard deviation of their number: they fall like rain (Poisson). */
export const CANDIDATES_DEVIATION = Math.sqrt(EXPECTED_CANDIDATES);

const BLOCK_BYTES = 32;
/** Numbers of the blocks that are drawn from a seed: the header's from 0 on, and one that says where the nonces lie. */
const PLACE_BLOCK = 255;

export interface Challenge {
  readonly seed: string;
  /** Nonces of it. */
  readonly count: number;
  readonly job: Job;
  /** The nonces: a rectangle, and the rest of the count on its first page. */
  readonly ranges: readonly [Range, ...Range[]];
}

/**
 * @param seed 1 to 64 characters, none of them a control character
 * @param count 2^16 to 2^40 nonces
 * @throws RangeError that says what is wrong with either.
 */
export function makeChallenge(seed: string, count: number): Challenge {
  if (!isSeed(seed)) throw new RangeError(`a seed is 1 to ${MOST_SEED_CHARACTERS} characters that can be printed`);
  if (!Number.isInteger(count) || count < LEAST_COUNT || count > MOST_COUNT) {
    throw new RangeError(`the hash sum is of ${LEAST_COUNT} to ${MOST_COUNT} nonces, not ${count}`);
  }
  const record = new Uint8Array(WORK_BYTES);
  record.set(targetForDifficulty(count / EXPECTED_CANDIDATES), WORK_OFFSET.target);
  record.set(headerFrom(seed), WORK_OFFSET.header);
  const work = parseWork(record, { id: 'bench', rollTime: false, until: 'replaced' });
  return { seed, count, job: prepareJob(work), ranges: placed(seed, count) };
}

export function isSeed(text: string): boolean {
  return text.length > 0 && text.length <= MOST_SEED_CHARACTERS && !/\p{C}/u.test(text);
}

/** Whether a nonce is one of the challenge's. */
export function isOf({ ranges }: Challenge, nonce: bigint): boolean {
  const { lane, page, counter } = splitNonce(nonce);
  return ranges.some(
    (range) =>
      lane === range.lane &&
      page >= range.page &&
      page < range.page + range.pages &&
      counter >= range.counter &&
      counter < range.counter + range.counters,
  );
}

/** blake2s-256 of the block's number (1 byte) and the seed (UTF-8). */
function blockOf(seed: string, number: number): Uint8Array {
  const bytes = new TextEncoder().encode(seed);
  const message = new Uint8Array(1 + bytes.length);
  message[0] = number;
  message.set(bytes, 1);
  return blake2s(message, { dkLen: BLOCK_BYTES });
}

/** 286 bytes: blocks 0 to 8, one after the other, cut off at the end. */
function headerFrom(seed: string): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  for (let done = 0; done < HEADER_BYTES; done += BLOCK_BYTES) {
    header.set(blockOf(seed, done / BLOCK_BYTES).subarray(0, HEADER_BYTES - done), done);
  }
  return header;
}

/**
 * Pages of the rectangle: 2^(2/7 of the count's bits), so 128 of 2^27 nonces. High enough for the batches of CPUs, which
 * search few counters of many pages, and wide enough for those of GPUs, which search many counters of one page. Only good
 * enough.
 */
function pagesFor(count: number): number {
  const bits = count.toString(2).length - 1;
  return 2 ** Math.floor((2 * bits) / 7);
}

/** Anywhere in the whole space: block 255 has the lane (u16), the page (u16) and the counter (u32), little-endian. */
function placed(seed: string, count: number): [Range, ...Range[]] {
  const view = viewOf(blockOf(seed, PLACE_BLOCK));
  const pages = pagesFor(count);
  const counters = Math.floor(count / pages);
  const rest = count % pages;
  const lane = view.getUint16(0, true);
  const page = view.getUint16(2, true) % (PAGES - pages + 1);
  const counter = view.getUint32(4, true) % (COUNTERS - counters - rest + 1);
  const block = { lane, page, pages, counter, counters };
  if (rest === 0) return [block];
  return [block, { lane, page, pages: 1, counter: counter + counters, counters: rest }];
}
