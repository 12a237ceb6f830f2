/** Simulated rigs: the product's miner on a simulated device, which can be killed, frozen and started again. */

import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { Miner } from '#pickaxe/miner/loop/miner.js';
import type { WorkSource } from '#pickaxe/miner/source/source.js';
import type { Random } from '#pickaxe/mock-node/random.js';
import { HEADER_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import type { Account, Books } from './books.ts';
import { SimulatedEngine } from './engine.ts';
import type { SimulatedNode } from './node.ts';
import type { Simulation } from './simulation.ts';
import type { SimulatedProcess } from './virtual-time.ts';

export interface RigOptions {
  readonly name: string;
  readonly simulation: Simulation;
  readonly books: Books;
  readonly nodes: () => readonly SimulatedNode[];
  readonly hashesPerSecond: number;
  readonly sourceOf: (process: SimulatedProcess, emit: (event: MinerEvent) => void, random: Random) => WorkSource;
}

export class SimulatedRig {
  readonly name: string;
  process!: SimulatedProcess;
  /** Number of nonces that all processes of this rig have searched, and of those on the newest block of any node. */
  searched = 0;
  current = 0;
  /** Virtual time of the last batch whose parent was the newest block of a node. */
  lastCurrentMs = 0;
  hasEnded = false;
  readonly #options: RigOptions;
  readonly #random: Random;
  #stop = new AbortController();
  #account!: Account;

  constructor(options: RigOptions) {
    this.name = options.name;
    this.#options = options;
    this.#random = options.simulation.random(options.name);
    this.start();
  }

  /** Starts the rig, after the first start or after it was killed. */
  start(): void {
    const { simulation, books, nodes, hashesPerSecond, sourceOf, name } = this.#options;
    const random = this.#random;
    const process = simulation.time.start(name, Math.round((random() - 0.5) * 2_000));
    const account = books.open(name);
    const emit = (event: MinerEvent) => {
      if (!process.isDead) books.listen(account, event);
    };
    const engine = new SimulatedEngine(process, hashesPerSecond, random);
    engine.onFound = (header) => books.candidate(account, header);
    engine.onBatch = ({ work }, nonces) => {
      this.searched += nonces;
      const parent = work.header.subarray(HEADER_OFFSET.parent, HEADER_OFFSET.parent + 32);
      if (!nodes().some((node) => node.isCurrent(work.chain, parent))) return;
      this.current += nonces;
      this.lastCurrentMs = simulation.time.nowMs;
    };
    this.process = process;
    this.#account = account;
    this.#stop = new AbortController();
    this.hasEnded = false;
    const miner = new Miner({
      source: sourceOf(process, emit, random),
      engines: [engine],
      clock: process.clock,
      random: (below) => Math.floor(random() * below),
      emit,
    });
    miner.run(this.#stop.signal).then(
      () => {
        if (!process.isDead) this.hasEnded = true;
      },
      (fault) => simulation.violate(`${name} has thrown ${fault instanceof Error ? fault.stack : fault}`),
    );
  }

  /** Ends the process as SIGKILL does. */
  kill(): void {
    this.process.kill();
    this.#options.books.close(this.#account);
  }

  /** Ends the process as SIGTERM does. */
  stop(): void {
    this.#stop.abort();
  }
}
