/** What the mock node has seen: counts, and the last submissions. */

import type { Endpoint } from './faults.ts';

export type Outcome = 'accepted' | 'rejected' | 'stale';

export interface SubmissionRecord {
  readonly outcome: Outcome;
  /** The text of the answer; empty when accepted. */
  readonly reason: string;
  readonly chain: number;
  readonly height: bigint;
  readonly nonce: bigint;
  /** Of the submission: µs since the UNIX epoch. */
  readonly creationTimeUs: bigint;
  /** Of the work as it was handed out, where it is known. */
  readonly workTimeUs: bigint | undefined;
  /** Whether the same 286 bytes, or the same nonce for the same work at another time, came before. */
  readonly duplicate: boolean;
  /** The 286 bytes. */
  readonly header: Uint8Array;
}

/** Submissions kept. */
const MAX_RECORDS = 1000;
/** Submissions that a duplicate is recognised among. */
const MAX_SEEN = 10_000;

export class Books {
  /** TCP connections taken. */
  connections = 0;
  /** Requests that arrived, whatever became of them. */
  readonly requests: Record<Endpoint, number> = { work: 0, solved: 0, updates: 0, config: 0, block: 0, health: 0 };
  /** Work records handed out. */
  worksServed = 0;
  submissions = 0;
  accepted = 0;
  rejected = 0;
  stale = 0;
  duplicates = 0;
  /** Creation times that broke the rule. */
  timeViolations = 0;
  /** Accepted though the chain had advanced: never won. */
  orphaned = 0;
  mostOpenStreams = 0;
  rivalBlocks = 0;
  faults = 0;
  /** The last submissions, oldest first. */
  readonly records: SubmissionRecord[] = [];
  readonly #seen = new Set<string>();

  /** Notes a submission; the keys name its bytes and its work and nonce. @returns whether either was seen before */
  isDuplicate(...keys: string[]): boolean {
    const duplicate = keys.some((key) => this.#seen.has(key));
    for (const key of keys) this.#seen.add(key);
    for (const oldest of this.#seen) {
      if (this.#seen.size <= MAX_SEEN) break;
      this.#seen.delete(oldest);
    }
    return duplicate;
  }

  count(endpoint: Endpoint): void {
    this.requests[endpoint] += 1;
  }

  record(submission: SubmissionRecord): void {
    this.submissions += 1;
    this[submission.outcome] += 1;
    if (submission.duplicate) this.duplicates += 1;
    this.records.push(submission);
    if (this.records.length > MAX_RECORDS) this.records.shift();
  }
}
