/** Takes the shares of a session: judges, counts and answers them. */

import { NONCE_BYTES } from '../../chain/bytes.ts';
import { withSearchTarget } from '../../chain/job.ts';
import type { Nonce1 } from '../../chain/nonce.ts';
import { meetsTarget } from '../../chain/target.ts';
import type { Verdict } from '../../source/source.ts';
import { parseNonce2, STRATUM_ERROR, workerName } from '../../wire/stratum.ts';
import type { Account } from '../accounts.ts';
import type { RelayedWorks } from '../relay.ts';
import { type GivenJob, remember, type ShareTerms } from './jobs.ts';
import type { SessionContext, SessionJobs } from './session-jobs.ts';
import type { LedgerEntry, ShareEntry, ShareLogQuota, ShareResult } from './share-log.ts';

/** No id of ours is longer, and what is none is cut before it is written down. */
const JOB_ID_CHARACTERS = 16;

/** An answer to a client's request, and what follows once it is sent. */
export type Reply = ({ readonly result: unknown } | { readonly code: number; readonly words: string }) & {
  readonly afterwards?: () => void;
  /** Whether the request was a share that met its target, also where it came too late. */
  readonly metTarget?: boolean;
};

interface ShareHandlerOptions {
  /** What the ledger says of the session. */
  readonly begin: SessionEntry;
  readonly jobs: SessionJobs;
  /** By their names; the first is the session's. */
  readonly workers: ReadonlyMap<string, Account>;
  readonly nonce1: Nonce1;
  /** Whether the client writes nonce2 with its bytes in the other order. */
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
  readonly #log: SessionShareLog;

  constructor(context: SessionContext, options: ShareHandlerOptions) {
    this.#context = context;
    this.#options = options;
    this.#log = new SessionShareLog(context.quota, options.begin);
  }

  /** @param params those of `mining.submit`: the worker, the job's id and nonce2 */
  take([user, jobId, nonce2]: readonly unknown[]): Reply {
    const { workers, jobs } = this.#options;
    const [first] = workers.values();
    // Some miners submit with another name than they have authorized. Nothing depends on it but the counts.
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
    this.#log.write({ worker: account.name, result, ...facts, job, ...text, isBlock });
  }

  #welcome({ name }: Account, nowMs: number): void {
    const { firstShares, log } = this.#context;
    const unlogged = firstShares.take(nowMs);
    if (unlogged === undefined) return;
    const others = unlogged > 0 ? `, and of ${unlogged} others before it` : '';
    log.info(`first share of ${name}${others}`);
  }
}

/**
 * @returns a number of so many bytes, which may lack leading zeros, with its bytes in the other order; other texts
 *   unchanged
 */
function reversedHex(hex: string, bytes: number): string {
  const digits = hex.replace(/^0x/i, '').padStart(2 * bytes, '0');
  return digits.length > 2 * bytes ? hex : (digits.match(/../g) ?? []).reverse().join('');
}

/* Judges the shares of a session: what a nonce from outside is worth, and why not, if it is worth nothing. */

interface JudgedShare {
  readonly result: Extract<ShareResult, 'accepted' | 'low-difficulty' | 'duplicate' | 'stale'>;
  /**
   * How many hashes it stands for: 0 where it meets only an easier target than that of its header. Absent when it is
   * refused.
   */
  readonly difficulty?: number;
  /** Whether it meets its own job's target, so that it tells of the miner's rate. */
  readonly meetsOwn: boolean;
  /**
   * Whether it is a block and the first solution of its work. A second one of the same work could not become a block.
   */
  readonly isBlock: boolean;
  /** The source's verdict about a block, which comes later. */
  readonly verdict?: Promise<Verdict> | undefined;
}

/**
 * A share is accepted if it meets its own job's target. Miners that take a new target at once, or late, are not to
 * blame: the former target is good enough for some seconds, and the newest always. But only a hash that meets the
 * target of its header stands for something, and then for as many hashes as that target takes, so that whatever a
 * client chooses to bring, its shares stand for the hashes that it has made.
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

/* Writes a session into the ledger: when it has begun, and its shares, as far as its quota allows. */

export type SessionEntry = Extract<LedgerEntry, { type: 'session' }>;

export class SessionShareLog {
  readonly #quota: ShareLogQuota;
  /** Waits for the first share: a client may connect and leave as often as it likes. */
  #begin: SessionEntry | undefined;
  readonly #session: number;
  readonly #address: string;

  constructor(quota: ShareLogQuota, begin: SessionEntry) {
    this.#quota = quota;
    this.#begin = begin;
    this.#session = begin.session;
    this.#address = begin.address;
  }

  write(share: ShareEntry): void {
    if (!this.#quota.admit(this.#address, share, this.#begin ? 2 : 1)) return;
    if (this.#begin) this.#quota.record(this.#begin);
    this.#begin = undefined;
    this.#quota.record({ type: 'share', session: this.#session, ...share });
  }
}
