/** The clock. All code gets it through a constructor, so that tests can use their own. */

export interface Clock {
  /** The wall clock: microseconds since the UNIX epoch. It can jump. */
  nowUs(): bigint;
  /**
   * A clock that never jumps. Only differences have a meaning. The system's clock is the same in all processes and
   * threads.
   */
  monotonicMs(): number;
}

/** The wall clock: milliseconds since the UNIX epoch. */
export function wallMs(clock: Clock): number {
  return Number(clock.nowUs() / 1000n);
}

/** The last time that `nowUs` returned. */
let lastUs = 0n;

export const systemClock: Clock = {
  /**
   * The system counts milliseconds. Each call within one gets its own microsecond, so that later events have later
   * times: otherwise a block could be as old as its parent.
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

/*
 * Notices that the process or the machine was suspended. After a process was stopped, its timers are late by the
 * monotonic clock. While a machine sleeps, the monotonic clock stops, too, but the wall clock jumps afterwards.
 */

/** The time between two looks at the clocks. */
const LOOK_MS = 500;
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
    const missedMs = Math.max(monotonicNow - monotonicMs, wallNow - wall) - LOOK_MS;
    monotonicMs = monotonicNow;
    wall = wallNow;
    if (missedMs >= SUSPENDED_MS) onResume(missedMs);
  }, LOOK_MS);
  return () => clearInterval(timer);
}
