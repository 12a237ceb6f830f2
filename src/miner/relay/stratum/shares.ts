/** Handles a session's shares: judges, counts and answers each share, and writes it into the share ledger. */

import { withSearchTarget } from '../../../protocol/chain/job.ts';
import { meetsTarget } from '../../../protocol/chain/target.ts';
import type { Verdict } from '../../source/source.ts';
import type { Account } from '../accounts.ts';
import type { RelayedWorks } from '../relay.ts';
import { type GivenJob, remember, type ShareTerms } from './jobs.ts';
import type { SessionContext, SessionJobs } from './session-jobs.ts';
import type { LedgerEntry, ShareEntry, ShareResult } from './share-log.ts';
import type { ShareRequest, StratumClient } from './stratum-messages.ts';

/** Maximum length of a job id in the ledger, in characters. Longer ids are cut off. The server's own job ids have 8. */
const JOB_ID_CHARACTERS = 16;

type SessionEntry = Extract<LedgerEntry, { type: 'session' }>;

interface ShareHandlerOptions {
  readonly client: Pick<StratumClient, 'answer'>;
  readonly begin: SessionEntry;
  readonly jobs: SessionJobs;
  /** The authorized workers by name. The first worker's name is also the session's name. */
  readonly workers: ReadonlyMap<string, Account>;
}

interface ShareFacts {
  readonly job: string;
  readonly nonce: bigint | undefined;
  readonly chain?: number;
  readonly height?: number;
  readonly difficulty?: number;
  readonly isBlock?: boolean;
}

export class ShareHandler {
  readonly #context: SessionContext;
  readonly #options: ShareHandlerOptions;
  /**
   * The ledger's line about the session; undefined once it was written. It is written only before the session's first
   * share, because clients can connect and leave any number of times.
   */
  #begin: SessionEntry | undefined;

  constructor(context: SessionContext, options: ShareHandlerOptions) {
    this.#context = context;
    this.#options = options;
    this.#begin = options.begin;
  }

  /**
   * Judges, counts and answers a share.
   * @returns whether the share was accepted, or would have been if its work were not stale
   */
  take({ id, worker, job, jobNumber, nonce }: ShareRequest): boolean {
    const { client, workers, jobs } = this.#options;
    const [first] = workers.values();
    // Some miners submit shares with a name that they have not authorized. These shares count for the first worker.
    const account = workers.get(worker) ?? first;
    const given = jobs.table.get(jobNumber);
    if (given && nonce !== undefined) return this.#judge(id, account, given, nonce);
    const isLate = jobs.table.hasHad(jobNumber);
    const result = nonce === undefined ? 'invalid' : isLate ? 'stale' : 'unknown-job';
    this.#count(account, result, { job, nonce });
    client.answer(id, result);
    return false;
  }

  #judge(id: unknown, account: Account, given: GivenJob, nonce: bigint): boolean {
    const { client, jobs } = this.#options;
    const { works, clock } = this.#context;
    const nowMs = clock.monotonicMs();
    const { result, difficulty, meetsOwn, isBlock, verdict } = judgeShare(works, given, jobs.newest, nonce, nowMs);
    void verdict?.then(({ outcome }) => {
      if (isBlock && outcome === 'accepted') account.blocks++;
    });
    const {
      id: job,
      job: { work },
    } = given.shared;
    const worth = difficulty !== undefined && { difficulty };
    this.#count(account, result, { job, nonce, chain: work.chain, height: Number(work.height), isBlock, ...worth });
    client.answer(id, result);
    // A share can change the session's target. The client gets the new target after the answer, with a new job.
    if (meetsOwn) jobs.share(given.terms.difficulty, clock.monotonicMs());
    return difficulty !== undefined;
  }

  #count(account: Account, result: ShareResult, about: ShareFacts): void {
    const { clock } = this.#context;
    const { nonce, isBlock = false, ...facts } = about;
    const outcome = result === 'accepted' || result === 'stale' || result === 'duplicate' ? result : 'rejected';
    const nowMs = clock.monotonicMs();
    if (account.note(outcome, nowMs)) this.#welcome(account, nowMs);
    const text = nonce !== undefined && { nonce: nonce.toString() };
    const job = facts.job.slice(0, JOB_ID_CHARACTERS);
    this.#write({ worker: account.name, result, ...facts, job, ...text, isBlock });
  }

  /**
   * Writes a share into the share ledger if the quota allows it. Writes the line about the session before the first
   * share.
   */
  #write(share: ShareEntry): void {
    const { quota } = this.#context;
    const { session, address } = this.#options.begin;
    if (!quota.admit(address, share, this.#begin ? 2 : 1)) return;
    if (this.#begin) quota.record(this.#begin);
    this.#begin = undefined;
    quota.record({ type: 'share', session, ...share });
  }

  #welcome({ name }: Account, nowMs: number): void {
    const { firstShares, log } = this.#context;
    const unlogged = firstShares.take(nowMs);
    if (unlogged === undefined) return;
    const others = unlogged > 0 ? `, and of ${unlogged} others before it` : '';
    log.info(`first share of ${name}${others}`);
  }
}

interface JudgedShare {
  readonly result: Extract<ShareResult, 'accepted' | 'low-difficulty' | 'duplicate' | 'stale'>;
  /**
   * Number of hashes for which the share counts; 0 if it misses the first target that the session had for the share's
   * header. Absent if the share is refused for another reason than stale work.
   */
  readonly difficulty?: number;
  /** Whether the share meets its own job's target. Only such a share counts for the miner's hashrate. */
  readonly meetsOwn: boolean;
  /** Whether the share was submitted as a block. */
  readonly isBlock: boolean;
  readonly verdict?: Promise<Verdict> | undefined;
}

/**
 * Verifies a share. It is accepted if it meets the target of its own job or of the session's newest job. For some
 * seconds after a change of the target, the former target is enough, too: some miners apply a new target at once,
 * others late. The credit for an accepted share depends only on the first target that the session had for the share's
 * header. A share that meets this target counts for the hashes that such a share takes on average. Any other share
 * counts for 0 hashes. So a client cannot change its credit by choosing which shares to send.
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
