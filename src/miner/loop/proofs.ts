/**
 * Proofs of a device's hashes. Each device searches for a target of its own. This target is so easy that the device
 * should find a few candidates per second. A verified candidate proves, on average, as many hashes as its target
 * requires. If a device skips nonces, computes wrong hashes or reports too many hashes, its proven hashrate is visibly
 * lower than its reported hashrate within minutes.
 */

import type { Clock } from '../../base/system/clock.ts';
import { difficultyOf, targetForDifficulty } from '../../protocol/chain/target.ts';
import type { Work } from '../../protocol/chain/work.ts';

/**
 * With 4 proofs a second, the standard error of the proven hashrate is 6.5 % over one minute and 1.7 % over 15 minutes.
 * Verifying a proof takes 0.1 ms.
 */
const PROOFS_PER_SECOND = 4;
/** Number of hashes that each proof requires until the device's rate has been measured. */
const FIRST_DIFFICULTY = { cpu: 2 ** 24, gpu: 2 ** 28 } as const;
/** Minimum time over which the device's rate is measured before the difficulty of proofs is adjusted to the rate. */
const LEARN_MS = 1_000;
/**
 * Maximum ratio of a device's solutions to its proofs. It allows 64 to 144 solutions a second: 24 times 4, divided or
 * multiplied by up to 1.5, because the difficulty of proofs changes only by powers of two. A pool's first target can be
 * so easy that a GPU would find millions of shares a second, and a pool adjusts its target only after a few dozen
 * shares. A solution takes less than a millisecond of the main thread.
 */
const MOST_SOLUTIONS_PER_PROOF = 24;

export class Proofs {
  readonly #clock: Clock;
  #difficulty: number;
  /** Number of hashes since the difficulty was last adjusted. */
  #hashes = 0;
  #sinceMs: number;

  /**
   * @param firstDifficulty number of hashes that each proof requires at first. The default depends on the device's kind
   */
  constructor(kind: keyof typeof FIRST_DIFFICULTY, clock: Clock, firstDifficulty?: number) {
    this.#clock = clock;
    this.#difficulty = firstDifficulty ?? FIRST_DIFFICULTY[kind];
    this.#sinceMs = clock.monotonicMs();
  }

  searched(hashes: number): void {
    this.#hashes += hashes;
  }

  /** Number of hashes that each proof requires. It changes only by powers of two, so that it changes rarely. */
  get difficulty(): number {
    return this.#difficulty;
  }

  /**
   * Returns the target of proofs if the work's target is harder, as it usually is. Otherwise returns the work's target,
   * with one exception: if the work accepts several solutions and is so easy that solutions would flood the host,
   * returns a target that is harder than the work's. No block is lost by this, because no network has blocks that easy.
   * @returns the target that the device searches for, 32 bytes, little-endian
   */
  targetFor({ target, until }: Work): Uint8Array {
    this.learn();
    const difficulty = difficultyOf(target);
    if (difficulty > this.#difficulty) return targetForDifficulty(this.#difficulty);
    const flood = this.#difficulty / MOST_SOLUTIONS_PER_PROOF;
    return until === 'solved' || difficulty >= flood ? target : targetForDifficulty(flood);
  }

  /**
   * Adjusts the difficulty to the rate since the last adjustment. One adjustment can raise the difficulty by any
   * factor, because a device that is faster than expected would flood the host with candidates. One adjustment can only
   * halve the difficulty, because a device that was paused for a while seems slower than it is.
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
