/** Checks that members of a fleet send no more messages than the others take (docs/fleet.md, "Bounds"). */

import { Allowance, type Bound } from './allowance.ts';
import type { Simulation } from './simulation.ts';
import type { SimulatedProcess } from './virtual-time.ts';

const STATES: Bound = { atOnce: 400, perSecond: 100 };
/** By the second token of a subject. Each process has the bound of `hello` and of `solution` for each coordinator. */
const BOUNDS: Readonly<Record<string, Bound>> = {
  work: STATES,
  beat: STATES,
  hello: { atOnce: 5, perSecond: 0.5 },
  report: { atOnce: 3, perSecond: 0.2 },
  solution: { atOnce: 4_000, perSecond: 2_000 },
};

export class FleetRates {
  readonly #simulation: Simulation;
  readonly #sent = new WeakMap<SimulatedProcess, Map<string, Allowance>>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** Counts a message of a process. */
  readonly count = (process: SimulatedProcess, subject: string): void => {
    const [, kind] = subject.split('.');
    const bound = BOUNDS[kind];
    if (!bound) return;
    const key = bound === STATES ? 'states' : subject;
    const sent = this.#sent.get(process) ?? new Map<string, Allowance>();
    this.#sent.set(process, sent);
    const allowance = sent.get(key) ?? new Allowance(bound);
    sent.set(key, allowance);
    if (!allowance.take(this.#simulation.time.nowMs)) this.#simulation.violate(`${process.name} sends too many ${key}`);
  };
}
