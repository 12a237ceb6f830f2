/** What all engines work on at one moment: a job, what is left of its nonces, and when to stop. */

import { setMaxListeners } from 'node:events';
import type { Job } from '../chain/job.ts';
import type { Space } from './space.ts';

export class Assignment {
  readonly job: Job;
  readonly space: Space;
  readonly #stop = new AbortController();

  constructor(job: Job, space: Space) {
    setMaxListeners(0, this.#stop.signal); // one for each device
    this.job = job;
    this.space = space;
  }

  /** Aborted once another job, or none, has taken over. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  end(): void {
    this.#stop.abort();
  }
}
