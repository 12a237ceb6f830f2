/** What one device reports for a challenge: its candidates, each checked by the referee, and their sum. */

import { blake2s } from '@noble/hashes/blake2.js';
import { toHex, viewOf } from '../chain/bytes.ts';
import { NONCE_BYTES } from '../chain/layout.ts';
import { verify } from '../chain/verify.ts';
import { DeviceError, type Engine, type SearchReport } from '../engine/engine.ts';
import { Space } from '../mine/space.ts';
import {
  CANDIDATES_DEVIATION,
  type Challenge,
  DEFAULT_COUNT,
  DEFAULT_SEED,
  EXPECTED_CANDIDATES,
  isOf,
} from './challenge.ts';

/** Short enough to compare by eye, and long enough that no two sums are equal by chance. */
const SUM_BYTES = 8;
const HASH_BYTES = 32;

/** The sum for the default seed and count, computed with OpenSSL's blake2s: a device with another one is wrong. */
const KNOWN_SUM = '2b333d3b27f3a450';

/** A count this many standard deviations from the expected one happens by chance in one case of two million. */
const MOST_DEVIATIONS = 5;

export class CheckedCandidates {
  readonly challenge: Challenge;
  /** Nonces that the device says it searched. */
  hashes = 0;
  /** How many candidates miss the target, were reported before, or are not nonces of the challenge. */
  wrong = 0;
  /** The right candidates, each with its PoW hash (32 bytes, little-endian). */
  readonly found = new Map<bigint, Uint8Array>();

  constructor(challenge: Challenge) {
    this.challenge = challenge;
  }

  /** Whether every nonce was searched, by the device's own account. */
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
 * Has an engine search a challenge to its end, or until `stop`: then the candidates are not complete.
 * @param candidates empty; filled here
 * @param onReport called with each report
 * @throws DeviceError when the device is lost, or says itself that it did not search everything.
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

/** @returns the sum that a challenge must have; undefined where it is not known */
function knownSum({ seed, count }: Challenge): string | undefined {
  return seed === DEFAULT_SEED && count === DEFAULT_COUNT ? KNOWN_SUM : undefined;
}

/**
 * @param missed how many candidates others found, or the device itself another time
 * @returns lines for people; none when nothing is wrong
 */
export function errorsOf(wrong: number, missed: number): string[] {
  return [
    ...(wrong > 0 ? [`wrong candidates: ${wrong}`] : []),
    ...(missed > 0 ? [`missed candidates: ${missed}`] : []),
  ];
}

/** @returns what is doubtful about complete candidates by themselves: lines for people, none when all is well */
export function doubtsOf({ challenge, found, sum }: CheckedCandidates): string[] {
  const known = knownSum(challenge);
  const unlikely = Math.abs(found.size - EXPECTED_CANDIDATES) > MOST_DEVIATIONS * CANDIDATES_DEVIATION;
  return [
    ...(unlikely ? [`it found ${found.size} candidates, and about ${EXPECTED_CANDIDATES} are expected`] : []),
    ...(known !== undefined && sum !== known ? [`its hash sum is ${sum}, and ${known} is known to be right`] : []),
  ];
}
