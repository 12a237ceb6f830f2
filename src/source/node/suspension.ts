/**
 * Notices that the process or the machine was suspended. The timers of a stopped process are late by the monotonic clock.
 * A sleeping machine stops that clock, too, but its wall clock jumps.
 */

import { type Clock, wallMs } from '../../system/clock.ts';

const EVERY_MS = 500;
/** A busy machine delays a timer by less. */
const SUSPENDED_MS = 3_000;

/**
 * @param onResume called with about how long the suspension took
 * @returns a function that ends the watch
 */
export function watchSuspension(clock: Clock, onResume: (ms: number) => void): () => void {
  let monotonicMs = clock.monotonicMs();
  let wall = wallMs(clock);
  const timer = setInterval(() => {
    const [monotonicNow, wallNow] = [clock.monotonicMs(), wallMs(clock)];
    const missedMs = Math.max(monotonicNow - monotonicMs, wallNow - wall) - EVERY_MS;
    monotonicMs = monotonicNow;
    wall = wallNow;
    if (missedMs >= SUSPENDED_MS) onResume(missedMs);
  }, EVERY_MS);
  return () => clearInterval(timer);
}
