/** The last jobs that a session was given, each with its own target. Pure. */

import type { Work } from '../../chain/work.ts';
import type { SharedJob } from './shared-jobs.ts';

/**
 * How many jobs are kept. The fastest ASIC gets two a second, so a share may take 16 s to come. That of a job that is no longer
 * here is stale.
 */
const KEPT = 32;
/**
 * How many nonces of one header are remembered, so that none counts twice. A job is replaced after 30 s at most, so this is
 * more than the most lines that a client may send meanwhile.
 */
const REMEMBERED_NONCES = 4_096;

/** What the shares of a job must meet. */
export interface ShareTerms {
  /** 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** The same as hashes per share. */
  readonly difficulty: number;
}

export interface GivenJob {
  readonly shared: SharedJob;
  readonly terms: ShareTerms;
  /** What the shares of the job before had to meet, where that was something else a moment ago. */
  readonly former: ShareTerms | undefined;
  /** The nonces of the shares of its header that counted. */
  readonly nonces: Set<bigint>;
}

export class JobTable {
  /** By id, the oldest first. */
  readonly #jobs = new Map<string, GivenJob>();
  #first: number | undefined;
  #newest: GivenJob | undefined;

  add(shared: SharedJob, terms: ShareTerms, former?: ShareTerms): void {
    this.#first ??= shared.number;
    // Only neighbours can have the same header.
    const nonces = this.#newest?.shared.job === shared.job ? this.#newest.nonces : new Set<bigint>();
    this.#newest = { shared, terms, former, nonces };
    this.#jobs.set(shared.id, this.#newest);
    if (this.#jobs.size > KEPT) this.#jobs.delete(this.#jobs.keys().next().value as string);
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

/** Remembers the nonce of a share, so that it does not count again. */
export function remember({ nonces }: GivenJob, nonce: bigint): void {
  nonces.add(nonce);
  if (nonces.size > REMEMBERED_NONCES) nonces.delete(nonces.values().next().value as bigint);
}
