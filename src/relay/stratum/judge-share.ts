/** Judges the shares of a session: what a nonce from outside is worth, and why not, if it is worth nothing. */

import { withSearchTarget } from '../../chain/job.ts';
import { meetsTarget } from '../../chain/target.ts';
import type { Verdict } from '../../source/source.ts';
import type { RelayedWorks } from '../relayed-works.ts';
import { type GivenJob, remember, type ShareTerms } from './job-table.ts';
import type { ShareResult } from './ledger-line.ts';

export interface JudgedShare {
  readonly result: Extract<ShareResult, 'accepted' | 'low-difficulty' | 'duplicate' | 'stale'>;
  /** How many hashes it stands for: 0 where it meets only an easier target than that of its header. Absent when it is refused. */
  readonly difficulty?: number;
  /** Whether it meets its own job's target, so that it tells of the miner's rate. */
  readonly meetsOwn: boolean;
  /** Whether it is a block and the first solution of its work. A second one of the same work could not become a block. */
  readonly isBlock: boolean;
  /** The source's verdict about a block, which comes later. */
  readonly verdict?: Promise<Verdict> | undefined;
}

/**
 * A share is accepted if it meets its own job's target. Miners that take a new target at once, or late, are not to blame: the
 * former target is good enough for some seconds, and the newest always. But only a hash that meets the target of its header stands
 * for something, and then for as many hashes as that target takes, so that whatever a client chooses to bring, its shares stand
 * for the hashes that it has made.
 * @param newest the terms of the session's newest job
 * @param nonce 0 … 2^64 − 1
 */
export function judgeShare(
  works: Pick<RelayedWorks, 'judge' | 'isStale'>,
  given: GivenJob,
  newest: ShareTerms | undefined,
  nonce: bigint,
  nowMs: number,
): JudgedShare {
  const refused = { isBlock: false, meetsOwn: false };
  const { terms, shared, header } = given;
  if (header.nonces.has(nonce)) return { result: 'duplicate', ...refused };
  const former = given.former && nowMs < given.former.untilMs ? given.former : undefined;
  const easiest = easier(easier(terms, former), newest);
  const { powHash, proves, solution, verdict } = works.judge(withSearchTarget(shared.job, easiest.target), nonce);
  const isBlock = verdict !== undefined && solution?.isBlock === true;
  if (!proves && !solution) return { result: 'low-difficulty', ...refused };
  if (!remember(header, nonce) && !isBlock) return { result: 'stale', ...refused };
  const { first } = header;
  return {
    result: works.isStale(shared.job.work) ? 'stale' : 'accepted',
    difficulty: meetsTarget(powHash, first.target) ? first.difficulty : 0,
    meetsOwn: meetsTarget(powHash, terms.target),
    isBlock,
    verdict,
  };
}

function easier(one: ShareTerms, other: ShareTerms | undefined): ShareTerms {
  return other && other.difficulty < one.difficulty ? other : one;
}
