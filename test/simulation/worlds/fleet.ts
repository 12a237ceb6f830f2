/** A fleet: coordinators on nodes, rigs that mine their works, and a NATS server between them. */

import type { Random } from '#pickaxe/mock-node/random.js';
import { inFleet, onNodes, SimulatedCoordinator } from '../members.ts';
import { SimulatedNats } from '../nats.ts';
import { SimulatedRig } from '../rigs.ts';
import type { Faults, Simulation } from '../simulation.ts';
import { pick } from './faults.ts';
import { type Member, MiningWorld } from './world.ts';

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
  readonly coordinators: readonly SimulatedCoordinator[];

  constructor(simulation: Simulation, options: FleetOptions) {
    super(simulation, options.nodes);
    const nats = new SimulatedNats(simulation.random('nats'));
    nats.repeated = 0.02;
    this.nats = nats;
    const { books, nodes, isCurrent } = this;
    this.coordinators = Array.from({ length: options.coordinators }, (_, at) => {
      const own = options.hasOwnNodes ? [nodes[at % nodes.length]] : nodes;
      const settings = () => onNodes(own.map(({ url }) => url));
      return new SimulatedCoordinator({ name: `c${at}`, simulation, settings, nodes, nats, mostSkewMs: 3_000 });
    });
    this.rigs = Array.from({ length: options.rigs }, (_, at) => {
      const settings = () => inFleet;
      const options = { simulation, books, isCurrent, settings, nodes, nats, hashesPerSecond: 12 };
      return new SimulatedRig({ name: `rig${at}`, ...options });
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
