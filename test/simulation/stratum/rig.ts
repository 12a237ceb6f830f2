/** A rig with a stratum server, whose connections and share ledger are in memory. */

import type { MakeRelay } from '#pickaxe/app/composition/run-miner.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { Ledger } from '#pickaxe/miner/relay/stratum/share-log.js';
import { StratumRelay } from '#pickaxe/miner/relay/stratum/stratum-server.js';
import { PipePort } from '../pipe.ts';
import { type RigOptions, SimulatedRig } from '../rigs.ts';
import { faultOfBan } from './farm.ts';
import { ServerLife } from './life.ts';

/** Planned seconds between two shares of a session. */
export const SHARE_SECONDS = 10;
/** Shorter than the default, so that bans end in a run. */
const BAN_MS = 60_000;
/** Longer than the default, which costs most of the time of a run. */
const TICK_MS = 500;

/** Limits with which the ledger soon sums up shares, above all those of ASICs with one address. */
const FEW_LINES = { ledgerBurst: 60, ledgerLinesPerSecond: 0.2, ledgerWorkers: 8 };

export class StratumRig extends SimulatedRig {
  /** The lives of its servers, the newest last. */
  readonly lives: ServerLife[] = [];
  readonly #simulation: RigOptions['simulation'];
  readonly #pipes: () => number;

  constructor(options: RigOptions) {
    super(options);
    this.#simulation = options.simulation;
    this.#pipes = options.simulation.random('pipes');
  }

  /** The server that runs now, or ran last; undefined before the first one. */
  get life(): ServerLife | undefined {
    return this.lives.at(-1);
  }

  /** Stops the rig in order, and starts it when it has ended. */
  restart(after: (ms: number, act: () => void) => void): void {
    const { process, life } = this;
    if (!life || process.isDead || process.isFrozen || life.isStopping) return;
    life.isStopping = true;
    this.stop();
    const wait = () => {
      if (process.isDead) return;
      if (this.hasEnded) after(5_000, start);
      else after(1_000, wait);
    };
    const start = () => {
      if (process.isDead) return;
      if (process.timers > 0) this.#simulation.violate(`${this.name} has ended with ${process.timers} timers`);
      this.start();
    };
    wait();
  }

  protected override relays(): readonly MakeRelay[] {
    return [
      ({ source, emit, clock, lane }) => {
        const life = this.#begin(lane);
        return new StratumRelay({
          source,
          emit,
          clock,
          log: { debug: () => {}, info: () => {}, warn: (line) => this.#warned(life, line) },
          listen: life.port.listen,
          lane,
          shareSeconds: SHARE_SECONDS,
          openLedger: async () => new Ledger(life.file, { clock, warn: (line) => this.#warned(life, line) }),
          limits: { banMs: BAN_MS, tickMs: TICK_MS, ...(life.hasFewLines && FEW_LINES) },
        });
      },
    ];
  }

  protected override listen(event: MinerEvent): void {
    super.listen(event);
    this.life?.listen(event);
  }

  #begin(lane: number): ServerLife {
    const { process, account } = this;
    const port = new PipePort({ clock: process.clock, address: '192.0.2.80' }, { random: this.#pipes, mostPieces: 2 });
    const parts = { process, port, account, lane, hasFewLines: this.random() < 0.3 };
    const life = new ServerLife(parts, (what) => this.#simulation.violate(what));
    this.lives.push(life);
    process.onKill(() => {
      life.wasKilled = true;
      port.kill();
    });
    return life;
  }

  #warned(life: ServerLife, line: string): void {
    if (life.process.isDead) return;
    this.#simulation.note(`warning: ${line}`);
    const [, address] = /^(\S+) is banned for/.exec(line) ?? [];
    if (!address) return;
    const fault = faultOfBan(life, address);
    if (fault) this.#simulation.violate(fault);
    const { nowMs } = this.#simulation.time;
    life.bans.set(address, { fromMs: nowMs, untilMs: nowMs + BAN_MS });
  }
}
