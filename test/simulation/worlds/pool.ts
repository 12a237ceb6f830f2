/** Two rigs, each on the same two pools, whose habits are those of real ones. */

import { onPools } from '../members.ts';
import { PoolSite } from '../pool-site.ts';
import { PoolUser, userOf } from '../pool-user.ts';
import { SimulatedRig } from '../rigs.ts';
import type { World } from '../run.ts';
import { ShareBooks } from '../share-books.ts';
import type { Faults, Simulation } from '../simulation.ts';
import type { SimulatedProcess } from '../virtual-time.ts';
import { pick } from './faults.ts';
import { poolFaults } from './pool-faults.ts';

/** Least fraction of all hashes whose work was on the newest block of a pool. With all faults, it is 0.8 and more. */
const LEAST_CURRENT = 0.6;
const NAMES = ['rig0', 'rig1'];

export class PoolWorld implements World {
  readonly simulation: Simulation;
  readonly sites: readonly PoolSite[];
  readonly rigs: readonly SimulatedRig[];
  readonly books: ShareBooks;
  /** By rig: its present process as the pools' users. */
  readonly #users = new Map<string, PoolUser>();
  readonly #faulty: SimulatedProcess;

  constructor(simulation: Simulation) {
    this.simulation = simulation;
    this.#faulty = simulation.time.start('faults of pools');
    this.sites = ['pool0', 'pool1'].map((name) => new PoolSite(name, simulation));
    const { sites } = this;
    this.books = new ShareBooks(simulation, (rig) => this.#users.get(rig) as PoolUser);
    const urls = sites.map(({ url }) => url);
    this.rigs = NAMES.map((name, at) => {
      const settings = onPools(urls, userOf(name), at === 1 ? 40 : undefined);
      return new SimulatedRig({
        name,
        simulation,
        books: this.books,
        nodes: [],
        settings: () => settings,
        hashesPerSecond: 16,
        context: (process) => {
          const user = new PoolUser({ name, simulation, process, sites });
          this.#users.set(name, user);
          return { openConnection: user.openConnection };
        },
        emit: (event) => this.#users.get(name)?.listen(event),
        isCurrent: (job, nonces, beganMs) => {
          this.books.searched(name, job, nonces);
          return this.#users.get(name)?.checkBatch(job.work, beganMs)?.isCurrent(job.work) ?? false;
        },
      });
    });
  }

  get totals() {
    const { found, verdicts, lost } = this.books;
    return { found, accepted: verdicts.accepted, lost };
  }

  faults(): Faults {
    const { rigs, simulation } = this;
    const later = (mostMs: number, act: () => void) => this.#faulty.after(mostMs, act);
    return {
      ...poolFaults({ simulation, sites: this.sites, users: () => [...this.#users.values()], later }),
      'a rig is killed': (random) => {
        const rig = pick(random, rigs);
        rig.kill();
        later(random() * 4_000, () => rig.process.isDead && rig.start());
      },
      'a rig is frozen': (random) => {
        const { process } = pick(random, rigs);
        process.freeze();
        later(random() * 40_000, () => process.thaw());
      },
      'the machine of a rig sleeps': (random) => {
        const { process } = pick(random, rigs);
        process.suspend();
        later(random() * 40_000, () => process.thaw());
      },
    };
  }

  calm(): void {
    for (const site of this.sites) site.calm();
    for (const rig of this.rigs) {
      if (rig.process.isFrozen) rig.process.thaw();
      if (rig.process.isDead) rig.start();
    }
  }

  check(): void {
    this.books.check();
    for (const user of this.#users.values()) user.check();
    for (const site of this.sites) {
      for (const what of site.takeFaults()) this.simulation.violate(`${site.name}: ${what}`);
    }
  }

  checkMining(): void {
    const sumOf = (key: 'current' | 'searched') => this.rigs.reduce((sum, rig) => sum + rig[key], 0);
    const current = sumOf('current') / sumOf('searched');
    this.simulation.note(`${(100 * current).toFixed(0)} % of the hashes were on a newest block`);
    if (current < LEAST_CURRENT) this.simulation.violate(`only ${(100 * current).toFixed(0)} % were on a newest block`);
    const { nowMs } = this.simulation.time;
    for (const { name, lastCurrentMs } of this.rigs) {
      const user = this.#users.get(name) as PoolUser;
      if (nowMs - lastCurrentMs > 10_000 && !this.sites.every((site) => user.mayLeave(site))) {
        this.simulation.violate(
          `${name} has mined nothing current for ${Math.round((nowMs - lastCurrentMs) / 1000)} s`,
        );
      }
      user.checkChoice();
    }
  }

  stop(): void {
    this.books.stoppedMs = this.simulation.time.nowMs;
    for (const user of this.#users.values()) user.isEnding = true;
    for (const rig of this.rigs) rig.stop();
  }

  stopMembers(): void {
    for (const { pool } of this.sites) pool.close();
  }

  checkEnd(): void {
    this.books.checkEnd();
    for (const user of this.#users.values()) user.checkEnd();
    for (const { name, hasEnded, process } of this.rigs) {
      if (!hasEnded) this.simulation.violate(`${name} has not ended a minute after it was stopped`);
      else if (process.timers > 0) this.simulation.violate(`${name} has ended with ${process.timers} timers`);
    }
    for (const { name, port } of this.sites) {
      const left = [...port.pipes].filter(({ isDeaf }) => !isDeaf).length;
      if (left > 0) this.simulation.violate(`${name} has ${left} connections after the end`);
    }
  }
}
