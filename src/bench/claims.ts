/** What one device claims of a challenge, checked by the referee: each claim, and their sum. */

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

/** Short enough to be compared by eye; no two are the same by chance. */
const SUM_BYTES = 8;
const HASH_BYTES = 32;

/** Of the default seed and count, as OpenSSL's blake2s found it and all kernels do: another one is wrong. */
const KNOWN_SUM = '2b333d3b27f3a450';

/** A number of candidates this many standard deviations from the expected one is no chance: one case in two million. */
const MOST_DEVIATIONS = 5;

export class Claims {
  readonly challenge: Challenge;
  /** Nonces that the device says it searched. */
  hashes = 0;
  /** Claims that do not solve, were made before, or are of no nonce of the challenge. */
  wrong = 0;
  /** The PoW hash (32 bytes) of each nonce that the device found and that solves. */
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
 * Has an engine search a challenge to its end, or until stopped: then the claims are not complete.
 * @param claims of nothing yet
 * @param onReport told of each report
 * @throws DeviceError when the device is lost, or leaves something out by its own account.
 */
export async function answer(
  engine: Engine,
  claims: Claims,
  stop: AbortSignal,
  onReport: (report: SearchReport) => void = () => {},
): Promise<void> {
  const { job, ranges, count } = claims.challenge;
  for await (const report of engine.search(job, Space.of(ranges), stop)) {
    claims.take(report);
    onReport(report);
  }
  if (claims.complete || stop.aborted) return;
  throw new DeviceError('lost', `it ended its search with ${claims.hashes} of ${count} nonces`);
}

/** The sum that a challenge surely has, where it is known. */
export function knownSum({ seed, count }: Challenge): string | undefined {
  return seed === DEFAULT_SEED && count === DEFAULT_COUNT ? KNOWN_SUM : undefined;
}

/**
 * Lines for people, none when nothing is wrong.
 * @param missed candidates that others found, or the device itself another time
 */
export function errorsOf(wrong: number, missed: number): string[] {
  return [...(wrong > 0 ? [`wrong claims: ${wrong}`] : []), ...(missed > 0 ? [`missed candidates: ${missed}`] : [])];
}

/** What complete claims say against themselves, whatever others found: lines for people, none when nothing is wrong. */
export function doubtsOf({ challenge, found, sum }: Claims): string[] {
  const known = knownSum(challenge);
  const unlikely = Math.abs(found.size - EXPECTED_CANDIDATES) > MOST_DEVIATIONS * CANDIDATES_DEVIATION;
  return [
    ...(unlikely ? [`it found ${found.size} candidates where about ${EXPECTED_CANDIDATES} are to be expected`] : []),
    ...(known !== undefined && sum !== known ? [`its hash sum is ${sum}, and ${known} is known to be right`] : []),
  ];
}
