/**
 * The jobs of sessions. Sessions search different nonces, so they can share a header, which is prepared once: this
 * keeps the time from a New Cut to the last of a thousand sessions short.
 */

import { BoundedMap } from '../../../base/system/bounded.ts';
import { toHex } from '../../../protocol/chain/bytes.ts';
import type { Job } from '../../../protocol/chain/job.ts';
import { difficultyOf } from '../../../protocol/chain/target.ts';
import type { Work } from '../../../protocol/chain/work.ts';
import type { RelayedWorks } from '../relay.ts';
import { formatJobId, type JobLines, jobLines } from './stratum-messages.ts';

/** Job ids have 8 hex digits. */
const JOB_IDS = 2 ** 32;

export interface SharedJob {
  /** Unique, and higher than every earlier job's number. The first is 1: clients could take 0 for no job. */
  readonly number: number;
  /** The number as clients get it: 8 hex digits. */
  readonly id: string;
  readonly job: Job;
  /** In hex digits. */
  readonly header: string;
  /** The difficulty of the work's own target, in hashes. */
  readonly difficulty: number;
  readonly lines: JobLines;
}

export class SharedJobs {
  readonly #works: Pick<RelayedWorks, 'jobOf'>;
  readonly #sharedMs: number;
  #last = 0;
  #latest: SharedJob | undefined;
  #madeMs = 0;

  /** @param sharedMs time for which sessions get the same job, before a job with a later creation time is made */
  constructor(works: Pick<RelayedWorks, 'jobOf'>, sharedMs: number) {
    this.#works = works;
    this.#sharedMs = sharedMs;
  }

  /** @param earlier the session's last job @returns a job with another header; undefined if none is possible yet */
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

  /** @returns a job with an earlier job's header and a new id */
  again({ job }: SharedJob): SharedJob {
    return this.#make(job);
  }

  #make(job: Job): SharedJob {
    this.#last = (this.#last % (JOB_IDS - 1)) + 1;
    const id = formatJobId(this.#last);
    const header = toHex(job.header);
    const difficulty = difficultyOf(job.work.target);
    return { number: this.#last, id, job, header, difficulty, lines: jobLines(id, header) };
  }
}

/* The last jobs of a session, each with the target of its shares. Pure. */

/** Maximum number of remembered jobs. The fastest ASIC gets two a second, so its shares may take 16 s. */
const KEPT = 32;
/**
 * Maximum number of remembered nonces of a header, so that no nonce counts twice. A client may not send as many in the
 * 30 s after which a header is replaced, if its creation time may be moved. Further shares of the header count as
 * stale, since a nonce that is not remembered could count again.
 */
const MOST_NONCES = 4_096;

export interface ShareTerms {
  /** 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** The target as hashes per share. */
  readonly difficulty: number;
}

/** The terms of the session before its last change of target, accepted until `untilMs`. */
export interface FormerTerms extends ShareTerms {
  readonly untilMs: number;
}

/** A header that the session got, in one job or in several. */
interface GivenHeader {
  /**
   * The terms of the header's first job. They alone decide for how many hashes a share counts: otherwise a client could
   * choose the job or the time whose terms pay most for each hash.
   */
  readonly first: ShareTerms;
  /** The nonces of the counted shares. */
  readonly nonces: Set<bigint>;
}

export interface GivenJob {
  readonly shared: SharedJob;
  readonly terms: ShareTerms;
  readonly former: FormerTerms | undefined;
  readonly header: GivenHeader;
}

export class JobTable {
  /** By number, oldest first. */
  readonly #jobs = new BoundedMap<number, GivenJob>(KEPT);
  /** By the header in hex digits. A source can give the same header again as new work. */
  readonly #headers = new BoundedMap<string, GivenHeader>(KEPT);
  #first: number | undefined;

  add(shared: SharedJob, terms: ShareTerms, former?: FormerTerms): void {
    this.#first ??= shared.number;
    const header = this.#headers.get(shared.header) ?? { first: terms, nonces: new Set<bigint>() };
    this.#headers.set(shared.header, header);
    this.#jobs.set(shared.number, { shared, terms, former, header });
  }

  get(number: number): GivenJob | undefined {
    return this.#jobs.get(number);
  }

  /** Whether the session may have had a job of this number that is no longer in the table. */
  hasHad(number: number): boolean {
    const [oldest] = this.#jobs.values();
    return this.#first !== undefined && number >= this.#first && number < oldest.shared.number;
  }

  works(): Work[] {
    return [...this.#jobs.values()].map(({ shared }) => shared.job.work);
  }
}

/** Remembers a share's nonce, so that it does not count again. @returns false if the header has too many */
export function remember({ nonces }: GivenHeader, nonce: bigint): boolean {
  if (nonces.size >= MOST_NONCES) return false;
  nonces.add(nonce);
  return true;
}

/* When a miner needs a new creation time. Pure. */

/** Number of nonces of a session: nonce2 has 6 bytes. */
const NONCES = 2 ** 48;
/** A miner gets a new job when it has probably searched this part of its nonces. */
const PART = 0.25;
/** Interval while the rate is not known: a quarter of the time that an ASIC of 140 TH/s takes. */
const UNKNOWN_MS = 500;
/** Minimum interval: with a shorter one a miner would mainly begin jobs. It is enough for 700 TH/s. */
const LEAST_MS = 100;
/** Maximum interval: miners disconnect from a server that sends nothing for a minute. */
const MOST_MS = 30_000;

/** @param hashesPerSecond undefined if not known @returns the time until the next job must follow, in ms */
export function rollMs(hashesPerSecond: number | undefined): number {
  if (hashesPerSecond === undefined) return UNKNOWN_MS;
  return Math.min(MOST_MS, Math.max(LEAST_MS, (1000 * PART * NONCES) / hashesPerSecond));
}
