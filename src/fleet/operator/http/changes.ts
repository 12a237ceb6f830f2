/** Changes of a fleet since an earlier answer, with which a page of many rigs is refreshed cheaply. */

import type { Clock } from '../../../base/system/clock.ts';
import type { FleetChanges, RigSummary } from '../fleet-answers.ts';
import { failedDeviceCount, faultsOf, hottestCelsius, isFaulty, totalWatts } from '../fleet-figures.ts';
import type { FleetRig, FleetStatus } from '../fleet-status.ts';

/** The status is computed at most once in this time, however many clients ask. */
const KEPT_MS = 1_000;
/** Marks that are older by more statuses than this are answered with all rigs, most of which have reported since. */
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
  /** Rigs that are no longer listed, with the number of the first status without them. Old ones are deleted. */
  readonly #gone = new Map<string, number>();
  #last: { readonly status: FleetStatus; readonly ms: number } | undefined;
  #number = 0;

  /** @param instance 16 hex digits of this run: marks of other runs are not known here */
  constructor(read: () => FleetStatus, clock: Clock, instance: string) {
    this.#read = read;
    this.#clock = clock;
    this.#instance = instance;
  }

  /** At most one second old: the same object until a newer one is computed. */
  get status(): FleetStatus {
    const nowMs = this.#clock.monotonicMs();
    if (this.#last && nowMs - this.#last.ms < KEPT_MS) return this.#last.status;
    const status = this.#read();
    this.#last = { status, ms: nowMs };
    this.#note(status.rigs);
    return status;
  }

  /** @param mark of an earlier answer @returns all rigs if the mark is absent, too old, or of another run */
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

  /** @returns false for marks that are answered as though there were none */
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

/** Each report makes a new list of devices, so a different list means a new report: no figures need be compared. */
function hasChanged(before: FleetRig, now: FleetRig): boolean {
  return before.devices !== now.devices || before.silent !== now.silent || before.duplicate !== now.duplicate;
}
