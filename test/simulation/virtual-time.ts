/**
 * Virtual time for many simulated processes in one program. Each process has a clock of its own, whose timers end when
 * the process is killed, and wait while it is frozen. Events happen one after the other, and what an event causes
 * without a timer has happened before the next one. So equal seeds give equal runs.
 */

import { type Clock, LONGEST_TIMER_MS, type Timer } from '#pickaxe/base/system/clock.js';

/** The wall clock at the start of each simulation, in ms since the UNIX epoch. */
export const START_MS = 1_800_000_000_000;

interface Event {
  atMs: number;
  /** Events of the same time happen in the order in which they were planned. */
  number: number;
  readonly process: SimulatedProcess;
  readonly act: () => void;
  isCancelled: boolean;
  /** How long the process's machine had slept when the event was planned. */
  sleptMs: number;
}

export class VirtualTime {
  /** Virtual milliseconds since the start. */
  nowMs = 0;
  /** Number of events that have happened. */
  steps = 0;
  /** Called after each event, when everything has happened that it causes without a timer. */
  afterEvent: () => void = () => {};
  readonly #heap: Event[] = [];
  #number = 0;

  /** A process whose clocks are `skewMs` ahead of this time. */
  start(name: string, skewMs = 0): SimulatedProcess {
    return new SimulatedProcess(name, this, skewMs);
  }

  /** Plans an event of a process. @returns a function that cancels it */
  plan(process: SimulatedProcess, afterMs: number, act: () => void): () => void {
    const { sleptMs, asleepSinceMs = this.nowMs } = process;
    const atMs = asleepSinceMs + afterMs;
    const event: Event = { atMs, number: this.#number++, process, act, isCancelled: false, sleptMs };
    this.#push(event);
    return () => {
      event.isCancelled = true;
    };
  }

  /** Plans an event that was held for now. */
  release(event: Event): void {
    // What a sleeping machine has missed comes later by its sleep; `runUntil` moves it.
    if (event.sleptMs === event.process.sleptMs) event.atMs = this.nowMs;
    event.number = this.#number++;
    this.#push(event);
  }

  /** Lets everything happen that is due until then. */
  async runUntil(untilMs: number): Promise<void> {
    await settled();
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.atMs > untilMs) break;
      this.#pop();
      if (next.isCancelled || next.process.isDead) continue;
      const lateMs = next.process.sleptMs - next.sleptMs;
      if (lateMs > 0 && !next.process.isFrozen) {
        next.atMs += lateMs;
        next.sleptMs += lateMs;
        this.#push(next);
        continue;
      }
      this.nowMs = Math.max(this.nowMs, next.atMs);
      if (next.process.isFrozen) {
        next.process.hold(next);
        continue;
      }
      this.steps++;
      next.act();
      await settled();
      this.afterEvent();
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(heap[at], heap[above])) break;
      [heap[at], heap[above]] = [heap[above], heap[at]];
      at = above;
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    heap[0] = last;
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (left < heap.length && isBefore(heap[left], heap[least])) least = left;
      if (right < heap.length && isBefore(heap[right], heap[least])) least = right;
      if (least === at) return;
      [heap[at], heap[least]] = [heap[least], heap[at]];
      at = least;
    }
  }
}

/** A process of the operating system: what belongs to it stops when it is killed, and waits while it is frozen. */
export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  /** Number of timers that are set. */
  timers = 0;
  isDead = false;
  isFrozen = false;
  /** When it was last thawed, in virtual time. */
  thawedMs = Number.NEGATIVE_INFINITY;
  /** How long its machine has slept in all. For this time, its monotonic clock and its timers have stood still. */
  sleptMs = 0;
  /** When its machine fell asleep, in virtual time; undefined while it is awake. */
  asleepSinceMs: number | undefined;
  /** Number of times that all connections have ended. */
  connection = 0;
  /** How far the process's wall clock is ahead of the virtual time. */
  skewMs: number;
  readonly #time: VirtualTime;
  #held: Event[] = [];
  readonly #kills: (() => void)[] = [];
  readonly #reconnections: (() => void)[] = [];
  #lastUs = 0n;

  constructor(name: string, time: VirtualTime, skewMs: number) {
    this.name = name;
    this.#time = time;
    this.skewMs = skewMs;
    this.clock = {
      nowUs: () => this.#nowUs(),
      monotonicMs: () => (this.asleepSinceMs ?? time.nowMs) - this.sleptMs,
      setTimeout: (act, ms) => this.#timer(act, delayOf(ms), false),
      setInterval: (act, ms) => this.#timer(act, delayOf(ms), true),
      setImmediate: (act) => this.#timer(act, 0, false),
    };
  }

  /** The virtual time, which goes on while the machine sleeps. */
  get virtualMs(): number {
    return this.#time.nowMs;
  }

  /**
   * Does something in this process after a delay, such as the arrival of a message.
   * @returns a function that cancels it
   */
  after(ms: number, act: () => void): () => void {
    return this.#time.plan(this, ms, act);
  }

  /** Lets something arrive over a connection after a delay. It is lost if all connections end meanwhile. */
  arrive(ms: number, act: () => void): void {
    const { connection } = this;
    this.after(ms, () => {
      if (this.connection === connection) act();
    });
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Ends the process at once, as SIGKILL does. */
  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.#held = [];
    for (const act of this.#kills) act();
  }

  /** Calls `act` when the process is killed. */
  onKill(act: () => void): void {
    this.#kills.push(act);
  }

  /** Stops the process, as SIGSTOP does: what is due is done after `thaw`. */
  freeze(): void {
    this.isFrozen = true;
  }

  /** The machine sleeps until `thaw`: its monotonic clock and its timers stand still, and its wall clock goes on. */
  suspend(): void {
    if (this.isFrozen) return;
    this.isFrozen = true;
    this.asleepSinceMs = this.#time.nowMs;
  }

  thaw(): void {
    if (this.isFrozen) this.thawedMs = this.#time.nowMs;
    this.isFrozen = false;
    if (this.asleepSinceMs !== undefined) this.sleptMs += this.#time.nowMs - this.asleepSinceMs;
    this.asleepSinceMs = undefined;
    for (const event of this.#held.splice(0)) this.#time.release(event);
  }

  /** Ends all connections without a word, as after a long sleep of the machine. */
  reconnect(): void {
    this.connection++;
    for (const act of this.#reconnections) act();
  }

  /** Calls `act` after all connections have ended. */
  onReconnection(act: () => void): void {
    this.#reconnections.push(act);
  }

  /** Keeps what is due while the process is frozen. */
  hold(event: Event): void {
    this.#held.push(event);
  }

  /** Consecutive times of one event differ by a microsecond, as those of the real clock do. */
  #nowUs(): bigint {
    const nowUs = BigInt(Math.floor((START_MS + this.#time.nowMs + this.skewMs) * 1000));
    const isSame = this.#lastUs >= nowUs && this.#lastUs < nowUs + 1000n;
    this.#lastUs = isSame ? this.#lastUs + 1n : nowUs;
    return this.#lastUs;
  }

  #timer(act: () => void, ms: number, repeats: boolean): Timer {
    let cancel = () => {};
    let isSet = true;
    this.timers++;
    const end = () => {
      if (!isSet) return;
      isSet = false;
      this.timers--;
      cancel();
    };
    const arm = () => {
      cancel = this.after(ms, () => {
        if (repeats) arm();
        else end();
        act();
      });
    };
    arm();
    const timer: Timer = { cancel: end, unref: () => timer };
    return timer;
  }
}

/** Waits until nothing more happens without a timer. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** As in Node.js, a timer takes a millisecond at least. Otherwise, a wait for the rest of one would repeat for ever. */
const delayOf = (ms: number) => Math.min(Math.max(1, ms), LONGEST_TIMER_MS);

const isBefore = (a: Event, b: Event) => a.atMs < b.atMs || (a.atMs === b.atMs && a.number < b.number);
