/** A fleet: coordinators on nodes, rigs that mine their works, and a NATS server between them. */

import { FleetRates } from '../fleet-rates.ts';
import { inFleet, SettingsFile, SimulatedCoordinator } from '../members.ts';
import { SimulatedNats } from '../nats.ts';
import { SimulatedOperator } from '../operator.ts';
import { SimulatedRig } from '../rigs.ts';
import type { Faults, Simulation } from '../simulation.ts';
import { type Configured, fleetFaults } from './faults.ts';
import { MiningWorld } from './world.ts';

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
  override readonly coordinators: readonly SimulatedCoordinator[];
  override readonly configured: readonly (Configured & { readonly member: SimulatedCoordinator })[];
  override readonly sharesNodes: boolean;
  readonly #operator: SimulatedOperator;

  constructor(simulation: Simulation, options: FleetOptions) {
    super(simulation, options.nodes);
    const nats = new SimulatedNats(simulation.random('nats'), new FleetRates(simulation).count);
    nats.repeated = 0.02;
    this.nats = nats;
    const { books, nodes, isCurrent } = this;
    this.configured = Array.from({ length: options.coordinators }, (_, at) => {
      const own = options.hasOwnNodes ? [nodes[at % nodes.length]] : nodes;
      const file = new SettingsFile(own.map(({ url }) => url));
      const how = { name: `c${at}`, simulation, settings: file.read, nodes, nats, mostSkewMs: 3_000 };
      return { member: new SimulatedCoordinator(how), file };
    });
    this.coordinators = this.configured.map(({ member }) => member);
    this.sharesNodes = !options.hasOwnNodes;
    this.rigs = Array.from({ length: options.rigs }, (_, at) => {
      const settings = () => inFleet;
      const options = { simulation, books, isCurrent, settings, nodes, nats, hashesPerSecond: 12 };
      return new SimulatedRig({ name: `rig${at}`, ...options });
    });
    this.#operator = new SimulatedOperator(simulation, nats, this.rigs);
  }

  override check(): void {
    super.check();
    this.#operator.check();
  }

  endFaults(): void {
    this.endLoneFault();
  }

  protected override moreFaults(): Faults {
    return fleetFaults(this);
  }
}
