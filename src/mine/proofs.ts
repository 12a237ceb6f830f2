/**
 * Evidence that a device hashes what it says. It is given a target of its own, so easy that it should find a few candidates
 * every second, and each one that verifies proves, on average, as many hashes as that target takes. A device that skips
 * nonces, computes wrong hashes or counts what it did not do falls short within minutes; one that works hard and has no
 * luck with blocks does not.
 */

import { easeJob, type Job } from '../chain/job.ts';
import { difficultyOf, targetForDifficulty } from '../chain/target.ts';
import type { Clock } from '../system/clock.ts';

/** ±14 % after a minute, ±4 % after a quarter of an hour; each costs two processes a tenth of a millisecond. */
const PROOFS_PER_SECOND = 4;
/** Until its rate is known: some of the fastest device would come too often, of the slowest too rarely. Only good enough. */
const FIRST_DIFFICULTY = { cpu: 2 ** 24, gpu: 2 ** 28 } as const;
/** Rates over less time than this say little. */
const LEARN_MS = 1_000;

export class Proofs {
  readonly #clock: Clock;
  #difficulty: number;
  /** Searched since the difficulty was last thought about. */
  #hashes = 0;
  #sinceMs: number;

  /** @param firstDifficulty hashes that its first proofs take; left out, good enough for its kind */
  constructor(kind: keyof typeof FIRST_DIFFICULTY, clock: Clock, firstDifficulty?: number) {
    this.#clock = clock;
    this.#difficulty = firstDifficulty ?? FIRST_DIFFICULTY[kind];
    this.#sinceMs = clock.monotonicMs();
  }

  searched(hashes: number): void {
    this.#hashes += hashes;
  }

  /** The job as the device is to search it. A work that is easier still stays as it is. */
  ease(job: Job): Job {
    this.#learn();
    const isEasier = difficultyOf(job.work.target) <= this.#difficulty;
    return isEasier ? job : easeJob(job, targetForDifficulty(this.#difficulty));
  }

  /** By one step at a time: a device that rested seems slow, and must not flood its host with candidates after that. */
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
