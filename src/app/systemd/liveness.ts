/** Decides what a service manager is told about a rig. Pure. */

import { livesOnRelays } from '../../report/figures.ts';
import { outageInFull } from '../../report/outages.ts';
import type { RigNow } from '../../report/rig-now.ts';
import { rigState } from '../../report/rig-state.ts';

/** Time between status texts, which `systemctl status` shows. */
const STATUS_MS = 10_000;

/**
 * @param watchdogMs systemd kills a service that was silent for this long, so a sign of life is due after half of it
 *   (sd_watchdog_enabled(3))
 * @returns milliseconds between messages
 */
export function intervalFor(watchdogMs = Number.POSITIVE_INFINITY): number {
  return Math.min(STATUS_MS, watchdogMs / 2);
}

/**
 * Whether a device is in service or a source is connected. Then the rest of the start needs no help from the manager. A rig without
 * devices has nothing to open.
 */
export function hasStarted(now: RigNow): boolean {
  return now.deviceReady.value || now.sourceConnected.value || livesOnRelays(now);
}

/**
 * @returns a valid reason for hashing nothing now, for `systemctl status`; undefined when the rig should hash. Waiting for the
 *   work of a connected node or pool is not a valid reason: a silent one counts as lost after a while, so a rig that goes on
 *   waiting hangs. A parent may have no job for as long as it likes
 */
export function whyIdle(now: RigNow): string | undefined {
  const state = rigState(now);
  const mustHaveWork = state.name === 'waiting-for-work' && state.sourceKind !== 'parent';
  return mustHaveWork ? undefined : outageInFull(state, now.nowMs);
}

/**
 * Whether the rig does what it should. One that has devices must hash, unless there is a reason not to; one that only hands work on
 * must have work.
 * @param hashed whether devices have searched nonces since the last look
 */
export function isAlive(now: RigNow, hashed: boolean): boolean {
  return hashed || whyIdle(now) !== undefined || (livesOnRelays(now) && rigState(now).name === 'mining');
}
