/** The clock, which also sets timers. Code gets it through constructors, so that tests can replace it. */

/** A timer that was set. */
export interface Timer {
  /** Has no effect if the timer has fired already. A timer of `setInterval` ends only by this. */
  cancel(): void;
  /** From now on, the timer alone does not keep the process running. */
  unref(): this;
}

/** Maximum delay of a timer, in ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface Clock {
  /** Wall clock: microseconds since the UNIX epoch. This clock can jump. */
  nowUs(): bigint;
  /**
   * Monotonic clock: milliseconds since an arbitrary time, so only differences have a meaning. This clock never jumps.
   * The monotonic clock of `systemClock` is the same in all processes and threads of the machine.
   */
  monotonicMs(): number;
  /** Calls `act` once, after `ms` milliseconds, at most `LONGEST_TIMER_MS`. */
  setTimeout(act: () => void, ms: number): Timer;
  /** Calls `act` every `ms` milliseconds. */
  setInterval(act: () => void, ms: number): Timer;
  /** Calls `act` in the next turn of the event loop, after what has arrived already. */
  setImmediate(act: () => void): Timer;
}

/** Wall clock: milliseconds since the UNIX epoch. */
export function wallMs(clock: Clock): number {
  return Number(clock.nowUs() / 1000n);
}

/** Last result of `nowUs`. */
let lastUs = 0n;

export const systemClock: Clock = {
  /**
   * `Date.now` counts milliseconds. Calls within one millisecond return consecutive microseconds, up to the last one of
   * that millisecond. So later events have later times, and a block is younger than its parent.
   */
  nowUs: () => {
    const nowUs = BigInt(Date.now()) * 1000n;
    const isSameMs = lastUs >= nowUs && lastUs < nowUs + 1000n;
    if (!isSameMs) lastUs = nowUs;
    else if (lastUs < nowUs + 999n) lastUs += 1n;
    return lastUs;
  },
  monotonicMs: () => Number(process.hrtime.bigint() / 1000n) / 1000,
  // Node.js would fire a timer with a longer delay after 1 ms.
  setTimeout: (act, ms) => timerOf(setTimeout(act, Math.min(ms, LONGEST_TIMER_MS)), clearTimeout),
  setInterval: (act, ms) => timerOf(setInterval(act, ms), clearInterval),
  setImmediate: (act) => timerOf(setImmediate(act), clearImmediate),
};

function timerOf<Handle extends { unref(): unknown }>(handle: Handle, clear: (handle: Handle) => void): Timer {
  const timer: Timer = {
    cancel: () => clear(handle),
    unref: () => {
      handle.unref();
      return timer;
    },
  };
  return timer;
}

/** Time between two readings of the clocks. */
const LOOK_MS = 500;
/** If a timer is late by at least this time, the process was suspended. On a busy machine, timers are late by less. */
const SUSPENDED_MS = 3_000;

/**
 * Detects that the process or the machine was suspended. If only the process was stopped, its next timer is late by the
 * monotonic clock. If the machine slept, the monotonic clock was stopped, too, but the wall clock has jumped forward.
 * @param onResume called after a suspension, with its approximate length in ms
 * @returns a function that ends the detection
 */
export function watchSuspension(clock: Clock, onResume: (ms: number) => void): () => void {
  let monotonicMs = clock.monotonicMs();
  let wall = wallMs(clock);
  const timer = clock.setInterval(() => {
    const [monotonicNow, wallNow] = [clock.monotonicMs(), wallMs(clock)];
    const missedMs = Math.max(monotonicNow - monotonicMs, wallNow - wall) - LOOK_MS;
    monotonicMs = monotonicNow;
    wall = wallNow;
    if (missedMs >= SUSPENDED_MS) onResume(missedMs);
  }, LOOK_MS);
  return () => timer.cancel();
}
