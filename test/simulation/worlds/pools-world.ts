/** What every world of pools has: two pools that fail in all ways, rigs, and what must be true of them. */

import type { SimulatedCoordinator } from '../members.ts';
import { PoolSite } from '../pool-site.ts';
import type { PoolUser } from '../pool-user.ts';
import type { SimulatedRig } from '../rigs.ts';
import type { World } from '../run.ts';
import type { ShareBooks } from '../share-books.ts';
import type { Faults, Simulation } from '../simulation.ts';
import { rigFaults } from './faults.ts';
import { poolFaults } from './pool-faults.ts';

/** Time within which a miner has left a pool that is of no use. */
const NOTICED_MS = 150_000;

export abstract class PoolsWorld implements World {
  readonly simulation: Simulation;
  readonly sites: readonly PoolSite[];
  abstract readonly rigs: readonly SimulatedRig[];
  abstract readonly books: ShareBooks;
  /** Members besides the rigs. */
  readonly coordinators: readonly SimulatedCoordinator[] = [];

  constructor(simulation: Simulation) {
    this.simulation = simulation;
    this.sites = ['pool0', 'pool1'].map((name) => new PoolSite(name, simulation));
  }

  get totals() {
    const { found, verdicts, lost } = this.books;
    return { found, accepted: verdicts.accepted, lost };
  }

  /** The processes that mine on the pools at present. */
  protected abstract users(): readonly PoolUser[];

  /** Faults of this world, besides those of pools and rigs. */
  protected moreFaults(): Faults {
    return {};
  }

  faults(): Faults {
    const { simulation, sites } = this;
    return {
      ...poolFaults({ simulation, sites, users: () => this.users() }),
      ...rigFaults(this),
      ...this.moreFaults(),
    };
  }

  endFaults(): void {
    for (const site of this.sites) site.calm();
    for (const member of [...this.rigs, ...this.coordinators]) {
      member.thaw();
      member.start();
    }
  }

  calm(): void {
    this.endFaults();
  }

  check(): void {
    this.books.check();
    for (const user of this.users()) user.check();
    const { alone, time } = this.simulation;
    if (alone && time.nowMs - alone.sinceMs > NOTICED_MS) for (const user of this.users()) user.checkLeft();
    for (const site of this.sites) {
      for (const what of site.takeFaults()) this.simulation.violate(`${site.name}: ${what}`);
    }
  }

  checkMining(): void {
    for (const user of this.users()) user.checkChoice();
    for (const { name, lastCurrentMs } of this.rigs) {
      const agoMs = this.simulation.time.nowMs - lastCurrentMs;
      const mayRest = this.users().some((user) => user.isBlind || this.sites.every((site) => user.mayLeave(site)));
      if (agoMs <= 10_000 || mayRest) continue;
      this.simulation.violate(`${name} has mined nothing current for ${(agoMs / 1000).toFixed(0)} s`);
    }
  }

  stop(): void {
    this.books.stoppedMs = this.simulation.time.nowMs;
    for (const rig of this.rigs) rig.stop();
  }

  stopMembers(): void {
    for (const user of this.users()) user.isEnding = true;
    for (const coordinator of this.coordinators) coordinator.stop();
    for (const { pool } of this.sites) pool.close();
  }

  checkEnd(): void {
    this.books.checkEnd();
    for (const user of this.users()) user.checkEnd();
    for (const { name, hasEnded, timersAtEnd } of [...this.rigs, ...this.coordinators]) {
      if (!hasEnded) this.simulation.violate(`${name} has not ended a minute after it was stopped`);
      else if (timersAtEnd > 0) this.simulation.violate(`${name} has ended with ${timersAtEnd} timers`);
    }
    for (const { name, port } of this.sites) {
      const left = [...port.pipes].filter(({ isDeaf }) => !isDeaf).length;
      if (left > 0) this.simulation.violate(`${name} has ${left} connections after the end`);
    }
  }
}
