/** The last jobs that a session was given, each with its own target. Pure. */

import type { Work } from '../../chain/work.ts';
import type { SharedJob } from './shared-jobs.ts';

/**
 * How many jobs are kept. The fastest ASIC gets two a second, so a share may take 16 s to come. That of a job that is no longer
 * here is stale.
 */
const KEPT = 32;
/**
 * How many nonces of one header count, so that none counts twice. A header is replaced after 30 s at most where its creation time
 * may be moved, so this is more than the most lines that a client may send meanwhile. Where a client goes on with one header for
 * longer, further shares of it are too late: a nonce that was forgotten would count again.
 */
const MOST_NONCES = 4_096;

/** What the shares of a job must meet. */
export interface ShareTerms {
  /** 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** The same as hashes per share. */
  readonly difficulty: number;
}

/** What the shares of the job before had to meet. They count until this time. */
export interface FormerTerms extends ShareTerms {
  readonly untilMs: number;
}

/** A header that the session was given, with one job or with several. */
export interface GivenHeader {
  /**
   * The terms of its first job. They alone decide what a hash of this header stands for. If that depended on the job that a share
   * names, or on the time when it comes, a client could choose whichever pays more for each hash.
   */
  readonly first: ShareTerms;
  /** The nonces of the shares that counted. */
  readonly nonces: Set<bigint>;
}

export interface GivenJob {
  readonly shared: SharedJob;
  readonly terms: ShareTerms;
  /** Where they were others a moment ago. */
  readonly former: FormerTerms | undefined;
  readonly header: GivenHeader;
}

export class JobTable {
  /** By id, the oldest first. */
  readonly #jobs = new Map<string, GivenJob>();
  /** By their bytes in hex; those that were given least recently come first. A source can give the same bytes as new work. */
  readonly #headers = new Map<string, GivenHeader>();
  #first: number | undefined;

  add(shared: SharedJob, terms: ShareTerms, former?: FormerTerms): void {
    this.#first ??= shared.number;
    const header = this.#headers.get(shared.header) ?? { first: terms, nonces: new Set<bigint>() };
    this.#headers.delete(shared.header);
    this.#headers.set(shared.header, header);
    this.#jobs.set(shared.id, { shared, terms, former, header });
    dropOldest(this.#jobs);
    dropOldest(this.#headers);
  }

  /** @param id as the client writes it, perhaps without leading zeros */
  get(id: string): GivenJob | undefined {
    return this.#jobs.get(id.toLowerCase().padStart(8, '0'));
  }

  /** Whether the session may have had this job, which is no longer kept. */
  hasHad(id: string): boolean {
    const number = /^[\da-f]{1,8}$/i.test(id) ? Number.parseInt(id, 16) : 0;
    const [oldest] = this.#jobs.values();
    return this.#first !== undefined && number >= this.#first && number < oldest.shared.number;
  }

  /** The works of the jobs. */
  works(): Work[] {
    return [...this.#jobs.values()].map(({ shared }) => shared.job.work);
  }
}

function dropOldest(all: Map<string, unknown>): void {
  if (all.size > KEPT) all.delete(all.keys().next().value as string);
}

/** Remembers the nonce of a share, so that it does not count again. @returns whether there is room for it */
export function remember({ nonces }: GivenHeader, nonce: bigint): boolean {
  if (nonces.size >= MOST_NONCES) return false;
  nonces.add(nonce);
  return true;
}
