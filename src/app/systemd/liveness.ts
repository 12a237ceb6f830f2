/** What a service manager is to know of a rig. Pure. */

import { outageInFull } from '../../report/outages.ts';
import { rigState } from '../../report/rig-state.ts';
import type { RigNow } from '../../report/tally.ts';

/** Often enough for whoever looks at `systemctl status`. */
const STATUS_MS = 10_000;

/**
 * Milliseconds between messages.
 * @param watchdogMs systemd kills a service that was silent for this long; a sign of life is due in half of it
 *   (sd_watchdog_enabled(3))
 */
export function intervalFor(watchdogMs = Number.POSITIVE_INFINITY): number {
  return Math.min(STATUS_MS, watchdogMs / 2);
}

/** Whether a device is in service or a node is connected: the rest comes by itself. */
export function hasStarted({ deviceReady, nodeConnected }: RigNow): boolean {
  return deviceReady.value || nodeConnected.value;
}

/**
 * Why it is right that nothing is hashed now; undefined when something should be. A connected node that gives no work is
 * not a reason: a node that keeps quiet is lost after a while, so a rig that goes on waiting hangs.
 */
export function whyIdle(now: RigNow): string | undefined {
  const state = rigState(now);
  return state.name === 'waiting-for-work' ? undefined : outageInFull(state, now.nowMs);
}
