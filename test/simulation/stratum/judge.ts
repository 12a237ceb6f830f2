/**
 * The judge of one connection of an ASIC to a stratum server. It hashes each share again, and says which answers and
 * how much credit docs/workers.md promises for it. What it knows at an answer is what the server knew when it judged
 * the share, because both directions of a connection keep their order.
 */

import { BoundedMap } from '#pickaxe/base/system/bounded.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { hashTail, type Puzzle } from '#pickaxe/protocol/chain/job.js';
import { splitNonce } from '#pickaxe/protocol/chain/nonce.js';
import { difficultyOf, meetsTarget } from '#pickaxe/protocol/chain/target.js';
import { headerTargetOf, withNonce } from '#pickaxe/protocol/chain/work.js';
import type { SentShare } from '../asic-habits.ts';
import type { PreparedHeader } from '../hashing.ts';

/** The server remembers this number of jobs of a session. */
const MOST_JOBS = 32;
const MOST_WORKERS = 16;
/** For this time after a change of the target, the former one is enough. */
const GRACE_MS = 10_000;

interface Terms {
  readonly target: Uint8Array;
  readonly difficulty: number;
  readonly atMs: number;
}

/** A header that the ASIC got in one or more jobs. */
interface GivenHeader {
  /** The terms of its first job, which decide about credit. */
  readonly first: Terms;
  /** The nonces that the server has counted. */
  readonly nonces: Set<bigint>;
}

export interface GivenJob {
  readonly number: number;
  readonly puzzle: Puzzle;
  readonly header: Uint8Array;
  readonly terms: Terms;
  readonly former: Terms | undefined;
  readonly given: GivenHeader;
}

/** A share with what was found out about it. */
export interface JudgedShare {
  readonly sent: SentShare;
  /** The worker for whom it counts. */
  readonly worker: string;
  readonly sentMs: number;
  readonly nonce: bigint | undefined;
  /** Undefined while there is no answer. */
  answer: string | undefined;
  /** The hashes for which it counts if it is accepted. */
  credit: number;
  /** The hash of a block, in hex, if it is one. */
  block: string | undefined;
}

export interface StratumJudgeOptions {
  readonly nowMs: () => number;
  readonly violate: (what: string) => void;
}

export class StratumJudge {
  nonce1: number | undefined;
  /** All shares in the order in which they were sent. */
  readonly shares: JudgedShare[] = [];
  /** Number of shares with an answer: the first ones. */
  answered = 0;
  readonly workers: string[] = [];
  /** Terms of the newest job. */
  terms: Terms | undefined;
  newest: GivenJob | undefined;
  readonly #options: StratumJudgeOptions;
  readonly #jobs = new BoundedMap<number, GivenJob>(MOST_JOBS);
  readonly #headers = new BoundedMap<string, GivenHeader>(MOST_JOBS);
  #first: number | undefined;
  #former: Terms | undefined;

  constructor(options: StratumJudgeOptions) {
    this.#options = options;
  }

  authorize(worker: string): void {
    if (this.workers.length < MOST_WORKERS && !this.workers.includes(worker)) this.workers.push(worker);
  }

  target(target: Uint8Array): void {
    this.#former = this.terms;
    this.terms = { target, difficulty: difficultyOf(target), atMs: this.#options.nowMs() };
  }

  job(id: string, { hex, header, puzzle }: PreparedHeader): void {
    const { terms } = this;
    if (!terms) {
      this.#options.violate('a job comes before any target');
      return;
    }
    const number = Number.parseInt(id, 16);
    const given = this.#headers.get(hex) ?? { first: terms, nonces: new Set<bigint>() };
    this.#headers.set(hex, given);
    this.#first ??= number;
    this.newest = { number, puzzle, header, terms, former: this.#former, given };
    this.#jobs.set(number, this.newest);
  }

  /** @returns the share, whose header is known if it is a block */
  share(sent: SentShare): JudgedShare {
    const digits = sent.nonce2;
    const isReadable = /^[\da-f]{1,12}$/.test(digits) && this.nonce1 !== undefined;
    const nonce = isReadable ? (BigInt(`0x${digits}`) << 16n) | BigInt(this.nonce1 as number) : undefined;
    const worker = this.workers.includes(sent.user) ? sent.user : this.workers[0];
    const sentMs = this.#options.nowMs();
    const share: JudgedShare = { sent, worker, sentMs, nonce, answer: undefined, credit: 0, block: undefined };
    const job = this.jobOf(sent);
    if (job && nonce !== undefined) {
      const hash = hashOf(job.puzzle, nonce);
      share.credit = meetsTarget(hash, job.given.first.target) ? job.given.first.difficulty : 0;
      if (meetsTarget(hash, headerTargetOf(job.header))) share.block = toHex(hash);
    }
    this.shares.push(share);
    return share;
  }

  jobOf({ job }: SentShare): GivenJob | undefined {
    return /^[\da-f]{1,8}$/.test(job) ? this.#jobs.get(Number.parseInt(job, 16)) : undefined;
  }

  /** @returns the header of a share with its nonce */
  headerOf({ sent, nonce }: JudgedShare): Uint8Array | undefined {
    const job = this.jobOf(sent);
    return job && nonce !== undefined ? withNonce(job.header, nonce) : undefined;
  }

  /** Compares the next share's answer with what it deserves. */
  answer(answer: string): JudgedShare | undefined {
    const share = this.shares[this.answered++];
    if (!share) return undefined;
    share.answer = answer;
    const job = this.jobOf(share.sent);
    const deserved = this.#deserved(share, job);
    if (!deserved.includes(answer)) {
      const { kind, job: id, nonce2 } = share.sent;
      this.#options.violate(
        `a share (${kind}, job ${id}, nonce2 ${nonce2}) gets “${answer}” instead of “${deserved.join('” or “')}”`,
      );
    }
    const isCounted = answer === 'accepted' || answer === 'stale';
    if (job && share.nonce !== undefined && isCounted) job.given.nonces.add(share.nonce);
    return share;
  }

  #deserved({ nonce, sent, sentMs }: JudgedShare, job: GivenJob | undefined): readonly string[] {
    if (nonce === undefined) return ['nonce2 is a text of 1 to 12 hex digits'];
    if (!job) return this.#hasHad(sent.job) ? ['stale'] : ['job not found'];
    const { terms, former, given, header } = job;
    if (given.nonces.has(nonce)) return ['duplicate share'];
    const hash = hashOf(job.puzzle, nonce);
    const counted = ['accepted', 'stale'];
    const enough = [terms.target, headerTargetOf(header), ...(this.terms ? [this.terms.target] : [])];
    if (enough.some((target) => meetsTarget(hash, target))) return counted;
    const isFormer = former && sentMs - terms.atMs <= GRACE_MS && meetsTarget(hash, former.target);
    return isFormer ? [...counted, 'low difficulty share'] : ['low difficulty share'];
  }

  /** Whether the server may take the job for one that it has given and forgotten. */
  #hasHad(id: string): boolean {
    const [oldest] = this.#jobs.values();
    const number = /^[\da-f]{1,8}$/.test(id) ? Number.parseInt(id, 16) : 0;
    return this.#first !== undefined && number >= this.#first && number < oldest.number;
  }
}

/** @returns the hash: 32 bytes, little-endian */
function hashOf(puzzle: Puzzle, nonce: bigint): Uint8Array {
  const words = hashTail(puzzle, splitNonce(nonce));
  const bytes = Buffer.alloc(4 * words.length);
  for (const [at, word] of words.entries()) bytes.writeUInt32LE(word, 4 * at);
  return bytes;
}
