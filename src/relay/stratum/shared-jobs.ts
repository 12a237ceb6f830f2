/**
 * Makes the jobs that sessions are given. Sessions search different nonces, so they can have the same header: what they share is
 * prepared once, which keeps the time from a New Cut to the last of a thousand sessions short.
 */

import { toHex } from '../../chain/bytes.ts';
import type { Job } from '../../chain/job.ts';
import { difficultyOf } from '../../chain/target.ts';
import type { Work } from '../../chain/work.ts';
import { formatNotify } from '../../wire/stratum-requests.ts';
import type { RelayedWorks } from '../relayed-works.ts';

/** A job id has 8 hex digits. */
const JOB_IDS = 2 ** 32;

export interface SharedJob {
  /** Unique, and higher than that of every earlier job. The first is 1: a 0 could mean that there is no job. */
  readonly number: number;
  readonly id: string;
  readonly job: Job;
  /** The job's header in hex. */
  readonly header: string;
  /** The difficulty of its work's own target, in hashes. */
  readonly difficulty: number;
  /** `mining.notify` as a line, in ASCII. */
  readonly notify: (clean: boolean) => Buffer;
}

export class SharedJobs {
  readonly #works: Pick<RelayedWorks, 'jobOf'>;
  readonly #sharedMs: number;
  #last = 0;
  #latest: SharedJob | undefined;
  #madeMs = 0;

  /** @param sharedMs how long a job is given to sessions before one with a later creation time is made */
  constructor(works: Pick<RelayedWorks, 'jobOf'>, sharedMs: number) {
    this.#works = works;
    this.#sharedMs = sharedMs;
  }

  /**
   * @param earlier the last job of the session
   * @returns a job of this work with another header; undefined where the creation time cannot be later yet
   */
  later(work: Work, earlier: SharedJob | undefined, nowMs: number): SharedJob | undefined {
    const latest = this.#latest?.job.work === work ? this.#latest : undefined;
    const isOther = latest !== undefined && latest.job !== earlier?.job;
    if (isOther && nowMs - this.#madeMs < this.#sharedMs) return latest;
    const job = this.#works.jobOf(work, latest?.job);
    if (!job) return isOther ? latest : undefined;
    this.#latest = this.#make(job);
    this.#madeMs = nowMs;
    return this.#latest;
  }

  /** @returns a job with the header of an earlier one, and another id */
  again({ job }: SharedJob): SharedJob {
    return this.#make(job);
  }

  #make(job: Job): SharedJob {
    this.#last = (this.#last % (JOB_IDS - 1)) + 1;
    const id = this.#last.toString(16).padStart(8, '0');
    const header = toHex(job.header);
    const lines = new Map<boolean, Buffer>();
    return {
      number: this.#last,
      id,
      job,
      header,
      difficulty: difficultyOf(job.work.target),
      notify: (clean) => {
        const line = lines.get(clean) ?? Buffer.from(formatNotify(id, header, clean), 'latin1');
        lines.set(clean, line);
        return line;
      },
    };
  }
}
