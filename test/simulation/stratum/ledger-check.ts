/** Compares a share ledger with the shares that clients have sent: lines, sums of shares without lines, and blocks. */

import { OTHER_WORKERS } from '#pickaxe/miner/events/vocabulary.js';
import { LedgerLine } from '#pickaxe/miner/relay/stratum/share-log.js';
import type { JudgedShare, StratumJudge } from './judge.ts';

/** Relative difference of two difficulties that are equal but for the rounding of targets. */
const ROUNDING = 0.001;

/** The answers to shares, by their results in the ledger. */
const ANSWERS: Readonly<Record<string, string>> = {
  accepted: 'accepted',
  'low-difficulty': 'low difficulty share',
  duplicate: 'duplicate share',
  stale: 'stale',
  'unknown-job': 'job not found',
  invalid: 'nonce2 is a text of 1 to 12 hex digits',
};

export interface LedgerSubject {
  /** The sessions by their nonce1. */
  readonly sessions: ReadonlyMap<number, StratumJudge>;
  /** The hashes of the solutions that were submitted. */
  readonly solutions: ReadonlySet<string>;
  /** Whether some shares have no lines of their own. */
  readonly hasFewLines: boolean;
}

/** Sums of shares that have no lines of their own. */
interface Sums {
  lines: number;
  accepted: number;
  acceptedHashes: number;
  blocks: number;
}

const NOTHING: Sums = { lines: 0, accepted: 0, acceptedHashes: 0, blocks: 0 };

type ShareLine = Extract<LedgerLine, { type: 'share' }>;

export class LedgerCheck {
  readonly #subject: LedgerSubject;
  readonly #violate: (what: string) => void;
  readonly #sessions = new Map<number, StratumJudge>();
  /** By session: the number of its shares that were compared. */
  readonly #done = new Map<StratumJudge, number>();
  /** By worker: what the ledger sums up, and which shares have no line. */
  readonly #told = new Map<string, Sums>();
  readonly #without = new Map<string, Sums>();
  readonly #blocks = new Set<string>();

  constructor(subject: LedgerSubject, violate: (what: string) => void) {
    this.#subject = subject;
    this.#violate = violate;
  }

  /** @param isWhole whether the last line must have an end */
  read(text: string, isWhole: boolean): void {
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole !== text && isWhole) this.#violate('the ledger ends in the middle of a line');
    for (const line of whole.split('\n').slice(0, -1)) {
      const { success, data } = LedgerLine.safeParse(JSON.parse(line));
      if (success) this.#read(data);
      else this.#violate(`a line of the ledger is wrong: ${line}`);
    }
  }

  /** Checks what must be true of a whole ledger. */
  finish(): void {
    for (const judge of this.#subject.sessions.values()) {
      const done = this.#done.get(judge) ?? 0;
      if (done < judge.answered) this.#skip(judge, done, judge.answered);
    }
    this.#compareSums();
    const all = [...this.#told.values()];
    const blocks = all.reduce((sum, told) => sum + told.blocks, this.#blocks.size);
    // A solution of a stale work is in no sum.
    const most = this.#subject.solutions.size;
    if (blocks > most || (all.length === 0 && blocks < most))
      this.#violate(`the ledger has ${blocks} blocks, but ${most} were submitted`);
  }

  #read(line: LedgerLine): void {
    if (line.type === 'session') {
      const judge = this.#subject.sessions.get(Number.parseInt(line.nonce1, 16));
      if (!judge) this.#violate(`the ledger has a session with the nonce1 ${line.nonce1}, which nobody has`);
      else if (line.worker !== judge.workers[0]) this.#violate('the ledger has the session of another worker');
      else this.#sessions.set(line.session, judge);
    } else if (line.type === 'share') this.#readShare(line);
    else if (line.type === 'left-out') add(this.#told, line.worker, line);
    else this.#violate(`the ledger has lost ${line.lines} lines`);
  }

  #readShare(line: ShareLine): void {
    const judge = this.#sessions.get(line.session);
    if (!judge) {
      this.#violate(`the ledger has a share of the unknown session ${line.session}`);
      return;
    }
    const done = this.#done.get(judge) ?? 0;
    let at = done;
    if (this.#subject.hasFewLines) {
      while (at < judge.shares.length && this.#faultOf(line, judge.shares[at]) !== undefined) at++;
      if (at < judge.shares.length) this.#skip(judge, done, at);
    }
    const share = judge.shares[at];
    const fault = share ? this.#faultOf(line, share) : 'which nobody has sent';
    if (fault !== undefined) this.#violate(`the ledger has the share ${JSON.stringify(line)}, ${fault}`);
    this.#done.set(judge, at + 1);
    if (!line.isBlock || !share?.block) return;
    if (this.#blocks.has(share.block)) this.#violate('the ledger has a block twice');
    this.#blocks.add(share.block);
  }

  /** @returns what is wrong with the line of a share; undefined if nothing is */
  #faultOf(line: ShareLine, { sent, worker, nonce, answer, credit, block }: JudgedShare): string | undefined {
    if (line.worker !== worker) return `whose worker is ${worker}`;
    if (line.job !== sent.job.slice(0, 16)) return `whose job is ${sent.job}`;
    if (line.nonce !== nonce?.toString()) return `whose nonce is ${nonce}`;
    if (answer !== undefined && ANSWERS[line.result] !== answer) return `which was answered with “${answer}”`;
    const hasCredit = line.difficulty !== undefined && line.difficulty > 0;
    if (hasCredit && line.result !== 'accepted' && line.result !== 'stale') return 'which deserves no credit';
    if (line.result === 'accepted' && !isNear(line.difficulty ?? 0, credit)) return `which deserves ${credit}`;
    if (line.isBlock && (block === undefined || !this.#subject.solutions.has(block))) return 'which is no block';
    return undefined;
  }

  /** Some shares of a session have no lines of their own. */
  #skip(judge: StratumJudge, from: number, to: number): void {
    if (!this.#subject.hasFewLines) this.#violate(`the ledger lacks ${to - from} shares of ${judge.workers[0]}`);
    for (const { worker, answer, credit } of judge.shares.slice(from, to)) {
      const isAccepted = answer === 'accepted';
      const acceptedHashes = isAccepted ? credit : 0;
      add(this.#without, worker, { lines: 1, accepted: isAccepted ? 1 : 0, acceptedHashes, blocks: 0 });
    }
  }

  /** Of too many workers, the ledger sums up the rest under one name. So only the sums of all are compared. */
  #compareSums(): void {
    const [told, without] = [sumOf(this.#told.values()), sumOf(this.#without.values())];
    const unanswered = [...this.#subject.sessions.values()].flatMap((judge) => judge.shares.slice(judge.answered));
    const most = unanswered.reduce((sum, { credit }) => sum + credit, without.acceptedHashes);
    const isRight =
      told.lines >= without.lines &&
      told.lines <= without.lines + unanswered.length &&
      told.accepted >= without.accepted &&
      told.acceptedHashes >= (1 - ROUNDING) * without.acceptedHashes &&
      told.acceptedHashes <= (1 + ROUNDING) * most;
    if (!isRight) this.#violate(`the ledger sums up ${JSON.stringify(told)}, but lacks ${JSON.stringify(without)}`);
    for (const [worker, { lines }] of this.#told) {
      const mine = unanswered.filter((share) => share.worker === worker).length;
      if (worker !== OTHER_WORKERS && lines > (this.#without.get(worker)?.lines ?? 0) + mine)
        this.#violate(`the ledger sums up ${lines} shares of ${worker}, which have lines or were never sent`);
    }
  }
}

function sumOf(all: Iterable<Sums>): Sums {
  const sums = new Map<string, Sums>([['', NOTHING]]);
  for (const each of all) add(sums, '', each);
  return sums.get('') as Sums;
}

function add(sums: Map<string, Sums>, worker: string, more: Sums): void {
  const known = sums.get(worker) ?? NOTHING;
  sums.set(worker, {
    lines: known.lines + more.lines,
    accepted: known.accepted + more.accepted,
    acceptedHashes: known.acceptedHashes + more.acceptedHashes,
    blocks: known.blocks + more.blocks,
  });
}

const isNear = (one: number, other: number) => Math.abs(one - other) <= ROUNDING * other;
