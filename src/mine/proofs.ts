/**
 * Evidence that a device hashes what it says. Each device searches for a target of its own, so easy that it should find a
 * few candidates every second. Each verified candidate proves, on average, as many hashes as that target takes. A device
 * that skips nonces, computes wrong hashes or counts hashes that it did not compute falls short within minutes.
 */

import { easeJob, type Job } from '../chain/job.ts';
import { difficultyOf, targetForDifficulty } from '../chain/target.ts';
import type { Clock } from '../system/clock.ts';

/** The proven rate is known to ±14 % after a minute and ±4 % after 15 minutes. A proof costs 0.1 ms of two processes. */
const PROOFS_PER_SECOND = 4;
/** Hashes for one proof until the device's rate is known. */
const FIRST_DIFFICULTY = { cpu: 2 ** 24, gpu: 2 ** 28 } as const;
/** Rates over a shorter time say little. */
const LEARN_MS = 1_000;

export class Proofs {
  readonly #clock: Clock;
  #difficulty: number;
  /** Hashes since the difficulty was last adjusted. */
  #hashes = 0;
  #sinceMs: number;

  /** @param firstDifficulty hashes that each of the first proofs takes. The default suits the device's kind */
  constructor(kind: keyof typeof FIRST_DIFFICULTY, clock: Clock, firstDifficulty?: number) {
    this.#clock = clock;
    this.#difficulty = firstDifficulty ?? FIRST_DIFFICULTY[kind];
    this.#sinceMs = clock.monotonicMs();
  }

  searched(hashes: number): void {
    this.#hashes += hashes;
  }

  /** @returns the job with the device's target; the job itself where its work is easier still */
  ease(job: Job): Job {
    this.#learn();
    const isEasier = difficultyOf(job.work.target) <= this.#difficulty;
    return isEasier ? job : easeJob(job, targetForDifficulty(this.#difficulty));
  }

  /** Adjusts by one step at a time: a device that rested seems slow, and must not flood its host with candidates afterwards. */
  #learn(): void {
    const nowMs = this.#clock.monotonicMs();
    const ms = nowMs - this.#sinceMs;
    if (ms < LEARN_MS || this.#hashes === 0) return;
    const wanted = (1000 * this.#hashes) / ms / PROOFS_PER_SECOND;
    if (wanted > 1.5 * this.#difficulty) this.#difficulty *= 2;
    else if (wanted < this.#difficulty / 1.5) this.#difficulty = Math.max(1, this.#difficulty / 2);
    this.#hashes = 0;
    this.#sinceMs = nowMs;
  }
}
