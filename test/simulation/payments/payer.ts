/**
 * Somebody who pays with `pickaxe tx transfer` and `pickaxe sweep`, one payment after the other. The commands run in
 * processes that end at any time. The person then goes on with --resume, and pays again only what has failed.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '#pickaxe/app/config/load.js';
import { EXIT, UsageError } from '#pickaxe/app/process/exit.js';
import type { SweepIo } from '#pickaxe/cli/coins/sweep/coin-session.js';
import { runSweep, type SweepReport } from '#pickaxe/cli/coins/sweep/sweep.js';
import { type PaymentReport, runTxTransfer } from '#pickaxe/cli/coins/sweep/transfer.js';
import type { Random } from '#pickaxe/mock-node/random.js';
import { KnownWork } from '#pickaxe/node/blocks/known-work.js';
import type { Transport } from '#pickaxe/node/http/exchange.js';
import type { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { type Decimal, parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import type { Simulation } from '../simulation.ts';
import type { SimulatedProcess } from '../virtual-time.ts';
import { CHAINS, LEAST_WORK, type LedgerNode, NETWORK, transportOf } from './ledger-node.ts';
import { Killed, MemoryFiles } from './memory-files.ts';

/** A payment as a person wants it. */
export interface Job {
  readonly kind: 'transfer' | 'sweep';
  /** What makes it different from all others. */
  readonly name: string;
  readonly secret: string;
  readonly pair: KeyPair;
  /** The chain of the coins; unused by sweeps. */
  readonly chain: number;
  readonly toChain: number;
  /** The receiver and the amount; undefined for sweeps. */
  readonly to?: string;
  readonly amount?: Decimal;
  readonly gasStation?: string;
}

export const accountOf = ({ pair }: Pick<Job, 'pair'>) => `k:${pair.publicKey}`;

export interface PayerOptions {
  readonly name: string;
  readonly simulation: Simulation;
  readonly nodes: readonly LedgerNode[];
  readonly jobs: readonly Job[];
  /** Called when a command has ended by itself, with its exit code, or what was wrong with its command line. */
  readonly onEnd: (payer: Payer, job: Job, code: number, report: SweepReport | PaymentReport | undefined) => void;
}

type End = 'killed' | { readonly code: number } | { readonly refused: string };

/** Coins that a sweep leaves on each chain, and the fewest that it moves. */
export const KEEP = parseDecimal('0.001');
const MIN = parseDecimal('0.01');
/** How often somebody forgets that a payment is unfinished, and begins it again. */
const FORGETTING = 0.3;

export class Payer {
  readonly name: string;
  readonly files = new MemoryFiles();
  /** The process of the present command; undefined between two commands. */
  process: SimulatedProcess | undefined;
  /** The payment that is under way. */
  job: Job | undefined;
  /** Names of the payments that have begun, and of those that are done by the word of their commands. */
  readonly begun = new Set<string>();
  readonly done = new Set<string>();
  /** Number of commands that were started. */
  runs = 0;
  /** How far the clocks of its processes are ahead. */
  skewMs = 0;
  /** Whether no new payment begins any more. */
  isLeaving = false;
  /** Whether the person has left for good, and begins no more commands. */
  isGone = false;
  /** Number of calls and requests until the process is killed; 0 for never. */
  killIn = 0;
  readonly #options: PayerOptions;
  readonly #random: Random;
  /** Decides whether the person forgets that a payment is unfinished. */
  readonly #forgets: Random;
  #stop = new AbortController();
  #stoppedMs: number | undefined;
  #unique = 0;
  #bounds!: RequestBounds;

  constructor(options: PayerOptions) {
    this.name = options.name;
    this.#options = options;
    this.#random = options.simulation.random(options.name);
    this.#forgets = options.simulation.random(`what ${options.name} forgets`);
    void this.#live(options.simulation.time.start(`${this.name}, in person`));
  }

  /** Ends the command as ^C does. */
  interrupt(): void {
    this.#stop.abort();
    this.#stoppedMs ??= this.#options.simulation.time.nowMs;
  }

  async #live(person: SimulatedProcess): Promise<void> {
    await person.sleep(this.#random() * 20_000);
    for (const job of this.#options.jobs) {
      if (this.isLeaving) return;
      this.job = job;
      this.begun.add(job.name);
      await this.#carryOut(job, person);
      this.job = undefined;
      await person.sleep(this.#random() * 5_000);
    }
  }

  async #carryOut(job: Job, person: SimulatedProcess): Promise<void> {
    let resume = false;
    while (!this.isGone) {
      const { end, text } = await this.#run(job, resume);
      if (end === 'killed') {
        // Whoever does not know how far the command has come asks with --resume first.
        resume = true;
        await person.sleep(this.#random() * 20_000);
        continue;
      }
      if ('refused' in end) resume = /is unfinished/.test(end.refused);
      else {
        const report = text === '' ? undefined : (JSON.parse(text) as SweepReport | PaymentReport);
        this.#options.onEnd(this, job, end.code, report);
        const state = report && stateIn(report);
        if (end.code === EXIT.done && state === 'done') {
          this.done.add(job.name);
          return;
        }
        if (state === 'nothing') return;
        resume = state === 'pending' || (state === undefined && resume);
        if (state === 'pending' && this.#forgets() < FORGETTING) await this.#payAgain(job);
      }
      await person.sleep(2_000 + this.#random() * 20_000);
    }
  }

  /** A command that is not told to go on must not pay a second time while the first payment is unfinished. */
  async #payAgain(job: Job): Promise<void> {
    const { end } = await this.#run(job, false);
    const isRefused = typeof end === 'object' && 'refused' in end;
    if (end !== 'killed' && !isRefused) {
      this.#options.simulation.violate(`${this.name} pays ${job.name} again, which is unfinished`);
    }
  }

  /** Runs one command. */
  #run(job: Job, resume: boolean): Promise<{ readonly end: End; readonly text: string }> {
    const { simulation, nodes } = this.#options;
    const process = simulation.time.start(this.name, this.skewMs);
    this.process = process;
    this.runs++;
    this.#bounds = new RequestBounds(job, process, (what) => simulation.violate(`${this.name} ${what}`));
    this.#stop = new AbortController();
    this.#stoppedMs = undefined;
    const note = (what: string) => {
      if (!process.isDead) simulation.note(`${this.name}: ${what}`);
    };
    note(`${resume ? 'goes on with' : 'begins'} ${job.name}`);
    let text = '';
    const random = this.#random;
    const io: SweepIo = {
      out: (chunk) => {
        text += chunk;
      },
      say: (line) => {
        // The name of the key file's folder is another one in each run.
        note(line.replace(/(?<=--key-file )\S+/g, 'FILE'));
        // The person does as the message says, because no other process is there.
        const [, lock, removal] = /if there is none, remove (\S+) and (\S+)$/.exec(line) ?? [];
        if (lock !== undefined && !process.isDead) this.files.remove(lock, removal);
      },
      confirm: async () => undefined,
      stop: this.#stop.signal,
      stateDirectory: '/state',
      clock: process.clock,
      pauseMs: 10_000,
      requests: { random, transport: (origin) => this.#counting(transportOf(nodes, process)(origin), process) },
      knownWork: new KnownWork({ table: () => LEAST_WORK }),
      files: this.files.system(() => this.#beforeCall(process)),
      unique: () => `${this.name} ${this.#unique++}`,
    };
    return new Promise((resolve) => {
      const over = (end: End) => {
        if (this.process === process) this.process = undefined;
        resolve({ end, text });
      };
      process.onKill(() => {
        simulation.note(`${this.name} is killed`);
        over('killed');
      });
      this.#command(job, resume, io).then(
        (code) => {
          if (process.isDead) return;
          note(`ends with ${code}`);
          this.#checkEnd(process);
          over({ code });
        },
        (fault) => {
          if (process.isDead) return;
          this.#checkEnd(process);
          if (!(fault instanceof UsageError)) simulation.violate(`${this.name} has thrown ${fault?.stack ?? fault}`);
          note(`is refused: ${fault?.message}`);
          over({ refused: `${fault?.message}` });
        },
      );
    });
  }

  #command(job: Job, resume: boolean, io: SweepIo): Promise<number> {
    const { kind, secret, pair, chain, toChain, to, amount, gasStation } = job;
    const folder = mkdtempSync(join(tmpdir(), 'pickaxe-payer-'));
    try {
      const keyFile = join(folder, 'key.json');
      writeFileSync(keyFile, JSON.stringify({ publicKey: pair.publicKey, secretKey: secret }), { mode: 0o600 });
      const timeout = 300 + Math.floor(this.#random() * 3_000);
      const common = { keyFile: [keyFile], yes: true, resume, timeout, json: true, ...(gasStation && { gasStation }) };
      const loaded = this.#loaded(accountOf(job));
      // Both read the key file before they wait for anything.
      if (kind === 'sweep') return runSweep(loaded, { ...common, toChain, keep: KEEP, min: MIN }, io);
      return runTxTransfer(loaded, { ...common, chain, toChain, ...(to && { to }), ...(amount && { amount }) }, io);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  #loaded(account: string) {
    const urls = this.#options.nodes.map(({ url }) => url);
    // Each run begins with another node.
    const first = Math.floor(this.#random() * urls.length);
    const order = urls.map((_, i) => urls[(first + i) % urls.length]);
    const flags = new Map(
      Object.entries({ 'node.urls': order, 'node.network': NETWORK, 'miner.account': account }),
    ) as ReadonlyMap<string, string | string[]>;
    return loadConfig({ flags: flags as never, environment: {}, cwd: tmpdir() });
  }

  #checkEnd(process: SimulatedProcess): void {
    const { simulation } = this.#options;
    if (process.timers > 0) simulation.violate(`${this.name} has ended with ${process.timers} timers`);
    const late = this.#stoppedMs === undefined ? 0 : simulation.time.nowMs - this.#stoppedMs;
    if (late > 60_000) simulation.violate(`${this.name} has ended ${late} ms after it was stopped`);
  }

  /** Counts requests, and lets nothing of a dead process leave. */
  #counting({ request, ...rest }: Transport, process: SimulatedProcess): Transport {
    return {
      ...rest,
      request: (asked) => {
        if (process.isDead) return new Promise(() => {});
        const kill = this.#counts();
        if (kill && this.#random() < 0.5) {
          process.kill();
          return new Promise(() => {});
        }
        const answered = this.#bounds.count(request(asked));
        if (kill) process.kill();
        return answered;
      },
    };
  }

  #beforeCall(process: SimulatedProcess): () => void {
    if (process.isDead) throw new Killed();
    const kill = this.#counts();
    const isBefore = kill && this.#random() < 0.5;
    const end = () => {
      process.kill();
      throw new Killed();
    };
    if (isBefore) end();
    return kill ? end : () => {};
  }

  #counts(): boolean {
    if (this.killIn === 0) return false;
    return --this.killIn === 0;
  }
}

/** The most requests at once: those of the chains of a plan, and later those of one transfer, one after the other. */
const AT_ONCE = { sweep: CHAINS - 1, transfer: 1 } as const;
/** The most requests in a minute: six rounds, each with a search of blocks, compared with two other nodes. */
const IN_A_MINUTE = { sweep: 540, transfer: 180 } as const;

/** Checks how many requests a command sends. */
class RequestBounds {
  readonly #kind: Job['kind'];
  readonly #process: SimulatedProcess;
  readonly #violate: (what: string) => void;
  readonly #sentMs: number[] = [];
  #open = 0;

  constructor({ kind }: Job, process: SimulatedProcess, violate: (what: string) => void) {
    this.#kind = kind;
    this.#process = process;
    this.#violate = violate;
  }

  count<T>(answered: Promise<T>): Promise<T> {
    const nowMs = this.#process.clock.monotonicMs();
    while (nowMs - this.#sentMs[0] > 60_000) this.#sentMs.shift();
    this.#sentMs.push(nowMs);
    this.#open++;
    if (this.#open > AT_ONCE[this.#kind]) this.#violate(`sends ${this.#open} requests at once`);
    if (this.#sentMs.length > IN_A_MINUTE[this.#kind])
      this.#violate(`sends ${this.#sentMs.length} requests in a minute`);
    return answered.finally(() => {
      this.#open--;
    });
  }
}

/** What a person reads in a report. */
function stateIn(report: SweepReport | PaymentReport): 'done' | 'failed' | 'pending' | 'nothing' {
  const states = 'chains' in report ? report.chains.map(({ state }) => state) : [report.state];
  if ('chains' in report && !states.some((state) => state === 'done' || state === 'pending' || state === 'planned')) {
    return states.includes('failed') ? 'failed' : 'nothing';
  }
  if (states.includes('pending')) return 'pending';
  // What is planned was not signed: it begins anew.
  if (states.includes('failed') || states.includes('planned')) return 'failed';
  return 'done';
}
