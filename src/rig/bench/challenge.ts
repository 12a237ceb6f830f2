/**
 * A challenge: a header, a fixed set of nonces and an easy target, all from a seed. All devices that search every nonce
 * find the same candidates; a device that skips nonces misses some of them.
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
/** Maximum number of nonces: 2^29 counters on each of 2^11 pages. The fastest GPU searches them in a minute. */
export const MOST_COUNT = 2 ** 40;
const MOST_SEED_CHARACTERS = 64;

/**
 * Expected number of candidates. A device that skips one nonce in a thousand misses no candidate in one case of sixty
 * (e^-4.096), and is then not detected.
 */
export const EXPECTED_CANDIDATES = 4_096;
/** Standard deviation of the number of candidates, which is Poisson-distributed. */
export const CANDIDATES_DEVIATION = Math.sqrt(EXPECTED_CANDIDATES);

const BLOCK_BYTES = 32;
/**
 * Number of the hash block that determines the place of the nonces. The header is made of blocks 0 to 8.
 */
const PLACE_BLOCK = 255;

export interface Challenge {
  readonly seed: string;
  /** Number of nonces. */
  readonly count: number;
  readonly job: Job;
  /** A rectangle of pages and counters and, on its first page, a range with the rest of the count. */
  readonly ranges: readonly [Range, ...Range[]];
}

/**
 * @param seed 1 to 64 characters, none of them a control character
 * @param count 2^16 to 2^40 nonces
 * @throws RangeError when the seed or the count is not valid.
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

/** @returns the hash block with this number: blake2s-256 of the number (1 byte) followed by the seed (UTF-8) */
function blockOf(seed: string, number: number): Uint8Array {
  const bytes = new TextEncoder().encode(seed);
  const message = new Uint8Array(1 + bytes.length);
  message[0] = number;
  message.set(bytes, 1);
  return blake2s(message, { dkLen: BLOCK_BYTES });
}

/** @returns 286 bytes: blocks 0 to 8, one after the other, cut off at the end */
function headerFrom(seed: string): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  for (let done = 0; done < HEADER_BYTES; done += BLOCK_BYTES) {
    header.set(blockOf(seed, done / BLOCK_BYTES).subarray(0, HEADER_BYTES - done), done);
  }
  return header;
}

/**
 * The rectangle has 2^(2/7 of the count's bits) pages: 128 for 2^27 nonces. It then has enough pages for CPUs, which
 * search few counters of many pages, and enough counters for GPUs, which search many counters of one page.
 */
function pagesFor(count: number): number {
  const bits = count.toString(2).length - 1;
  return 2 ** Math.floor((2 * bits) / 7);
}

/** Places the nonces by block 255: lane (u16), page (u16) and counter (u32), little-endian. */
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

/* The candidates that one device reports for a challenge, and their sum. */

/** Length of a sum: short enough to compare by eye, long enough that no two sums are equal by chance. */
const SUM_BYTES = 8;
const HASH_BYTES = 32;

/** The sum for the default seed and count, computed with OpenSSL's blake2s: a device with another sum is wrong. */
const KNOWN_SUM = '2b333d3b27f3a450';

/** Maximum deviation from the expected count, in standard deviations. Chance exceeds it in one case of two million. */
const MOST_DEVIATIONS = 5;

export class CheckedCandidates {
  readonly challenge: Challenge;
  /** Number of nonces that the device has reported as searched. */
  hashes = 0;
  /** Number of candidates that miss the target, were reported before, or are not nonces of the challenge. */
  wrong = 0;
  /** The right candidates, each with its PoW hash (32 bytes, little-endian). */
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

  /** 16 hex digits: blake2s over nonce (8 bytes, little-endian) and hash (32 bytes) of each candidate, by nonce. */
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
 * Makes an engine search a challenge until its end or until `stop`, which leaves the candidates incomplete.
 * @param candidates empty; filled here
 * @throws DeviceError when the device is lost, or ends its search before everything is searched.
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
 * @param missed number of candidates that other devices found, or the device itself in another search
 * @returns lines for people
 */
export function errorsOf(wrong: number, missed: number): string[] {
  return [
    ...(wrong > 0 ? [`wrong candidates: ${wrong}`] : []),
    ...(missed > 0 ? [`missed candidates: ${missed}`] : []),
  ];
}

/** @returns doubts about the candidates of a complete search, without comparing it with others: lines for people */
export function doubtsOf({ challenge, found, sum }: CheckedCandidates): string[] {
  const known = knownSum(challenge);
  const unlikely = Math.abs(found.size - EXPECTED_CANDIDATES) > MOST_DEVIATIONS * CANDIDATES_DEVIATION;
  return [
    ...(unlikely ? [`it found ${found.size} candidates, and about ${EXPECTED_CANDIDATES} are expected`] : []),
    ...(known !== undefined && sum !== known ? [`its hash sum is ${sum}, and ${known} is known to be right`] : []),
  ];
}
