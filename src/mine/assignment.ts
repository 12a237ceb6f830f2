/** An assignment is what all engines search at one time: a job, the space of its nonces, and a signal to stop. */

import { setMaxListeners } from 'node:events';
import type { Job } from '../chain/job.ts';
import { difficultyOf } from '../chain/target.ts';
import type { Candidate } from '../engine/engine.ts';
import type { Space } from './space.ts';

export class Assignment {
  readonly job: Job;
  readonly space: Space;
  /** How many hashes a block takes on average. */
  readonly difficulty: number;
  /** When the New Cut came that this assignment follows, on the clock's `monotonicMs`; undefined when none preceded it. */
  readonly cutMs: number | undefined;
  readonly #candidates = new Set<Candidate>();
  readonly #stop = new AbortController();

  constructor(job: Job, space: Space, cutMs?: number) {
    setMaxListeners(0, this.#stop.signal); // There is one listener for each device.
    this.job = job;
    this.space = space;
    this.difficulty = difficultyOf(job.work.blockTarget);
    this.cutMs = cutMs;
  }

  /** Notes a candidate, so that none counts twice. @returns false when it was noted before */
  addCandidate(candidate: Candidate): boolean {
    if (this.#candidates.has(candidate)) return false;
    this.#candidates.add(candidate);
    return true;
  }

  /** Aborted once another job, or none, has taken over. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  end(): void {
    this.#stop.abort();
  }
}
