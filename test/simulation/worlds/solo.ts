/** Two rigs, each on the same two nodes. */

import { onNodes } from '../members.ts';
import { SimulatedRig } from '../rigs.ts';
import type { Simulation } from '../simulation.ts';
import { MiningWorld } from './world.ts';

export class SoloWorld extends MiningWorld {
  readonly rigs: readonly SimulatedRig[];

  constructor(simulation: Simulation) {
    super(simulation, 2);
    const { books, nodes, isCurrent } = this;
    const settings = () => onNodes(nodes.map(({ url }) => url));
    this.rigs = ['rig0', 'rig1'].map((name) => {
      return new SimulatedRig({ name, simulation, books, nodes, isCurrent, settings, hashesPerSecond: 25 });
    });
  }
}
