/** A fleet: coordinators on nodes, rigs that mine their works, and a NATS server between them. */

import { submitToAll } from '#pickaxe/app/composition/choose-source.js';
import { FleetRelay } from '#pickaxe/fleet/coordinator/fleet-relay.js';
import { FleetSource } from '#pickaxe/fleet/rig/fleet-source.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import { SharedSource } from '#pickaxe/miner/source/following.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import type { Random } from '#pickaxe/mock-node/random.js';
import { SimulatedNats } from '../nats.ts';
import { type SimulatedNode, transportOf } from '../node.ts';
import { SimulatedRig } from '../rigs.ts';
import type { Faults, Simulation } from '../simulation.ts';
import type { SimulatedProcess } from '../virtual-time.ts';
import { MINER } from './solo.ts';
import { type Member, MiningWorld, pick } from './world.ts';

const SUBJECTS = new FleetSubjects('pickaxe');
const SILENT = { debug: () => {}, info: () => {}, warn: () => {} };

export interface FleetOptions {
  readonly nodes: number;
  readonly coordinators: number;
  readonly rigs: number;
  /** Whether each coordinator has a node of its own, instead of all nodes. */
  readonly hasOwnNodes: boolean;
}

export class FleetWorld extends MiningWorld {
  readonly rigs: readonly SimulatedRig[];
  readonly nats: SimulatedNats;
  readonly coordinators: readonly Coordinator[];

  constructor(simulation: Simulation, options: FleetOptions) {
    super(simulation, options.nodes);
    const nats = new SimulatedNats(simulation.random('nats'));
    nats.repeated = 0.02;
    this.nats = nats;
    this.coordinators = Array.from({ length: options.coordinators }, (_, at) => {
      const nodes = options.hasOwnNodes ? [this.nodes[at % this.nodes.length]] : this.nodes;
      return new Coordinator(`c${at}`, simulation, nats, nodes);
    });
    this.rigs = Array.from({ length: options.rigs }, (_, at) => {
      const name = `rig${at}`;
      return new SimulatedRig({
        name,
        simulation,
        books: this.books,
        nodes: () => this.nodes,
        hashesPerSecond: 12,
        sourceOf: (process, emit, random) => {
          const link = nats.connect(process, SUBJECTS.inbox(name));
          const { clock } = process;
          return new FleetSource(
            { name: 'nats://simulated', link, subjects: SUBJECTS, rig: name },
            { clock, random, emit },
          );
        },
      });
    });
  }

  protected override members(): readonly Member[] {
    return this.coordinators;
  }

  protected override moreFaults(): Faults {
    const { coordinators, nats, simulation } = this;
    const later = (random: Random, mostMs: number, act: () => void) => this.faulty.after(random() * mostMs, act);
    return {
      'a coordinator is killed': (random) => {
        const coordinator = pick(random, coordinators);
        coordinator.kill();
        later(random, 8_000, () => coordinator.start());
      },
      'all coordinators are killed': (random) => {
        for (const coordinator of coordinators) coordinator.kill();
        later(random, 4_000, () => {
          for (const coordinator of coordinators) coordinator.start();
        });
      },
      'a coordinator is frozen': (random) => {
        const coordinator = pick(random, coordinators);
        coordinator.freeze();
        later(random, 40_000, () => coordinator.thaw());
      },
      'a connection is cut': (random) => pick(random, [...nats.links]).cut(random() * 30_000),
      'a connection is held': (random) => {
        pick(random, [...nats.links]).heldUntilMs = simulation.time.nowMs + random() * 15_000;
      },
      'all connections are held': (random) => {
        const untilMs = simulation.time.nowMs + random() * 12_000;
        for (const link of nats.links) link.heldUntilMs = Math.max(link.heldUntilMs, untilMs);
      },
    };
  }
}

/** The product's coordinator, which can be killed, frozen and started again. */
class Coordinator implements Member {
  readonly name: string;
  hasEnded = false;
  readonly #simulation: Simulation;
  readonly #nats: SimulatedNats;
  readonly #nodes: readonly SimulatedNode[];
  readonly #random: Random;
  #process!: SimulatedProcess;
  #stop = new AbortController();

  constructor(name: string, simulation: Simulation, nats: SimulatedNats, nodes: readonly SimulatedNode[]) {
    this.name = name;
    this.#simulation = simulation;
    this.#nats = nats;
    this.#nodes = nodes;
    this.#random = simulation.random(name);
    this.start();
  }

  get timers(): number {
    return this.#process.timers;
  }

  start(): void {
    if (this.#process && !this.#process.isDead) return;
    const random = this.#random;
    const process = this.#simulation.time.start(this.name, Math.round((random() - 0.5) * 6_000));
    this.#process = process;
    this.#stop = new AbortController();
    this.hasEnded = false;
    const { clock } = process;
    const context = { clock, random, transport: transportOf(this.#nodes, process) };
    const nodes = this.#nodes.map(({ url }) => new NodeSource({ url, network: 'development', miner: MINER }, context));
    const failover = new FailoverSource({ sources: nodes, clock, isWatched: true });
    const source = new SharedSource(failover);
    const relay = new FleetRelay({
      source,
      emit: () => {},
      clock,
      log: SILENT,
      link: this.#nats.connect(process, SUBJECTS.inbox(this.name)),
      subjects: SUBJECTS,
      name: this.name,
      instance: Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join(''),
      submitElsewhere: (solution, stop) =>
        submitToAll(
          nodes.filter((node) => !failover.hasLeft(node)),
          solution,
          stop,
        ),
    });
    const { signal } = this.#stop;
    const running = async () => {
      await relay.open();
      await relay.run(signal);
      await source.close();
    };
    running().then(
      () => {
        if (!process.isDead) this.hasEnded = true;
      },
      (fault) => {
        if (!process.isDead) this.#simulation.violate(`${this.name} has thrown ${fault?.stack ?? fault}`);
      },
    );
  }

  kill(): void {
    this.#process.kill();
  }

  freeze(): void {
    this.#process.freeze();
  }

  thaw(): void {
    if (this.#process.isDead) this.start();
    else this.#process.thaw();
  }

  stop(): void {
    this.#stop.abort();
  }
}
