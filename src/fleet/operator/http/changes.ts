/** The changes of a fleet's status since an earlier answer, so that a page with many rigs can be refreshed cheaply. */

import type { Clock } from '../../../base/system/clock.ts';
import type { FleetChanges, RigSummary } from '../fleet-answers.ts';
import { failedDeviceCount, faultsOf, hottestCelsius, isFaulty, totalWatts } from '../fleet-figures.ts';
import type { FleetRig, FleetStatus } from '../fleet-status.ts';

/** Minimum time between two computations of the status, however many clients ask. */
const KEPT_MS = 1_000;
/**
 * Maximum number of statuses that were computed after a mark. The answer to an older mark has all rigs, because most
 * rigs have reported since then.
 */
const MOST_BEHIND = 16;

type Changes = Omit<FleetChanges, 'version' | 'control'>;

interface Known {
  rig: FleetRig;
  /** Number of the status in which the rig changed last. */
  changed: number;
  /** Number of the last status that listed the rig. */
  listed: number;
}

export class ChangeLog {
  readonly #read: () => FleetStatus;
  readonly #clock: Clock;
  readonly #instance: string;
  readonly #known = new Map<string, Known>();
  /** For each rig that is no longer listed, the number of the first status without the rig. Old entries are deleted. */
  readonly #gone = new Map<string, number>();
  #last: { readonly status: FleetStatus; readonly ms: number } | undefined;
  #number = 0;

  /**
   * @param instance 16 hex digits of this run. All marks begin with these digits, so marks of other runs are detected
   */
  constructor(read: () => FleetStatus, clock: Clock, instance: string) {
    this.#read = read;
    this.#clock = clock;
    this.#instance = instance;
  }

  /** The status, at most one second old. It is the same object until a newer one is computed. */
  get status(): FleetStatus {
    const nowMs = this.#clock.monotonicMs();
    if (this.#last && nowMs - this.#last.ms < KEPT_MS) return this.#last.status;
    const status = this.#read();
    this.#last = { status, ms: nowMs };
    this.#note(status.rigs);
    return status;
  }

  /**
   * @param mark the mark of an earlier answer
   * @returns the changes since that answer, or all rigs if the mark is absent, too old, or of another run
   */
  since(mark: string | undefined): Changes {
    const { rigs, ...totals } = this.status;
    const from = this.#numberOf(mark);
    const next = { ...totals, mark: `${this.#instance}-${this.#number}` };
    if (from === undefined) return { ...next, whole: true, rigs: rigs.map(summaryOf), goneRigs: [] };
    return {
      ...next,
      whole: false,
      rigs: rigs.filter(({ name }) => (this.#known.get(name)?.changed ?? 0) > from).map(summaryOf),
      goneRigs: [...this.#gone].flatMap(([name, number]) => (number > from ? [name] : [])),
    };
  }

  /** @returns whether the changes since this mark are known. If not, `since` returns all rigs */
  knows(mark: string | undefined): boolean {
    return this.#numberOf(mark) !== undefined;
  }

  #note(rigs: readonly FleetRig[]): void {
    const number = ++this.#number;
    for (const rig of rigs) {
      const known = this.#known.get(rig.name);
      if (!known) this.#known.set(rig.name, { rig, changed: number, listed: number });
      else {
        if (hasChanged(known.rig, rig)) known.changed = number;
        known.rig = rig;
        known.listed = number;
      }
      this.#gone.delete(rig.name);
    }
    for (const [name, { listed }] of this.#known) {
      if (listed === number) continue;
      this.#known.delete(name);
      this.#gone.set(name, number);
    }
    for (const [name, since] of this.#gone) if (since < number - MOST_BEHIND) this.#gone.delete(name);
  }

  #numberOf(mark: string | undefined): number | undefined {
    const [instance, digits] = mark?.split('-') ?? [];
    const number = Number(digits);
    const isKnown = instance === this.#instance && number <= this.#number && number >= this.#number - MOST_BEHIND;
    return isKnown ? number : undefined;
  }
}

export function summaryOf(rig: FleetRig): RigSummary {
  const { devices, uptimeSeconds, hashes, found, unknown, hardwareErrors, ...others } = rig;
  return {
    ...others,
    faulty: isFaulty(rig),
    deviceCount: devices.length,
    failedDeviceCount: failedDeviceCount(rig),
    celsius: hottestCelsius(rig),
    watts: totalWatts(rig),
    faults: faultsOf(rig),
    models: [...new Set(devices.flatMap(({ model }) => model ?? []))],
  };
}

/**
 * @returns whether the rig has sent a new report, or whether its `silent` or `duplicate` has changed. A new report is
 *   detected by its list of devices, which is another object; figures are not compared
 */
function hasChanged(before: FleetRig, now: FleetRig): boolean {
  return before.devices !== now.devices || before.silent !== now.silent || before.duplicate !== now.duplicate;
}
