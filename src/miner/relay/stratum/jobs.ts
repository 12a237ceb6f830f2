/**
 * The jobs of sessions. Sessions search different nonces, so they can share a header. Each header is prepared once for
 * all sessions, so that even the last of a thousand sessions has its job soon after a New Cut.
 */

import { BoundedMap } from '../../../base/system/bounded.ts';
import { toHex } from '../../../protocol/chain/bytes.ts';
import type { Job } from '../../../protocol/chain/job.ts';
import { difficultyOf } from '../../../protocol/chain/target.ts';
import type { Work } from '../../../protocol/chain/work.ts';
import type { RelayedWorks } from '../relay.ts';
import { formatJobId, type JobLines, jobLines } from './stratum-messages.ts';

/** Number of possible job ids, which have 8 hex digits. */
const JOB_IDS = 2 ** 32;

export interface SharedJob {
  /**
   * The job's number. Jobs are numbered from 1 to 2^32 − 1, and then from 1 again. 0 is not used, because a client
   * could understand 0 as “no job”.
   */
  readonly number: number;
  /** The job's number in 8 hex digits, as it is sent to clients. */
  readonly id: string;
  readonly job: Job;
  /** The job's header in hex digits. */
  readonly header: string;
  /** Difficulty of the work's own target, in hashes. */
  readonly difficulty: number;
  readonly lines: JobLines;
}

export class SharedJobs {
  readonly #works: Pick<RelayedWorks, 'jobOf'>;
  readonly #sharedMs: number;
  #last = 0;
  #latest: SharedJob | undefined;
  #madeMs = 0;

  /**
   * @param sharedMs time for which a job is given to all sessions that need one, before a job with a later creation
   *   time is made
   */
  constructor(works: Pick<RelayedWorks, 'jobOf'>, sharedMs: number) {
    this.#works = works;
    this.#sharedMs = sharedMs;
  }

  /**
   * @param earlier the session's last job
   * @returns a job of the work that is not the earlier job; undefined if no such job is possible yet
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

  /** @returns a job with the same header as an earlier job, and with a new id */
  again({ job }: SharedJob): SharedJob {
    return this.#make(job);
  }

  #make(job: Job): SharedJob {
    this.#last = numberAfter(this.#last);
    const id = formatJobId(this.#last);
    const header = toHex(job.header);
    const difficulty = difficultyOf(job.work.target);
    return { number: this.#last, id, job, header, difficulty, lines: jobLines(id, header) };
  }
}

/** @param last the last job's number; 0 before the first job @returns the next job's number, 1 … 2^32 − 1 */
export function numberAfter(last: number): number {
  return (last % (JOB_IDS - 1)) + 1;
}

/* The last jobs of a session, each with the target of the job's shares. Pure. */

/**
 * Maximum number of remembered jobs of a session. The fastest ASIC gets two jobs a second, so its shares may come 16 s
 * late.
 */
const KEPT = 32;
/**
 * Maximum number of remembered nonces of a header. They are remembered so that no nonce counts twice. When this number
 * is reached, further shares of the header are refused as stale, unless they are blocks. This is rare: if the creation
 * time may be moved, a header is replaced within 30 s, in which a client may send fewer lines than this.
 */
const MOST_NONCES = 4_096;

export interface ShareTerms {
  /** The target of a share: 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** Difficulty of the target, in hashes per share. */
  readonly difficulty: number;
}

/** The terms before the session's last change of its target. They are accepted until `untilMs` (monotonic). */
export interface FormerTerms extends ShareTerms {
  readonly untilMs: number;
}

/** A header that the session got in one or more jobs. */
interface GivenHeader {
  /**
   * The terms of the header's first job. They alone decide for how many hashes a share counts. Otherwise a client could
   * choose the job or the time for which a share counts most.
   */
  readonly first: ShareTerms;
  /** The nonces of the shares that met their target, even if their work was stale. */
  readonly nonces: Set<bigint>;
}

export interface GivenJob {
  readonly shared: SharedJob;
  readonly terms: ShareTerms;
  readonly former: FormerTerms | undefined;
  readonly header: GivenHeader;
}

export class JobTable {
  /** The jobs by their numbers, oldest first. */
  readonly #jobs = new BoundedMap<number, GivenJob>(KEPT);
  /** The headers by their hex digits. A source can give the same header again as a new work. */
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

  /** Whether the session may have had a job of this number that has been removed from the table. */
  hasHad(number: number): boolean {
    const [oldest] = this.#jobs.values();
    return this.#first !== undefined && number >= this.#first && number < oldest.shared.number;
  }

  works(): Work[] {
    return [...this.#jobs.values()].map(({ shared }) => shared.job.work);
  }
}

/**
 * Remembers the nonce of a share, so that the nonce does not count again.
 * @returns false if the header has too many nonces
 */
export function remember({ nonces }: GivenHeader, nonce: bigint): boolean {
  if (nonces.size >= MOST_NONCES) return false;
  nonces.add(nonce);
  return true;
}

/* Decides when a miner needs a job with a later creation time. Pure. */

/** Number of nonces that a session can search in one job: nonce2 has 6 bytes. */
const NONCES = 2 ** 48;
/** A miner gets a new job when it has probably searched this part of the job's nonces. */
const PART = 0.25;
/**
 * Interval between jobs while the rate is not known. An ASIC of 140 TH/s searches a quarter of a job's nonces in this
 * time.
 */
const UNKNOWN_MS = 500;
/**
 * Minimum interval between jobs. In a shorter interval, beginning a job would take most of a miner's time. The interval
 * is short enough for a miner of 700 TH/s.
 */
const LEAST_MS = 100;
/** Maximum interval between jobs. Miners disconnect from a server that sends nothing for a minute. */
const MOST_MS = 30_000;

/** @param hashesPerSecond of the miner; undefined if not known @returns ms from one job to the next */
export function rollMs(hashesPerSecond: number | undefined): number {
  if (hashesPerSecond === undefined) return UNKNOWN_MS;
  return Math.min(MOST_MS, Math.max(LEAST_MS, (1000 * PART * NONCES) / hashesPerSecond));
}
