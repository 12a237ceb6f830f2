/** The counters of the mock ledger, and its newest submissions. */

import { BoundedSet } from '../../base/system/bounded.ts';
import { HEADER_OFFSET, viewOf } from '../../protocol/chain/bytes.ts';
import { creationTimeOf, nonceOf } from '../../protocol/chain/work.ts';
import type { Judgement } from './referee.ts';

type Outcome = Judgement['outcome'];

export interface SubmissionRecord {
  readonly outcome: Outcome;
  /** The reason of the refusal; empty for an accepted submission. */
  readonly reason: string;
  /** Whether the submission was accepted after its chain had advanced, so that its block is an orphan. */
  readonly orphaned: boolean;
  readonly chain: number;
  readonly height: bigint;
  readonly nonce: bigint;
  /** The creation time in the header, in µs since the UNIX epoch. */
  readonly creationTimeUs: bigint;
  /** The creation time in the issued work, in µs since the UNIX epoch; undefined if the work is unknown. */
  readonly workTimeUs: bigint | undefined;
  /** Whether an earlier submission had the same header, or the same work and nonce with another creation time. */
  readonly duplicate: boolean;
  /** The submitted header: 286 bytes. */
  readonly header: Uint8Array;
}

/** Maximum number of kept submissions. */
const MAX_RECORDS = 1000;
/** Maximum number of texts that are kept to recognise duplicate submissions. Each submission has two. */
const MAX_SEEN = 10_000;

export class LedgerStats {
  workIssued = 0;
  /** Number of submitted headers of the right length. */
  submissions = 0;
  /** Accepted submissions, including orphaned ones. */
  accepted = 0;
  rejected = 0;
  stale = 0;
  duplicates = 0;
  /** Rejected submissions with an invalid creation time. */
  timeViolations = 0;
  /** Accepted submissions whose chain had already advanced, so that their blocks are orphans. */
  orphaned = 0;
  rivalBlocks = 0;
  /** The newest submissions, oldest first. */
  readonly records: SubmissionRecord[] = [];
  readonly #seen = new BoundedSet<string>(MAX_SEEN);

  /**
   * Keeps the texts that identify a submission: its header, and its work with its nonce.
   * @returns whether one of the texts had been kept before
   */
  isDuplicate(...keys: string[]): boolean {
    const duplicate = keys.some((key) => this.#seen.has(key));
    for (const key of keys) this.#seen.add(key);
    return duplicate;
  }

  record(submission: SubmissionRecord): void {
    this.submissions += 1;
    this[submission.outcome] += 1;
    if (submission.duplicate) this.duplicates += 1;
    if (submission.orphaned) this.orphaned += 1;
    this.records.push(submission);
    if (this.records.length > MAX_RECORDS) this.records.shift();
  }
}

/** @param header 286 bytes @param duplicate see `SubmissionRecord` */
export function recordOf(header: Uint8Array, judgement: Judgement, duplicate: boolean): SubmissionRecord {
  const { outcome, work } = judgement;
  const view = viewOf(header);
  return {
    outcome,
    reason: outcome === 'accepted' ? '' : judgement.reason,
    orphaned: outcome === 'accepted' && judgement.work.late,
    chain: view.getUint32(HEADER_OFFSET.chain, true),
    height: view.getBigUint64(HEADER_OFFSET.height, true),
    nonce: nonceOf(header),
    creationTimeUs: creationTimeOf(header),
    workTimeUs: work && creationTimeOf(work.header),
    duplicate,
    header,
  };
}
