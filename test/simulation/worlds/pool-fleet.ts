/** A coordinator on two pools, four rigs that mine its works, and a NATS server between them. */

import { FleetRates } from '../fleet-rates.ts';
import { FleetShareBooks } from '../fleet-share-books.ts';
import { inFleet, onPools, SimulatedCoordinator } from '../members.ts';
import { SimulatedNats } from '../nats.ts';
import { SimulatedOperator } from '../operator.ts';
import { PoolUser, userOf } from '../pool-user.ts';
import { SimulatedRig } from '../rigs.ts';
import type { Faults, Simulation } from '../simulation.ts';
import { fleetFaults } from './faults.ts';
import { PoolsWorld } from './pools-world.ts';

const NAME = 'c0';

export class PoolFleetWorld extends PoolsWorld {
  readonly nats: SimulatedNats;
  readonly rigs: readonly SimulatedRig[];
  readonly books: FleetShareBooks;
  override readonly coordinators: readonly SimulatedCoordinator[];
  /** The processes of the coordinator, oldest first. */
  readonly #users: PoolUser[] = [];
  readonly #operator: SimulatedOperator;

  constructor(simulation: Simulation) {
    super(simulation);
    const { sites } = this;
    const nats = new SimulatedNats(simulation.random('nats'), new FleetRates(simulation).count);
    nats.repeated = 0.02;
    this.nats = nats;
    const onBoth = onPools(
      sites.map(({ url }) => url),
      userOf(NAME),
    );
    const coordinator = new SimulatedCoordinator({
      name: NAME,
      simulation,
      nodes: [],
      nats,
      settings: () => onBoth,
      mostSkewMs: 3_000,
      context: (process) => {
        const user = new PoolUser({ name: NAME, simulation, process, sites });
        this.#users.push(user);
        return { openConnection: user.openConnection };
      },
      emit: (event) => this.#users.at(-1)?.listen(event),
    });
    this.coordinators = [coordinator];
    const books = new FleetShareBooks(simulation, nats, this.#users);
    this.books = books;
    this.rigs = Array.from({ length: 4 }, (_, at) => {
      const name = `rig${at}`;
      return new SimulatedRig({
        name,
        simulation,
        books,
        nodes: [],
        nats,
        settings: () => inFleet,
        hashesPerSecond: 8,
        isCurrent: (job, nonces, beganMs) => {
          books.searched(name, job, nonces);
          return books.checkBatch(name, job.work, beganMs)?.isCurrent(job.work) ?? false;
        },
      });
    });
    this.#operator = new SimulatedOperator(simulation, nats, this.rigs);
    for (const rig of this.rigs) books.processes.push(() => rig.process);
    books.processes.push(() => coordinator.process);
  }

  override check(): void {
    super.check();
    this.#operator.check();
  }

  protected override users(): readonly PoolUser[] {
    return this.#users.slice(-1);
  }

  protected override moreFaults(): Faults {
    return fleetFaults(this);
  }
}
