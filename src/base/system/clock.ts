/** The clock. Code gets it through constructors, so that tests can replace it. */

export interface Clock {
  /** Wall clock: microseconds since the UNIX epoch. It can jump. */
  nowUs(): bigint;
  /** Never jumps. Only differences have a meaning. The system's clock is the same in all processes and threads. */
  monotonicMs(): number;
}

/** Wall clock: milliseconds since the UNIX epoch. */
export function wallMs(clock: Clock): number {
  return Number(clock.nowUs() / 1000n);
}

/** Last result of `nowUs`. */
let lastUs = 0n;

export const systemClock: Clock = {
  /**
   * The system's clock counts milliseconds. Calls within the same millisecond get consecutive microseconds, so that
   * later events have later times: otherwise a block could be as old as its parent.
   */
  nowUs: () => {
    const nowUs = BigInt(Date.now()) * 1000n;
    const isSameMs = lastUs >= nowUs && lastUs < nowUs + 1000n;
    if (!isSameMs) lastUs = nowUs;
    else if (lastUs < nowUs + 999n) lastUs += 1n;
    return lastUs;
  },
  monotonicMs: () => Number(process.hrtime.bigint() / 1000n) / 1000,
};

/** Time between two readings of the clocks. */
const LOOK_MS = 500;
/** A timer that is late by this time shows a suspension. On a busy machine, timers are late by less. */
const SUSPENDED_MS = 3_000;

/**
 * Detects that the process or the machine was suspended. After a stop of the process, its timers are late by the
 * monotonic clock. While the machine sleeps, the monotonic clock stops, too, but the wall clock jumps afterwards.
 * @param onResume called with the approximate length of the suspension in ms
 * @returns a function that ends the watch
 */
export function watchSuspension(clock: Clock, onResume: (ms: number) => void): () => void {
  let monotonicMs = clock.monotonicMs();
  let wall = wallMs(clock);
  const timer = setInterval(() => {
    const [monotonicNow, wallNow] = [clock.monotonicMs(), wallMs(clock)];
    const missedMs = Math.max(monotonicNow - monotonicMs, wallNow - wall) - LOOK_MS;
    monotonicMs = monotonicNow;
    wall = wallNow;
    if (missedMs >= SUSPENDED_MS) onResume(missedMs);
  }, LOOK_MS);
  return () => clearInterval(timer);
}
