/** A simulated pool at an address: its process can be killed, frozen and started again, and then knows no session. */

import type { Random } from '#pickaxe/mock-node/random.js';
import { equalBytes } from '#pickaxe/protocol/chain/bytes.js';
import { parentOf, type Work } from '#pickaxe/protocol/chain/work.js';
import { type Pipe, type PipeEnd, PipePort } from './pipe.ts';
import { type PoolHabits, SimulatedPool } from './pool.ts';
import type { Simulation } from './simulation.ts';
import type { SimulatedProcess } from './virtual-time.ts';

/** What the site's firewall does with new connections. */
type Gate = PipePort['state'];

export class PoolSite {
  readonly name: string;
  readonly host: string;
  readonly url: string;
  process!: SimulatedProcess;
  port!: PipePort;
  pool!: SimulatedPool;
  readonly #simulation: Simulation;
  readonly #random: Random;
  readonly #habits: PoolHabits;
  readonly #pools: SimulatedPool[] = [];
  #gate: Gate = 'accepts';

  constructor(name: string, simulation: Simulation) {
    this.name = name;
    this.host = `${name}.example`;
    this.url = `stratum+tcp://${this.host}:3333`;
    this.#simulation = simulation;
    this.#random = simulation.random(name);
    this.#habits = habitsOf(this.#random);
    this.start();
  }

  /** Starts the pool, after the first start or after it was killed. */
  start(): void {
    if (this.process && !this.process.isDead) return;
    this.process = this.#simulation.time.start(this.name);
    const { clock } = this.process;
    const random = this.#random;
    this.port = new PipePort({ clock, address: '203.0.113.1' }, { random, latencyMs: [1, 120] });
    this.port.state = this.#gate;
    this.pool = new SimulatedPool({ port: this.port, clock, random, habits: this.#habits });
    this.#pools.push(this.pool);
  }

  kill(): void {
    this.process.kill();
    this.port.kill();
  }

  set gate(gate: Gate) {
    this.#gate = gate;
    this.port.state = gate;
  }

  /** Whether a miner must notice that the pool is of no use to it. @param isConnected whether it has a connection */
  isUseless(isConnected: boolean): boolean {
    const { refusesAll, silence } = this.pool;
    return this.process.isDead || (this.#gate === 'refuses' && !isConnected) || refusesAll || silence === 'shares';
  }

  /** Ends all faults of the pool and its port. */
  calm(): void {
    this.start();
    if (this.process.isFrozen) this.process.thaw();
    this.gate = 'accepts';
    const { pool } = this;
    pool.silence = 'none';
    pool.refusesAll = false;
    pool.lostAnswers = this.#habits.lostAnswers;
    pool.refusedUsers.clear();
  }

  /** @throws Error as `PipePort.connect` */
  async connect(client: SimulatedProcess, timeoutMs: number, stop: AbortSignal): Promise<[PipeEnd, Pipe]> {
    const { port } = this;
    const end = await port.connect({ clock: client.clock, address: '192.0.2.1' }, timeoutMs, stop);
    const pipe = [...port.pipes].find(({ ends: [near] }) => near === end);
    return [end, pipe as Pipe];
  }

  /** Whether the work is on the newest block that the pool knows. */
  isCurrent({ header }: Work): boolean {
    return equalBytes(parentOf(header), this.pool.parent);
  }

  /** @returns the difficulty of an accepted share; undefined if the pool has never accepted this header */
  creditOf(header: Uint8Array): number | undefined {
    for (const pool of this.#pools) {
      const credit = pool.creditOf(header);
      if (credit !== undefined) return credit;
    }
    return undefined;
  }

  /** @returns what no correct miner does, since the last call */
  takeFaults(): string[] {
    return this.#pools.flatMap(({ faults }) => faults.splice(0));
  }
}

/** Habits of a real pool, at random. */
function habitsOf(random: Random): PoolHabits {
  const one = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)];
  return {
    nonce1Bytes: one(0, 1, 2, 2, 3, 4),
    difficulty: one(16, 32, 64),
    blockDifficulty: one(2 ** 40, 256),
    blockMs: one(6_000, 20_000),
    jobMs: one(1_000, 3_000, 8_000),
    shareMs: one(0, 2_000, 4_000),
    targetWithJob: one(true, false, false),
    judgesByNewest: one(true, false, false),
    hasCleanFlag: one(true, true, false),
    jobComesFirst: one(true, false, false),
    subscription: one('plain', 'nested', 'short'),
    authorization: one<PoolHabits['authorization']>(true, null, []),
    errors: one('f2pool', 'kratum', 'reference'),
    takesSuggestions: one(true, false),
    answerMs: one(30, 400),
    lostAnswers: one(0, 0, 0.05),
  };
}
