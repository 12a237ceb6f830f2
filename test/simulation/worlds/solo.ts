/** Two rigs, each on the same two nodes. */

import { SettingsFile } from '../members.ts';
import { SimulatedRig } from '../rigs.ts';
import type { Simulation } from '../simulation.ts';
import type { Configured } from './faults.ts';
import { MiningWorld } from './world.ts';

export class SoloWorld extends MiningWorld {
  readonly rigs: readonly SimulatedRig[];
  override readonly configured: readonly (Configured & { readonly member: SimulatedRig })[];

  constructor(simulation: Simulation) {
    super(simulation, 2);
    const { books, nodes, isCurrent } = this;
    this.configured = ['rig0', 'rig1'].map((name) => {
      const file = new SettingsFile(nodes.map(({ url }) => url));
      const options = { name, simulation, books, nodes, isCurrent, settings: file.read, hashesPerSecond: 25 };
      return { member: new SimulatedRig(options), file };
    });
    this.rigs = this.configured.map(({ member }) => member);
  }
  endFaults(): void {
    this.endLoneFault();
  }
}
