/** Two rigs, each on the same two nodes. */

import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import type { MinerIdentity } from '#pickaxe/node/client/miner-identity.js';
import { transportOf } from '../node.ts';
import { type RigOptions, SimulatedRig } from '../rigs.ts';
import type { Simulation } from '../simulation.ts';
import { MiningWorld } from './world.ts';

export const MINER: MinerIdentity = { account: 'k:aa', predicate: 'keys-all', publicKeys: ['aa'] };

export class SoloWorld extends MiningWorld {
  readonly rigs: readonly SimulatedRig[];

  constructor(simulation: Simulation) {
    super(simulation, 2);
    const sourceOf: RigOptions['sourceOf'] = (process, emit, random) => {
      const { clock } = process;
      const context = { clock, random, emit, transport: transportOf(this.nodes, process) };
      const sources = this.nodes.map(
        ({ url }) => new NodeSource({ url, network: 'development', miner: MINER }, context),
      );
      return new FailoverSource({ sources, clock, emit });
    };
    const options = { simulation, books: this.books, nodes: () => this.nodes, hashesPerSecond: 25, sourceOf };
    this.rigs = ['rig0', 'rig1'].map((name) => new SimulatedRig({ name, ...options }));
  }
}
