/**
 * Figures that the table, the page and metrics derive from a fleet's status. Pure, because browsers load this file,
 * too.
 */

import type { FleetRig } from './fleet-status.ts';

/** The state by which a rig is sorted and filtered: `silent` for a silent rig, or else the state in its last report. */
export type ShownState = FleetRig['state'] | 'silent';

export function shownState({ silent, state }: Pick<FleetRig, 'silent' | 'state'>): ShownState {
  return silent ? 'silent' : state;
}

const FAULTY_STATES: readonly FleetRig['state'][] = ['waiting-for-work', 'no-source', 'no-device'];

/** Whether a rig needs attention: it lacks work, a coordinator or devices, or one of its devices has failed. */
export function isFaulty({ state, devices }: Pick<FleetRig, 'state' | 'devices'>): boolean {
  return FAULTY_STATES.includes(state) || failedDeviceCount({ devices }) > 0;
}

export function failedDeviceCount({ devices }: Pick<FleetRig, 'devices'>): number {
  return devices.filter(({ state }) => state === 'parked' || state === 'reopening').length;
}

/** Temperature of the hottest device, in °C; null if no device has a sensor. */
export function hottestCelsius({ devices }: Pick<FleetRig, 'devices'>): number | null {
  const known = devices.flatMap(({ celsius }) => celsius ?? []);
  return known.length === 0 ? null : Math.max(...known);
}

/** Power of the devices that have a sensor, in watts; null if no device has one. */
export function totalWatts({ devices }: Pick<FleetRig, 'devices'>): number | null {
  const known = devices.flatMap(({ watts }) => watts ?? []);
  return known.length === 0 ? null : known.reduce((sum, watts) => sum + watts, 0);
}

/** Number of the rig's wrong hashes, plus the number of failures after which its devices were reopened. */
export function faultsOf({ hardwareErrors, devices }: Pick<FleetRig, 'hardwareErrors' | 'devices'>): number {
  return devices.reduce((sum, { reopens }) => sum + reopens, hardwareErrors);
}
