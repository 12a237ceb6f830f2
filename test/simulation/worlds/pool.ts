/** Two rigs, each on the same two pools, whose habits are those of real ones. */

import { onPools } from '../members.ts';
import { PoolUser, userOf } from '../pool-user.ts';
import { SimulatedRig } from '../rigs.ts';
import { DirectShareBooks } from '../share-books.ts';
import type { Faults, Simulation } from '../simulation.ts';
import { pick } from './faults.ts';
import { PoolsWorld } from './pools-world.ts';

export class PoolWorld extends PoolsWorld {
  readonly rigs: readonly SimulatedRig[];
  readonly books: DirectShareBooks;
  /** By rig: its present process as a user of the pools. */
  readonly #users = new Map<string, PoolUser>();

  constructor(simulation: Simulation) {
    super(simulation);
    const { sites } = this;
    const urls = sites.map(({ url }) => url);
    const books = new DirectShareBooks(simulation, (rig) => this.#users.get(rig) as PoolUser);
    this.books = books;
    this.rigs = ['rig0', 'rig1'].map((name, at) => {
      const settings = onPools(urls, userOf(name), at === 1 ? 40 : undefined);
      return new SimulatedRig({
        name,
        simulation,
        books,
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
          books.searched(name, job, nonces);
          return this.#users.get(name)?.checkBatch(job.work, beganMs)?.isCurrent(job.work) ?? false;
        },
      });
    });
  }

  protected override users(): readonly PoolUser[] {
    return [...this.#users.values()];
  }

  protected override moreFaults(): Faults {
    return {
      'the machine of a rig sleeps': (random) => {
        const { process } = pick(random, this.rigs);
        process.suspend();
        this.simulation.endLater(random, 40_000, () => process.thaw());
      },
    };
  }

  override stop(): void {
    for (const user of this.users()) user.isEnding = true;
    super.stop();
  }
}
