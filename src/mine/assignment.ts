/** What all engines work on at one moment: a job, what is left of its nonces, and when to stop. */

import { setMaxListeners } from 'node:events';
import type { Job } from '../chain/job.ts';
import { difficultyOf } from '../chain/target.ts';
import type { Candidate } from '../engine/engine.ts';
import type { Space } from './space.ts';

export class Assignment {
  readonly job: Job;
  readonly space: Space;
  /** The difficulty of the work's target. */
  readonly difficulty: number;
  /** When the New Cut was heard of that this assignment answers, on the clock's `monotonicMs`. */
  readonly cutMs: number | undefined;
  readonly #candidates = new Set<Candidate>();
  readonly #stop = new AbortController();

  constructor(job: Job, space: Space, cutMs?: number) {
    setMaxListeners(0, this.#stop.signal); // one for each device
    this.job = job;
    this.space = space;
    this.difficulty = difficultyOf(job.work.target);
    this.cutMs = cutMs;
  }

  /** @returns false when it was added before: no candidate counts twice */
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
