/** What a service manager is to know of a rig. Pure. */

import type { RigNow } from '../../report/tally.ts';

/** Often enough for whoever looks at `systemctl status`. */
const STATUS_MS = 10_000;

/**
 * Milliseconds between messages.
 * @param watchdogMs after which a service that was silent is killed; a sign of life is due in half of it
 *   (sd_watchdog_enabled(3))
 */
export function intervalFor(watchdogMs = Number.POSITIVE_INFINITY): number {
  return Math.min(STATUS_MS, watchdogMs / 2);
}

/** Whether a device is in service, or a source within reach: the rest comes by itself. */
export function hasStarted({ devices, sources }: RigNow): boolean {
  const up = [...devices.values()].some(({ state }) => state === 'ready');
  return up || [...sources.values()].some(({ state }) => state === 'connected');
}

/** Why it is right that nothing is hashed now; undefined when something should be. */
export function whyIdle({ devices, sources }: RigNow): string | undefined {
  const states = [...devices.values()].map(({ state }) => state);
  if (states.every((state) => state === 'starting')) return 'devices are being opened';
  if (!states.includes('ready')) {
    return Array.from(devices, ([name, { state, reason }]) => `${name} ${state}: ${reason ?? 'no reason given'}`).join(
      '; ',
    );
  }
  const connected = [...sources.values()].some(({ state }) => state === 'connected');
  return connected ? undefined : 'no node is within reach';
}
