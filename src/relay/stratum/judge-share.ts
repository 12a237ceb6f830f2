/** Judges the shares of a session: what a nonce from outside is worth, and why not, if it is worth nothing. */

import { withSearchTarget } from '../../chain/job.ts';
import { meetsTarget } from '../../chain/target.ts';
import type { Verdict } from '../../source/source.ts';
import type { Judgement, RelayedWorks } from '../relayed-works.ts';
import { type GivenJob, remember, type ShareTerms } from './job-table.ts';
import type { ShareResult } from './ledger-line.ts';

export interface JudgedShare {
  readonly result: Extract<ShareResult, 'accepted' | 'low-difficulty' | 'duplicate' | 'stale'>;
  /** How many hashes it stands for; absent when it counts for nothing. */
  readonly difficulty?: number;
  readonly isBlock: boolean;
  /** The source's verdict about a block, which comes later. */
  readonly verdict?: Promise<Verdict> | undefined;
}

/**
 * A share is judged by its own job's target. Miners that take a new target at once, or late, are not to blame: its neighbours in
 * time, and the newest target, are good enough.
 * @param newest the terms of the session's newest job
 * @param nonce 0 … 2^64 − 1
 */
export function judgeShare(
  works: Pick<RelayedWorks, 'judge' | 'isStale'>,
  given: GivenJob,
  newest: ShareTerms | undefined,
  nonce: bigint,
): JudgedShare {
  if (given.nonces.has(nonce)) return { result: 'duplicate', isBlock: false };
  const { terms, shared } = given;
  const easiest = easier(easier(terms, given.former), newest);
  const { powHash, proves, solution, verdict }: Judgement = works.judge(
    withSearchTarget(shared.job, easiest.target),
    nonce,
  );
  const isBlock = solution?.isBlock === true;
  if (!proves && !solution) return { result: 'low-difficulty', isBlock };
  remember(given, nonce);
  const difficulty = meetsTarget(powHash, terms.target) ? terms.difficulty : easiest.difficulty;
  return { result: works.isStale(shared.job.work) ? 'stale' : 'accepted', difficulty, isBlock, verdict };
}

function easier(one: ShareTerms, other: ShareTerms | undefined): ShareTerms {
  return other && other.difficulty < one.difficulty ? other : one;
}
