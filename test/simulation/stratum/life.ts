/**
 * One life of a stratum server, from its start to its end: its port, its share ledger in memory, and what it says of
 * its clients, which is compared with what they have seen.
 */

import type { MinerEvent, RelayWorker } from '#pickaxe/miner/events/events.js';
import type { LedgerFile } from '#pickaxe/miner/relay/stratum/share-log.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { parentOf } from '#pickaxe/protocol/chain/work.js';
import type { PipePort } from '../pipe.ts';
import type { Account } from '../rig-books.ts';
import type { SimulatedProcess } from '../virtual-time.ts';
import type { JudgedShare, StratumJudge } from './judge.ts';
import { LedgerCheck } from './ledger-check.ts';

const OUTCOMES = ['accepted', 'rejected', 'stale', 'duplicate'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** What the clients know about the shares of one worker. */
interface WorkerShares {
  sent: number;
  readonly answered: Record<Outcome, number>;
}

export class ServerLife {
  readonly process: SimulatedProcess;
  readonly port: PipePort;
  readonly account: Account;
  readonly lane: number;
  /** Whether the ledger has room for few lines only, so that it sums up most shares. */
  readonly hasFewLines: boolean;
  /** The connections of clients with a nonce1, by it, which no two of them share. */
  readonly sessions = new Map<number, StratumJudge>();
  /** Number of solutions by their works; and their hashes. */
  readonly solved = new Set<string>();
  readonly solutions = new Set<string>();
  /** Number of accepted blocks. */
  blocks = 0;
  wasKilled = false;
  isStopping = false;
  /** When its process was last frozen. */
  frozenMs = Number.NEGATIVE_INFINITY;
  /** Whether its disk could not be written to at its end. */
  endedWithoutDisk = false;
  /** By address: its newest ban, and the times of the disconnections that count against it. */
  readonly bans = new Map<string, { readonly fromMs: number; readonly untilMs: number }>();
  readonly offences = new Map<string, number[]>();
  relay: Extract<MinerEvent, { type: 'relay' }> | undefined;
  /** What the ledger's disk does. */
  disk: 'fine' | 'full' | 'slow' | 'partial' = 'fine';
  readonly #violate: (what: string) => void;
  readonly #workers = new Map<string, WorkerShares>();
  readonly #written: Buffer[] = [];

  constructor(
    parts: Pick<ServerLife, 'process' | 'port' | 'account' | 'lane' | 'hasFewLines'>,
    violate: (what: string) => void,
  ) {
    this.process = parts.process;
    this.port = parts.port;
    this.account = parts.account;
    this.lane = parts.lane;
    this.hasFewLines = parts.hasFewLines;
    this.#violate = violate;
  }

  /** The share ledger's file. */
  readonly file: LedgerFile = {
    write: async (bytes) => {
      if (this.disk === 'slow') await this.process.sleep(3_000);
      if (this.disk === 'full') throw new Error('ENOSPC: no space left on device');
      const part = this.disk === 'partial' ? bytes.subarray(0, Math.ceil(bytes.length / 3)) : bytes;
      this.#written.push(Buffer.from(part));
      return part.length;
    },
    close: async () => {},
  };

  /** A client has got its nonce1. */
  begin(judge: StratumJudge, nonce1: number): void {
    if (nonce1 === this.lane) this.#violate('a session has the lane of the miner');
    const other = this.sessions.get(nonce1);
    if (other && other !== judge) this.#violate(`two sessions have the nonce1 ${nonce1.toString(16)}`);
    this.sessions.set(nonce1, judge);
  }

  sent({ worker }: JudgedShare): void {
    this.#worker(worker).sent++;
  }

  answered({ worker, answer, block, nonce, sent }: JudgedShare, header: Uint8Array | undefined): void {
    const outcome: Outcome =
      answer === 'duplicate share' ? 'duplicate' : answer === 'accepted' || answer === 'stale' ? answer : 'rejected';
    this.#worker(worker).answered[outcome]++;
    const isCounted = outcome === 'accepted' || outcome === 'stale';
    if (block === undefined || !isCounted || !header || this.solved.has(workOf(header))) return;
    this.#violate(`the block of job ${sent.job}, nonce ${nonce?.toString(16)}, was not submitted`);
  }

  listen(event: MinerEvent): void {
    if (event.type === 'solution' && event.isRelay) this.#solution(toHex(event.hash));
    else if (event.type === 'verdict' && event.isRelay && event.outcome === 'accepted') this.blocks++;
    else if (event.type === 'relay') this.#report(event);
  }

  /** Compares the last report with the clients' counts, once no share is on its way. */
  checkReport(): void {
    const { relay } = this;
    if (!relay) {
      this.#violate('the server has reported nothing');
      return;
    }
    const all: Record<string, number> = { blocks: this.blocks };
    for (const outcome of OUTCOMES) {
      all[outcome] = [...this.#workers.values()].reduce((sum, { answered }) => sum + answered[outcome], 0);
    }
    for (const [name, count] of Object.entries(all)) {
      const told = relay.workers.reduce((sum, worker) => sum + (worker[name as Outcome] ?? 0), 0);
      // What was never answered, because the connection broke, may have been counted.
      const unanswered = name === 'blocks' ? 0 : this.#unanswered();
      if (told < count || told > count + unanswered)
        this.#violate(`the server reports ${told} ${name}, of ${count} and ${unanswered} unanswered ones`);
    }
  }

  /** Compares the ledger with the shares that the clients have sent. */
  checkLedger(): void {
    const check = new LedgerCheck(this, this.#violate);
    check.read(Buffer.concat(this.#written).toString(), this.isWhole);
    if (this.isWhole) check.finish();
  }

  /** Whether it had time to write all that it wanted to. */
  get isWhole(): boolean {
    return !this.wasKilled && !this.endedWithoutDisk;
  }

  #solution(hash: string): void {
    const header = this.account.headers.get(hash);
    this.solutions.add(hash);
    if (!header) return; // The books report this.
    const work = workOf(header);
    if (this.solved.has(work)) this.#violate('two solutions of a work were submitted');
    this.solved.add(work);
  }

  #report(event: Extract<MinerEvent, { type: 'relay' }>): void {
    for (const told of event.workers) {
      const known = this.#workers.get(told.name);
      if (known) this.#compareWorker(told, known);
      else if (told.name !== '(others)' && sharesOf(told) > 0) this.#violate(`${told.name} has shares, but sent none`);
    }
    this.relay = event;
  }

  /** What was answered has been counted; what was counted has been sent. */
  #compareWorker(told: RelayWorker, known: WorkerShares): void {
    const isTooFew = OUTCOMES.some((outcome) => told[outcome] < known.answered[outcome]);
    if (isTooFew || sharesOf(told) > known.sent)
      this.#violate(`the report on ${told.name} says ${JSON.stringify(told)}, of ${JSON.stringify(known)}`);
  }

  #unanswered(): number {
    let sum = 0;
    for (const { sent, answered } of this.#workers.values()) {
      sum += sent - OUTCOMES.reduce((all, outcome) => all + answered[outcome], 0);
    }
    return sum;
  }

  #worker(name: string): WorkerShares {
    const known = this.#workers.get(name);
    if (known) return known;
    const made = { sent: 0, answered: { accepted: 0, rejected: 0, stale: 0, duplicate: 0 } };
    this.#workers.set(name, made);
    return made;
  }
}

const sharesOf = (worker: RelayWorker) => OUTCOMES.reduce((sum, outcome) => sum + worker[outcome], 0);
/** The hash of the work's transactions, which no other work has, and its parent. */
const workOf = (header: Uint8Array) => `${toHex(parentOf(header))} ${toHex(header.subarray(190, 222))}`;
