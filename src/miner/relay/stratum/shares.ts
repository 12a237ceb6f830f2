/** A session's shares: verifies, counts and answers them. */

import { NONCE_BYTES } from '../../../protocol/chain/bytes.ts';
import { withSearchTarget } from '../../../protocol/chain/job.ts';
import type { Nonce1 } from '../../../protocol/chain/nonce.ts';
import { meetsTarget } from '../../../protocol/chain/target.ts';
import { parseNonce2, STRATUM_ERROR, workerName } from '../../../protocol/wire/stratum.ts';
import type { Verdict } from '../../source/source.ts';
import type { Account } from '../accounts.ts';
import type { RelayedWorks } from '../relay.ts';
import { type GivenJob, remember, type ShareTerms } from './jobs.ts';
import type { SessionContext, SessionJobs } from './session-jobs.ts';
import type { LedgerEntry, ShareEntry, ShareResult } from './share-log.ts';

/** The server's own job ids are shorter. Longer ones are truncated in the ledger. */
const JOB_ID_CHARACTERS = 16;

/** An answer to a client's request, and what to do once it is sent. */
export type Reply = ({ readonly result: unknown } | { readonly code: number; readonly words: string }) & {
  readonly afterwards?: () => void;
  /** Whether the request was a share that met its target, even if too late. */
  readonly metTarget?: boolean;
};

type SessionEntry = Extract<LedgerEntry, { type: 'session' }>;

interface ShareHandlerOptions {
  readonly begin: SessionEntry;
  readonly jobs: SessionJobs;
  /** By name. The first one names the session. */
  readonly workers: ReadonlyMap<string, Account>;
  readonly nonce1: Nonce1;
  /** Whether the client reverses the bytes of nonce2. */
  readonly isReversed: boolean;
}

interface ShareFacts {
  readonly job: string;
  readonly nonce?: bigint;
  readonly chain?: number;
  readonly height?: number;
  readonly difficulty?: number;
  readonly isBlock?: boolean;
}

const REFUSALS = {
  'low-difficulty': { code: STRATUM_ERROR.lowDifficulty, words: 'low difficulty share' },
  duplicate: { code: STRATUM_ERROR.duplicate, words: 'duplicate share' },
  stale: { code: STRATUM_ERROR.jobNotFound, words: 'stale' },
};

export class ShareHandler {
  readonly #context: SessionContext;
  readonly #options: ShareHandlerOptions;
  /** Written before the first share, because clients may connect and leave at will. */
  #begin: SessionEntry | undefined;

  constructor(context: SessionContext, options: ShareHandlerOptions) {
    this.#context = context;
    this.#options = options;
    this.#begin = options.begin;
  }

  /** @param params of `mining.submit`: the worker, the job's id and nonce2 */
  take([user, jobId, nonce2]: readonly unknown[]): Reply {
    const { workers, jobs } = this.#options;
    const [first] = workers.values();
    // Some miners submit with a name that they have not authorized. Only the counts depend on it.
    const account = workers.get(workerName(user)) ?? first;
    const job = typeof jobId === 'string' ? jobId : '';
    const nonce = typeof nonce2 === 'string' ? this.#nonceOf(nonce2) : undefined;
    if (nonce === undefined) {
      this.#count(account, 'invalid', { job });
      return { code: STRATUM_ERROR.other, words: 'nonce2 is a text of 1 to 12 hex digits' };
    }
    const given = jobs.table.get(job);
    if (given) return this.#judge(account, given, nonce);
    const isLate = jobs.table.hasHad(job);
    this.#count(account, isLate ? 'stale' : 'unknown-job', { job, nonce });
    return isLate ? REFUSALS.stale : { code: STRATUM_ERROR.jobNotFound, words: 'job not found' };
  }

  #judge(account: Account, given: GivenJob, nonce: bigint): Reply {
    const { jobs } = this.#options;
    const { works, clock } = this.#context;
    const nowMs = clock.monotonicMs();
    const { result, difficulty, meetsOwn, isBlock, verdict } = judgeShare(works, given, jobs.newest, nonce, nowMs);
    void verdict?.then(({ outcome }) => {
      if (isBlock && outcome === 'accepted') account.blocks++;
    });
    const { id, job } = given.shared;
    const { chain, height } = job.work;
    const worth = difficulty !== undefined && { difficulty };
    this.#count(account, result, { job: id, nonce, chain, height: Number(height), isBlock, ...worth });
    const reply = result === 'accepted' ? { result: true } : REFUSALS[result];
    if (difficulty === undefined) return reply;
    const learned = meetsOwn && { afterwards: () => jobs.share(given.terms.difficulty, clock.monotonicMs()) };
    return { ...reply, metTarget: true, ...learned };
  }

  #nonceOf(nonce2: string): bigint | undefined {
    const { nonce1, isReversed } = this.#options;
    return parseNonce2(isReversed ? reversedHex(nonce2, NONCE_BYTES - nonce1.bytes) : nonce2, nonce1);
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

  /** Writes a share into the share ledger, if the quota allows, and the session before its first share. */
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

/** @returns hex digits of `bytes` bytes in reverse byte order, with leading zeros; other texts unchanged */
function reversedHex(hex: string, bytes: number): string {
  const digits = hex.replace(/^0x/i, '').padStart(2 * bytes, '0');
  return digits.length > 2 * bytes ? hex : (digits.match(/../g) ?? []).reverse().join('');
}

interface JudgedShare {
  readonly result: Extract<ShareResult, 'accepted' | 'low-difficulty' | 'duplicate' | 'stale'>;
  /** Number of hashes that it counts for: 0 if it only meets a target easier than its header's. Absent if refused. */
  readonly difficulty?: number;
  /** Whether it meets its own job's target, so that it counts for the miner's hashrate. */
  readonly meetsOwn: boolean;
  /** Whether it is a block and the first solution of its work. A second one could not become a block. */
  readonly isBlock: boolean;
  readonly verdict?: Promise<Verdict> | undefined;
}

/**
 * Verifies a share. It is accepted if it meets its own job's target, the newest target, or for some seconds the former
 * one, since miners may take a new target at once or late. But it counts only if it meets its header's target, and then
 * for the hashes that this target takes, so that a client's choice of shares cannot change its credit.
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
