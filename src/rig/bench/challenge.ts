/**
 * A challenge: a header, a set of nonces and an easy target, which follow from a seed and a number of nonces. All
 * devices that search every nonce find the same candidates. A device that skips nonces probably misses some candidates.
 */

import { blake2s } from '@noble/hashes/blake2.js';
import { DeviceError, type Engine, type SearchReport } from '../../miner/engine/engine.ts';
import { Space } from '../../miner/loop/space.ts';
import { HEADER_BYTES, NONCE_BYTES, toHex, viewOf, WORK_BYTES, WORK_OFFSET } from '../../protocol/chain/bytes.ts';
import { type Job, prepareJob } from '../../protocol/chain/job.ts';
import { COUNTERS, PAGES, type Range, splitNonce } from '../../protocol/chain/nonce.ts';
import { targetForDifficulty } from '../../protocol/chain/target.ts';
import { verify } from '../../protocol/chain/verify.ts';
import { parseWork } from '../../protocol/chain/work.ts';

export const DEFAULT_SEED = 'pickaxe';
/** Default number of nonces. A slow CPU searches them in seconds, a fast GPU in hundredths of a second. */
export const DEFAULT_COUNT = 2 ** 27;
/** Minimum number of nonces. With fewer, more than one nonce in sixteen would have to be a candidate. */
export const LEAST_COUNT = 2 ** 16;
/** Maximum number of nonces: 2^29 counters on each of 2^11 pages. A fast GPU searches them in minutes. */
export const MOST_COUNT = 2 ** 40;
const MOST_SEED_CHARACTERS = 64;

/**
 * Expected number of candidates. A device that skips one nonce in a thousand misses about four candidates. In one of
 * sixty cases (e^-4.096) it misses none, so that the skipped nonces are not detected.
 */
export const EXPECTED_CANDIDATES = 4_096;
/** Standard deviation of the number of candidates. This number has a Poisson distribution. */
export const CANDIDATES_DEVIATION = Math.sqrt(EXPECTED_CANDIDATES);

const BLOCK_BYTES = 32;
/**
 * Number of the hash block (see `blockOf`) that determines the place of the nonces. Blocks 0 to 8 make the header.
 */
const PLACE_BLOCK = 255;

export interface Challenge {
  readonly seed: string;
  /** Number of nonces. */
  readonly count: number;
  readonly job: Job;
  /**
   * A rectangle of pages and counters. If `count` is not a multiple of the number of pages, a second range, on the
   * rectangle's first page, has the remaining nonces.
   */
  readonly ranges: readonly [Range, ...Range[]];
}

/**
 * @param seed 1 to 64 characters that can be printed (none of the Unicode category C)
 * @param count number of nonces, 2^16 to 2^40
 * @throws RangeError when the seed or the count is not valid
 */
export function makeChallenge(seed: string, count: number): Challenge {
  if (!isSeed(seed)) throw new RangeError(`a seed is 1 to ${MOST_SEED_CHARACTERS} characters that can be printed`);
  if (!Number.isInteger(count) || count < LEAST_COUNT || count > MOST_COUNT) {
    throw new RangeError(`the hash sum is of ${LEAST_COUNT} to ${MOST_COUNT} nonces, not ${count}`);
  }
  const record = new Uint8Array(WORK_BYTES);
  record.set(targetForDifficulty(count / EXPECTED_CANDIDATES), WORK_OFFSET.target);
  record.set(headerFrom(seed), WORK_OFFSET.header);
  const work = parseWork(record, { rollTime: false, until: 'replaced' });
  return { seed, count, job: prepareJob(work), ranges: placed(seed, count) };
}

export function isSeed(text: string): boolean {
  return text.length > 0 && text.length <= MOST_SEED_CHARACTERS && !/\p{C}/u.test(text);
}

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

/** @returns the hash block with this number, 32 bytes: blake2s-256 of the number (1 byte) and then the seed (UTF-8) */
function blockOf(seed: string, number: number): Uint8Array {
  const bytes = new TextEncoder().encode(seed);
  const message = new Uint8Array(1 + bytes.length);
  message[0] = number;
  message.set(bytes, 1);
  return blake2s(message, { dkLen: BLOCK_BYTES });
}

/** @returns the header, 286 bytes: the hash blocks 0 to 8, one after the other, of which the last is cut off */
function headerFrom(seed: string): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  for (let done = 0; done < HEADER_BYTES; done += BLOCK_BYTES) {
    header.set(blockOf(seed, done / BLOCK_BYTES).subarray(0, HEADER_BYTES - done), done);
  }
  return header;
}

/**
 * @returns the number of pages of the rectangle: for b = ⌊log2(count)⌋, it is 2^⌊2b/7⌋, such as 128 for 2^27 nonces. So
 *   there are enough pages for CPUs, which search few counters of many pages, and enough counters for GPUs, which
 *   search many counters of one page
 */
function pagesFor(count: number): number {
  const bits = count.toString(2).length - 1;
  return 2 ** Math.floor((2 * bits) / 7);
}

/**
 * Places the nonces by the first bytes of hash block 255: lane (u16), page (u16) and counter (u32), little-endian. Page
 * and counter are taken modulo a number, so that no range goes beyond the last page or the last counter.
 */
function placed(seed: string, count: number): [Range, ...Range[]] {
  const view = viewOf(blockOf(seed, PLACE_BLOCK));
  const pages = pagesFor(count);
  const counters = Math.floor(count / pages);
  const rest = count % pages;
  const lane = view.getUint16(0, true);
  const page = view.getUint16(2, true) % (PAGES - pages + 1);
  const counter = view.getUint32(4, true) % (COUNTERS - counters - rest + 1);
  const block = { lane, step: 1, page, pages, counter, counters };
  if (rest === 0) return [block];
  return [block, { ...block, pages: 1, counter: counter + counters, counters: rest }];
}

/* The candidates that one device reports for a challenge, and their hash sum. */

/** Length of a hash sum: short enough for comparing by eye, long enough that two are not equal by chance. */
const SUM_BYTES = 8;
const HASH_BYTES = 32;

/** The right hash sum for the default seed and count, computed with OpenSSL's blake2s. */
const KNOWN_SUM = '2b333d3b27f3a450';

/**
 * Maximum deviation from the expected number of candidates, in standard deviations. By chance, one of two million
 * searches exceeds it.
 */
const MOST_DEVIATIONS = 5;

export class CheckedCandidates {
  readonly challenge: Challenge;
  /** Number of nonces that the device has reported as searched. */
  hashes = 0;
  /** Number of candidates that miss the target, were reported before, or do not belong to the challenge. */
  wrong = 0;
  /** The right candidates: PoW hashes (32 bytes, little-endian) by nonce. */
  readonly found = new Map<bigint, Uint8Array>();

  constructor(challenge: Challenge) {
    this.challenge = challenge;
  }

  get complete(): boolean {
    return this.hashes === this.challenge.count;
  }

  take({ hashes, candidates }: SearchReport): void {
    this.hashes += hashes;
    for (const nonce of candidates) {
      const { solution } = verify(this.challenge.job, nonce);
      if (solution && isOf(this.challenge, nonce) && !this.found.has(nonce)) this.found.set(nonce, solution.powHash);
      else this.wrong++;
    }
  }

  /**
   * The hash sum, 16 hex digits: an 8-byte blake2s of all right candidates in ascending order, each as nonce (8 bytes,
   * little-endian) and PoW hash (32 bytes, little-endian).
   */
  get sum(): string {
    const sorted = [...this.found].sort(([a], [b]) => (a < b ? -1 : 1));
    const bytes = new Uint8Array(sorted.length * (NONCE_BYTES + HASH_BYTES));
    const view = viewOf(bytes);
    for (const [i, [nonce, hash]] of sorted.entries()) {
      view.setBigUint64(i * (NONCE_BYTES + HASH_BYTES), nonce, true);
      bytes.set(hash, i * (NONCE_BYTES + HASH_BYTES) + NONCE_BYTES);
    }
    return toHex(blake2s(bytes, { dkLen: SUM_BYTES }));
  }
}

/**
 * Makes an engine search a challenge until all nonces are searched or until `stop` is aborted. In the second case, the
 * candidates are incomplete.
 * @param candidates receives the candidates; empty at first
 * @throws DeviceError when the device is lost, or when it ends its search by itself before all nonces are searched
 */
export async function searchChallenge(
  engine: Engine,
  candidates: CheckedCandidates,
  stop: AbortSignal,
  onReport: (report: SearchReport) => void = () => {},
): Promise<void> {
  const { job, ranges, count } = candidates.challenge;
  for await (const report of engine.search(job, Space.of(ranges), stop)) {
    candidates.take(report);
    onReport(report);
  }
  if (candidates.complete || stop.aborted) return;
  throw new DeviceError('lost', `it ended its search with ${candidates.hashes} of ${count} nonces`);
}

function knownSum({ seed, count }: Challenge): string | undefined {
  return seed === DEFAULT_SEED && count === DEFAULT_COUNT ? KNOWN_SUM : undefined;
}

/**
 * @param wrong number of wrong candidates
 * @param missed number of candidates that the search did not find, but another search did
 * @returns lines for people; none if both numbers are 0
 */
export function errorsOf(wrong: number, missed: number): string[] {
  return [
    ...(wrong > 0 ? [`wrong candidates: ${wrong}`] : []),
    ...(missed > 0 ? [`missed candidates: ${missed}`] : []),
  ];
}

/**
 * @returns lines for people about doubts that one complete search raises by itself, without a comparison with others
 */
export function doubtsOf({ challenge, found, sum }: CheckedCandidates): string[] {
  const known = knownSum(challenge);
  const unlikely = Math.abs(found.size - EXPECTED_CANDIDATES) > MOST_DEVIATIONS * CANDIDATES_DEVIATION;
  return [
    ...(unlikely ? [`it found ${found.size} candidates, and about ${EXPECTED_CANDIDATES} are expected`] : []),
    ...(known !== undefined && sum !== known ? [`its hash sum is ${sum}, and ${known} is known to be right`] : []),
  ];
}
