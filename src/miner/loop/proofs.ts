/**
 * Proofs of a device's hashes. Each device searches for its own target, so easy that it should find a few candidates
 * per second. A verified candidate proves, on average, as many hashes as that target requires, so a device that skips
 * nonces, computes wrong hashes or reports too many hashes falls short within minutes.
 */

import type { Clock } from '../../base/system/clock.ts';
import { difficultyOf, targetForDifficulty } from '../../protocol/chain/target.ts';
import type { Work } from '../../protocol/chain/work.ts';

/**
 * With 4 proofs a second, the proven hashrate is known to ±14 % after a minute and ±4 % after 15. A proof costs 0.1 ms.
 */
const PROOFS_PER_SECOND = 4;
/** Number of hashes that a proof requires until the device's rate is known. */
const FIRST_DIFFICULTY = { cpu: 2 ** 24, gpu: 2 ** 28 } as const;
/** Minimum time over which a rate is measured before the difficulty is adjusted to it. */
const LEARN_MS = 1_000;
/**
 * Maximum ratio of a device's solutions to its proofs. It allows 64 to 144 solutions a second (not 96, because the
 * difficulty of proofs is a power of two). A pool's first target can be so easy that a GPU would find millions of
 * shares a second, and the pool adjusts it only after a few dozen. A solution costs the main thread less than a
 * millisecond.
 */
const MOST_SOLUTIONS_PER_PROOF = 24;

export class Proofs {
  readonly #clock: Clock;
  #difficulty: number;
  /** Hashes since the difficulty was last adjusted. */
  #hashes = 0;
  #sinceMs: number;

  /** @param firstDifficulty number of hashes of each of the first proofs; the default depends on the device's kind */
  constructor(kind: keyof typeof FIRST_DIFFICULTY, clock: Clock, firstDifficulty?: number) {
    this.#clock = clock;
    this.#difficulty = firstDifficulty ?? FIRST_DIFFICULTY[kind];
    this.#sinceMs = clock.monotonicMs();
  }

  searched(hashes: number): void {
    this.#hashes += hashes;
  }

  /** Number of hashes that each proof requires. It changes by powers of two, so that few changes are needed. */
  get difficulty(): number {
    return this.#difficulty;
  }

  /**
   * @returns the target that the device searches for, 32 bytes, little-endian: the target of proofs if the work's
   *   target is harder. If the work takes many solutions and is very easy, it is a target harder than the work's, so
   *   that solutions do not flood the host; no block is lost, because no network has blocks that easy. Otherwise it is
   *   the work's target
   */
  targetFor({ target, until }: Work): Uint8Array {
    this.learn();
    const difficulty = difficultyOf(target);
    if (difficulty > this.#difficulty) return targetForDifficulty(this.#difficulty);
    const flood = this.#difficulty / MOST_SOLUTIONS_PER_PROOF;
    return until === 'solved' || difficulty >= flood ? target : targetForDifficulty(flood);
  }

  /**
   * Adjusts the difficulty to the rate since the last adjustment. The difficulty rises at once, since a device that is
   * faster than expected floods its host. It falls by a factor of at most two, because a device may only seem slow
   * while it is paused.
   */
  learn(): void {
    const nowMs = this.#clock.monotonicMs();
    const ms = nowMs - this.#sinceMs;
    if (ms < LEARN_MS || this.#hashes === 0) return;
    const wanted = (1000 * this.#hashes) / ms / PROOFS_PER_SECOND;
    if (wanted < this.#difficulty / 1.5) this.#difficulty = Math.max(1, this.#difficulty / 2);
    while (wanted > 1.5 * this.#difficulty) this.#difficulty *= 2;
    this.#hashes = 0;
    this.#sinceMs = nowMs;
  }
}
