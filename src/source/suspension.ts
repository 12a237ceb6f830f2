/**
 * Notices that the process or the machine was suspended. After a process was stopped, its timers are late by the
 * monotonic clock. While a machine sleeps, the monotonic clock stops, too, but the wall clock jumps afterwards.
 */

import { type Clock, wallMs } from '../system/clock.ts';

const EVERY_MS = 500;
/** On a busy machine a timer is late by less than this. */
const SUSPENDED_MS = 3_000;

/**
 * @param onResume called with the approximate length of the suspension
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
