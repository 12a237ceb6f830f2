/** Takes the shares of a session: verifies, counts and answers them. */

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
import type { LedgerEntry, ShareEntry, ShareResult } from './share-log.ts';

/** The job ids of the server are shorter; longer ones are truncated before they are written down. */
const JOB_ID_CHARACTERS = 16;

/** An answer to a client's request, and what to do once it is sent. */
export type Reply = ({ readonly result: unknown } | { readonly code: number; readonly words: string }) & {
  readonly afterwards?: () => void;
  /** Whether the request was a share that met its target, also where it came too late. */
  readonly metTarget?: boolean;
};

type SessionEntry = Extract<LedgerEntry, { type: 'session' }>;

interface ShareHandlerOptions {
  /** The share ledger's line about the session. */
  readonly begin: SessionEntry;
  readonly jobs: SessionJobs;
  /** By name; the session is named after the first. */
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
  /** Waits for the first share: a client may connect and leave as often as it likes. */
  #begin: SessionEntry | undefined;

  constructor(context: SessionContext, options: ShareHandlerOptions) {
    this.#context = context;
    this.#options = options;
    this.#begin = options.begin;
  }

  /** Takes the parameters of `mining.submit`: the worker, the job's id and nonce2. */
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
    this.#write({ worker: account.name, result, ...facts, job, ...text, isBlock });
  }

  /** Writes a share into the share ledger, as far as the quota allows, and before the first one the session. */
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

/** @returns hex digits of `bytes` bytes, which may lack leading zeros, in reverse byte order; other texts unchanged */
function reversedHex(hex: string, bytes: number): string {
  const digits = hex.replace(/^0x/i, '').padStart(2 * bytes, '0');
  return digits.length > 2 * bytes ? hex : (digits.match(/../g) ?? []).reverse().join('');
}

/* Verifies a share: how many hashes a nonce from outside stands for, or why it is refused. */

interface JudgedShare {
  readonly result: Extract<ShareResult, 'accepted' | 'low-difficulty' | 'duplicate' | 'stale'>;
  /** Hashes that it stands for: 0 where it meets only an easier target than its header's. Absent when it is refused. */
  readonly difficulty?: number;
  /** Whether it meets its own job's target, so that it counts for the miner's hashrate. */
  readonly meetsOwn: boolean;
  /**
   * Whether it is a block and the first solution of its work. A second one of the same work could not become a block.
   */
  readonly isBlock: boolean;
  /** The source's verdict on a block, which comes later. */
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
