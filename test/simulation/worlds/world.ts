/** What every world of miners has: a network, nodes that fail in all ways, rigs, and what must be true of them. */

import type { Random } from '#pickaxe/mock-node/random.js';
import type { Job } from '#pickaxe/protocol/chain/job.js';
import { parentOf } from '#pickaxe/protocol/chain/work.js';
import { Books } from '../books.ts';
import type { SimulatedCoordinator } from '../members.ts';
import { SimulatedNetwork } from '../network.ts';
import { SimulatedNode } from '../node.ts';
import type { SimulatedRig } from '../rigs.ts';
import type { World } from '../run.ts';
import type { Faults, Simulation } from '../simulation.ts';
import { type Configured, machineFaults, nodeFaults, pick, rigFaults, settingsFaults } from './faults.ts';
import { Service } from './service.ts';

/** Mean time between two blocks of others, on all chains together. */
const FOREIGN_BLOCK_MS = 5_000;
/** The same after the last fault, so that enough blocks show how soon miners hear of them. */
const CALM_BLOCK_MS = 1_200;

/** Members of a world that can be killed and started again, such as coordinators. */
export interface Member {
  readonly name: string;
  kill(): void;
  start(): void;
  freeze(): void;
  thaw(): void;
  stop(): void;
  readonly hasEnded: boolean;
  readonly timers: number;
}

export abstract class MiningWorld implements World {
  readonly simulation: Simulation;
  readonly network: SimulatedNetwork;
  readonly nodes: SimulatedNode[];
  readonly books: Books;
  abstract readonly rigs: readonly SimulatedRig[];
  readonly coordinators: readonly SimulatedCoordinator[] = [];
  /** Whether every coordinator can submit every solution. */
  readonly sharesNodes: boolean = false;
  /** The members on nodes, whose settings change. */
  readonly configured: readonly Configured[] = [];
  #service: Service | undefined;
  #isStopped = false;
  #foreignBlockMs = FOREIGN_BLOCK_MS;

  constructor(simulation: Simulation, nodes: number) {
    this.simulation = simulation;
    const { time } = simulation;
    this.network = new SimulatedNetwork(simulation.random('network'), {
      chains: 6,
      // Where solutions are rare, only streams and probes show a rig that its work is old.
      difficulty: pick(simulation.random('difficulty'), [128, 256, 8_192]),
      propagationMs: 800,
    });
    this.nodes = Array.from({ length: nodes }, (_, at) => {
      // One of each kind, because live nodes and those of document 1 differ in their paths.
      const dialect = at % 2 === 0 ? 'chainweb' : 'document';
      return new SimulatedNode(`node${at}`, time, this.network, simulation.random(`node${at}`), dialect);
    });
    this.books = new Books(simulation, this.network, () => this.nodes);
    void this.#grow(simulation.random('growth'));
  }

  /** Whether the parent of a work is the newest block of any node that is not frozen. */
  protected readonly isCurrent = ({ work: { chain, header } }: Job): boolean =>
    this.nodes.some((node) => !node.process.isFrozen && node.isCurrent(chain, parentOf(header)));

  get totals() {
    const { found, verdicts, lost } = this.books;
    return { found, accepted: verdicts.accepted, lost };
  }

  /** Faults of this world, besides those of nodes and rigs. */
  protected moreFaults(): Faults {
    return {};
  }

  /** Members besides the rigs. */
  protected members(): readonly Member[] {
    return this.coordinators;
  }

  faults(): Faults {
    const urls = this.nodes.map(({ url }) => url);
    const isConfigured = this.configured.length > 0;
    const members = isConfigured && { ...machineFaults(this), ...settingsFaults(this.configured, urls, this) };
    return { ...nodeFaults(this), ...rigFaults(this), ...members, ...this.moreFaults() };
  }

  /** Ends the fault that came alone. */
  protected endLoneFault(): void {
    for (const node of this.nodes) node.clients.checkRefused();
    this.endAllFaults();
  }

  protected endAllFaults(): void {
    for (const node of this.nodes) {
      node.mode = 'fine';
      node.isDeaf = false;
      node.setClock(0);
      if (node.process.isFrozen) node.process.thaw();
      node.catchUp();
    }
    for (const rig of this.rigs) {
      rig.thaw();
      rig.engine.mode = 'fine';
      if (rig.pausedBy) rig.pause(undefined);
      rig.start();
    }
    for (const member of this.members()) {
      member.thaw();
      member.start();
    }
  }

  calm(): void {
    this.endAllFaults();
    for (const node of this.nodes) {
      // Clients open their streams again at once.
      node.endStreams();
      node.clients.calm();
    }
    this.#foreignBlockMs = CALM_BLOCK_MS;
  }

  /** Checks what must be true after each event. */
  check(): void {
    this.books.check();
    this.#service ??= new Service(this);
    if (!this.#isStopped && this.configured.length > 0) this.#service.check();
    // As a service manager does.
    for (const rig of this.rigs) if (!this.#isStopped && rig.isParked && rig.hasEnded) rig.start();
    for (const node of this.nodes) for (const what of node.invalid.splice(0)) this.simulation.violate(what);
  }

  /** Checks that every rig mines a minute after the last fault. */
  checkMining(): void {
    for (const { name, lastCurrentMs } of this.rigs) {
      const agoMs = this.simulation.time.nowMs - lastCurrentMs;
      if (agoMs > 10_000)
        this.simulation.violate(`${name} has mined nothing current for ${(agoMs / 1000).toFixed(0)} s`);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const rig of this.rigs) rig.stop();
  }

  stopMembers(): void {
    for (const member of this.members()) member.stop();
  }

  /** Checks what must be true after the end. */
  checkEnd(): void {
    this.books.checkEnd();
    for (const node of this.nodes) node.clients.checkEnd();
    this.check();
    const ends = [
      ...this.rigs.map(({ name, hasEnded, process: { timers } }) => ({ name, hasEnded, timers })),
      ...this.members(),
    ];
    for (const { name, hasEnded, timers } of ends) {
      if (!hasEnded) this.simulation.violate(`${name} has not ended a minute after it was stopped`);
      else if (timers > 0) this.simulation.violate(`${name} has ended with ${timers} timers`);
    }
  }

  async #grow(random: Random): Promise<void> {
    const others = this.simulation.time.start('others');
    for (;;) {
      await others.sleep(-Math.log(1 - random()) * this.#foreignBlockMs);
      const node = pick(random, this.nodes);
      if (node.mode !== 'down' && node.following !== 'late' && !node.process.isFrozen)
        node.growBy(Math.floor(random() * 6));
    }
  }
}
