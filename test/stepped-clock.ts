/** A clock whose timers fire only when a test moves it. */

import type { Clock, Timer } from '#pickaxe/base/system/clock.js';

/** The time at which each such clock begins, in milliseconds since 1970. */
export const START_MS = 1_800_000_000_000;

interface SetTimer {
  atMs: number;
  readonly act: () => void;
  /** Absent for a timer that fires once. */
  readonly everyMs?: number;
}

/** A clock whose timers fire when a test says so. */
export class SteppedClock implements Clock {
  #nowMs = 0;
  #timers: SetTimer[] = [];

  nowUs(): bigint {
    return BigInt(Math.floor((START_MS + this.#nowMs) * 1000));
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  setTimeout(act: () => void, ms: number): Timer {
    return this.#set({ atMs: this.#nowMs + Math.max(1, ms), act });
  }

  setInterval(act: () => void, ms: number): Timer {
    return this.#set({ atMs: this.#nowMs + ms, act, everyMs: ms });
  }

  setImmediate(act: () => void): Timer {
    const immediate = setImmediate(act);
    const timer: Timer = { cancel: () => clearImmediate(immediate), unref: () => timer };
    return timer;
  }

  #set(set: SetTimer): Timer {
    this.#timers.push(set);
    const cancel = () => {
      this.#timers = this.#timers.filter((each) => each !== set);
    };
    const timer: Timer = { cancel, unref: () => timer };
    return timer;
  }

  get timers(): number {
    return this.#timers.length;
  }

  get #next(): SetTimer | undefined {
    return this.#timers.toSorted((a, b) => a.atMs - b.atMs)[0];
  }

  /** Sets the clock to the time of the next timer, and fires this timer. */
  step(): void {
    const next = this.#next;
    if (!next) return;
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    if (next.everyMs === undefined) this.#timers = this.#timers.filter((each) => each !== next);
    else next.atMs += next.everyMs;
    next.act();
  }

  /** Sets the clock forward. The timers whose time comes meanwhile fire at their times. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    while ((this.#next?.atMs ?? Number.POSITIVE_INFINITY) <= endMs) this.step();
    this.#nowMs = endMs;
  }

  /** Fires timers until the promise is settled. */
  async runUntil<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    while (!isSettled) {
      await new Promise((resolve) => setImmediate(resolve));
      if (!isSettled) this.step();
    }
    return await promise;
  }
}
