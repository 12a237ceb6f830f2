/** Virtual time for processes in one program, which can be frozen. */

import type { Clock, Timer } from '#pickaxe/base/system/clock.js';

interface Event {
  readonly atMs: number;
  readonly process: LocalProcess;
  readonly act: () => void;
}

export class VirtualTime {
  nowMs = 0;
  /** Number of events that have happened. */
  steps = 0;
  /** In the order of their times. Events of the same time are in the order in which they were planned. */
  readonly #events: Event[] = [];

  start(_name: string): LocalProcess {
    return new LocalProcess(this);
  }

  plan(process: LocalProcess, afterMs: number, act: () => void): () => void {
    const event: Event = { atMs: this.nowMs + afterMs, process, act };
    const at = this.#events.findLastIndex(({ atMs }) => atMs <= event.atMs);
    this.#events.splice(at + 1, 0, event);
    return () => {
      const index = this.#events.indexOf(event);
      if (index >= 0) this.#events.splice(index, 1);
    };
  }

  async runUntil(untilMs: number): Promise<void> {
    await settled();
    for (;;) {
      const index = this.#events.findIndex(({ process }) => !process.isFrozen);
      if (index < 0 || this.#events[index].atMs > untilMs) break;
      const [event] = this.#events.splice(index, 1);
      this.nowMs = Math.max(this.nowMs, event.atMs);
      this.steps++;
      event.act();
      await settled();
    }
    this.nowMs = untilMs;
  }
}

class LocalProcess {
  readonly clock: Clock;
  timers = 0;
  isFrozen = false;

  constructor(time: VirtualTime) {
    const timer = (act: () => void, ms: number, repeats: boolean): Timer => {
      let cancel = () => {};
      let isSet = true;
      this.timers++;
      const end = () => {
        if (isSet) this.timers--;
        isSet = false;
        cancel();
      };
      const arm = () => {
        cancel = time.plan(this, Math.max(1, ms), () => {
          if (repeats) arm();
          else end();
          act();
        });
      };
      arm();
      const set: Timer = { cancel: end, unref: () => set };
      return set;
    };
    this.clock = {
      nowUs: () => 1_800_000_000_000_000n + BigInt(Math.floor(time.nowMs * 1000)),
      monotonicMs: () => time.nowMs,
      setTimeout: (act, ms) => timer(act, ms, false),
      setInterval: (act, ms) => timer(act, ms, true),
      setImmediate: (act) => timer(act, 0, false),
    };
  }

  freeze(): void {
    this.isFrozen = true;
  }

  thaw(): void {
    this.isFrozen = false;
  }
}

/** Waits until nothing more happens without a timer. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
