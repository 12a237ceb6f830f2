/**
 * Proofs show that a device computes as many hashes as it reports. Each device searches for its own target, so easy
 * that it should find a few candidates per second. A verified candidate is a proof: on average it proves as many hashes
 * as that target requires. A device that skips nonces, computes wrong hashes or reports too many hashes falls short
 * within minutes.
 */

import { type Job, withSearchTarget } from '../chain/job.ts';
import { difficultyOf, targetForDifficulty } from '../chain/target.ts';
import type { Clock } from '../system/clock.ts';

/**
 * At this rate the proven hashrate is known to ±14 % after a minute and ±4 % after 15. A proof costs two processes 0.1
 * ms.
 */
const PROOFS_PER_SECOND = 4;
/** How many hashes a proof requires until the device's rate is known. */
const FIRST_DIFFICULTY = { cpu: 2 ** 24, gpu: 2 ** 28 } as const;
/** The difficulty is adjusted to rates over at least this time. */
const LEARN_MS = 1_000;
/**
 * How many times as many solutions as proofs a device may report: 64 to 144 a second, because the difficulty of proofs
 * is a power of two. A pool's first target can be so easy that a GPU would find millions per second; the pool then
 * makes it harder, but only after it has seen a few dozen. What a solution costs, with its submission and its verdict,
 * is below a millisecond of the main thread.
 */
const MOST_SOLUTIONS_PER_PROOF = 24;

export class Proofs {
  readonly #clock: Clock;
  #difficulty: number;
  /** Hashes since the difficulty was last adjusted. */
  #hashes = 0;
  #sinceMs: number;

  /**
   * @param firstDifficulty how many hashes each of the first proofs requires. The default depends on the device's kind
   */
  constructor(kind: keyof typeof FIRST_DIFFICULTY, clock: Clock, firstDifficulty?: number) {
    this.#clock = clock;
    this.#difficulty = firstDifficulty ?? FIRST_DIFFICULTY[kind];
    this.#sinceMs = clock.monotonicMs();
  }

  searched(hashes: number): void {
    this.#hashes += hashes;
  }

  /** How many hashes each proof requires. It changes by powers of two, so that few changes are needed. */
  get difficulty(): number {
    return this.#difficulty;
  }

  /**
   * @returns the job with the device's own target, when the work's is harder, or when it takes many solutions and is so
   *   easy that they would be a flood; otherwise the job itself. A block's target does not count then: whoever gives
   *   such work has written the header, too, and on no network are blocks so easy that this would miss one
   */
  aim(job: Job): Job {
    this.learn();
    const { target, until } = job.work;
    const difficulty = difficultyOf(target);
    if (difficulty > this.#difficulty) return withSearchTarget(job, targetForDifficulty(this.#difficulty));
    const flood = this.#difficulty / MOST_SOLUTIONS_PER_PROOF;
    return until === 'solved' || difficulty >= flood ? job : withSearchTarget(job, targetForDifficulty(flood));
  }

  /**
   * Makes the difficulty fit the rate since it was last adjusted. A device that is faster than expected floods its host
   * until then, so its proofs become as hard as they should be at once. They become easier by one step at most: a
   * device that was paused seems slow, and must not flood its host later.
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
