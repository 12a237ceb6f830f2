/** An operator of a simulated fleet, whose table must show what the rigs have found. */

import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { Roster } from '#pickaxe/fleet/operator/roster.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import { SimulatedLink, type SimulatedNats } from './nats.ts';
import type { Counts } from './rig-books.ts';
import type { SimulatedRig } from './rigs.ts';
import type { Simulation } from './simulation.ts';

/** Time between two looks at the table. */
const LOOK_MS = 5_000;
/** Number of looks for which counts are kept. A report is ten seconds old at most, and then takes up to a second. */
const LOOKS = 4;
/** Number of looks after which a rig that nothing has disturbed is in the table. */
const SETTLED_LOOKS = 8;
const COUNTS = ['found', 'accepted', 'rejected', 'stale', 'unknown'] as const;

/** What a rig had counted at the last looks, oldest first. */
interface Seen {
  readonly counts: Readonly<Counts>[];
  looks: number;
}

export class SimulatedOperator {
  readonly #simulation: Simulation;
  readonly #rigs: readonly SimulatedRig[];
  readonly #roster: Roster;
  /** By the counts of its present process: a rig that has been up and connected at all these looks. */
  #seen = new Map<Readonly<Counts>, Seen>();
  #lookedMs = 0;

  constructor(simulation: Simulation, nats: SimulatedNats, rigs: readonly SimulatedRig[]) {
    const process = simulation.time.start('operator');
    const subjects = new FleetSubjects(DEFAULTS.nats.subject);
    // The faults of the fleet do not meet this link, because it is not one of the server's `links`.
    const link = new SimulatedLink(nats, process, subjects.inbox('operator'), simulation.random('operator'), () => {});
    this.#roster = new Roster({ link, subjects, clock: process.clock });
    this.#simulation = simulation;
    this.#rigs = rigs;
  }

  check(): void {
    const { nowMs } = this.#simulation.time;
    if (nowMs - this.#lookedMs < LOOK_MS) return;
    const lastLookMs = this.#lookedMs;
    this.#lookedMs = nowMs;
    const before = this.#seen;
    this.#seen = new Map();
    const status = this.#roster.status();
    for (const rig of this.#rigs) {
      if (!rig.isRunning || rig.process.isFrozen || !rig.isConnected) continue;
      if (rig.disconnectedMs > lastLookMs || rig.process.thawedMs > lastLookMs) continue;
      const seen = before.get(rig.counts) ?? { counts: [], looks: 0 };
      this.#seen.set(rig.counts, seen);
      seen.looks++;
      seen.counts.push({ ...rig.counts });
      if (seen.counts.length > LOOKS) seen.counts.shift();
      if (seen.looks < SETTLED_LOOKS) continue;
      const row = status.rigs.find(({ name }) => name === rig.name);
      const [oldest] = seen.counts;
      const wrong = row && COUNTS.find((name) => row[name] < oldest[name] || row[name] > rig.counts[name]);
      if (!row || row.silent) this.#simulation.violate(`the operator's table does not show ${rig.name}`);
      else if (wrong) this.#simulation.violate(`the operator's table shows ${row[wrong]} ${wrong} for ${rig.name}`);
    }
    for (const name of COUNTS) {
      const sum = status.rigs.reduce((all, row) => all + row[name], 0);
      if (status[name] !== sum) this.#simulation.violate(`the operator's table has a wrong sum: ${name}`);
    }
  }
}
