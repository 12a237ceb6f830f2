/**
 * Measures kernels on as many threads as will mine, but on at most one for each CPU. The chip decides which kernel is
 * the fastest. The newest instruction set is not always the fastest.
 */

import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { pause } from '../../../../base/system/abort.ts';
import { systemClock } from '../../../../base/system/clock.ts';
import { KERNEL_NAMES, type KernelName } from '../../device.ts';
import type { CoreGroup, Place } from '../threads.ts';

/**
 * The rates of each kernel for one group of threads, in hashes per ms and thread. Each turn gives one rate, unless no
 * thread of the group has measured in time. A turn is a short measurement of one kernel on all threads.
 */
export type Turns = ReadonlyMap<KernelName, readonly number[]>;

/**
 * @param stop a signal. When it fires, the measurement ends and throws the signal's reason
 * @returns for each group, the rates of each kernel
 */
export async function measureKernels(
  names: readonly KernelName[],
  groups: readonly CoreGroup[],
  stop: AbortSignal | undefined,
): Promise<Turns[]> {
  const most = availableParallelism();
  // More measuring threads than CPUs would only wait for a CPU.
  const busy = groups.map(({ places }) => {
    const cpus = new Set(places.flat()).size;
    return places.slice(0, cpus === 0 ? most : cpus);
  });
  const threads = new MeasuringThreads(names, busy);
  try {
    await threads.start(stop);
    return await measureTurns(names, {
      groups: groups.length,
      takeTurn: threads.takeTurn,
      rest: () => threads.rest(),
      stop,
    });
  } finally {
    await threads.stop();
  }
}

/**
 * Runs this kernel on all threads and measures it.
 * @returns the rate of each group in hashes per ms and thread; undefined for a group without a thread that has measured
 *   in time
 */
export type TakeTurn = (name: KernelName) => Promise<readonly (number | undefined)[]>;

interface Measurement {
  readonly groups: number;
  readonly takeTurn: TakeTurn;
  /** Pauses the threads. On a busy machine, V8 would otherwise get too little processor time to compile. */
  readonly rest: () => void;
  /** When this signal fires, the measurement ends and throws the signal's reason. */
  readonly stop?: AbortSignal | undefined;
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

/**
 * Number of first turns of each kernel. During these turns, V8 optimizes WebAssembly. Before that, WebAssembly is much
 * slower.
 */
const FIRST_TURNS = 10;

/**
 * Number of further turns of each kernel that may be the fastest in some group. There are none if only one kernel may
 * be the fastest in each group, and no result is doubtful.
 */
const FINAL_TURNS = 15;

/** Length of the pause before each round of turns, in ms. */
const REST_MS = 3;

/**
 * Kernels get no final turns if, in every group, their best turn is below this fraction of the fastest kernel's best
 * turn. The exact value does not matter.
 */
const HOPELESS = 0.7;

/** After this time, in ms, each kernel gets only the minimum number of turns. On a busy machine a turn takes 15 ms. */
const ENOUGH_MS = 3_000;
/** Minimum number of first turns of each kernel. */
const LEAST_FIRST_TURNS = 4;
/** Minimum number of final turns of each kernel that gets any. */
const LEAST_FINAL_TURNS = 5;

/**
 * Measures kernels in turns, which takes about a second for twelve kernels.
 * @returns for each group, the rates of each kernel
 */
export async function measureTurns(names: readonly KernelName[], measurement: Measurement): Promise<Turns[]> {
  const { groups, takeTurn, rest, stop, nowMs = () => performance.now(), random = Math.random } = measurement;
  const results = Array.from({ length: groups }, () => new Map(names.map((name) => [name, [] as number[]])));
  const startMs = nowMs();
  let rounds = 0;
  const race = async (entrants: readonly KernelName[]) => {
    rest();
    await sleep(REST_MS);
    rounds++;
    for (const name of shuffled(entrants, random)) {
      stop?.throwIfAborted();
      const rates = await takeTurn(name);
      for (const [group, rate] of rates.entries()) if (rate !== undefined) results[group].get(name)?.push(rate);
    }
  };
  const isLate = () => nowMs() - startMs > ENOUGH_MS;
  while (rounds < FIRST_TURNS && !(rounds >= LEAST_FIRST_TURNS && isLate())) await race(names);
  const finalistsOf = (turns: Turns) => names.filter((name) => mayWin(name, turns));
  const finalists = names.filter((name) => results.some((turns) => mayWin(name, turns)));
  const isOpen = results.some((turns) => finalistsOf(turns).length > 1 || evaluate(turns).doubt !== undefined);
  for (let turns = 0; isOpen && turns < FINAL_TURNS; turns++) {
    if (turns >= LEAST_FINAL_TURNS && isLate()) break;
    await race(finalists);
  }
  stop?.throwIfAborted();
  return results;
}

function mayWin(name: KernelName, turns: Turns): boolean {
  const best = Math.max(...Array.from(turns.values(), bestOf));
  return bestOf(turns.get(name) ?? []) >= HOPELESS * best;
}

/**
 * @param random returns numbers in [0, 1)
 * @returns the entrants in random order, so that a periodic load does not always slow down the same entrant
 */
function shuffled<T>(entrants: readonly T[], random: () => number): T[] {
  const left = [...entrants];
  return entrants.flatMap(() => left.splice(Math.floor(random() * left.length), 1));
}

/* Evaluation of the turns: pure functions */

/** Speeds of kernels in H/s, for one thread. */
export type Speeds = Readonly<Partial<Record<KernelName, number>>>;

export interface Evaluation {
  readonly speeds: Speeds;
  /** Absent when no kernel has a rate. */
  readonly fastest?: KernelName;
  /** For people: a clause with the reason why the result is not reliable; absent if it is reliable. */
  readonly doubt?: string;
}

/** Speeds that differ by at most this fraction count as equal, because measurements vary by as much. */
const TIE = 0.01;

/** A kernel may be the fastest if its best turn is at most this fraction below the highest rate. */
const CLOSE = 0.05;

/** Turns whose rates differ by at most this fraction confirm each other. On an idle machine, most turns do so. */
const NEAR = 0.02;

/**
 * Number of turns that must confirm each other. A single turn is not enough, because it can seem too fast with a coarse
 * clock.
 */
const CONFIRMED_BY = 3;

/**
 * Minimum fraction of a kernel's turns that must be near its rate. If fewer are near, most turns were disturbed, and
 * the rate is doubtful.
 */
const LEAST_NEAR = 0.2;

interface Rated {
  readonly name: KernelName;
  /** The rate that counts, in hashes per ms and thread. */
  readonly rate: number;
  /** Rate of the best turn, confirmed or not, in hashes per ms and thread. */
  readonly best: number;
  /** Number of turns whose rate is near `rate`. Turns that are faster than the confirmed ones do not count. */
  readonly near: number;
  /** Number of all turns with a rate. */
  readonly turns: number;
}

export function evaluate(turns: Turns): Evaluation {
  const all = Array.from(turns, ([name, rates]) => rateOne(name, rates)).filter(({ turns }) => turns > 0);
  const speeds = Object.fromEntries(all.map(({ name, rate }) => [name, Math.round(1000 * rate)]));
  const fastest = fastestOf(speeds);
  if (fastest === undefined) return { speeds };
  const leading = Math.max(...all.map(({ rate }) => rate));
  // A kernel whose turns were disturbed may be as fast as its best turn.
  const isClose = ({ name, best }: Rated) => name === fastest || best >= (1 - CLOSE) * leading;
  const doubtful = all.filter(isClose).find(({ near, turns }) => near < leastNear(turns));
  if (!doubtful) return { speeds, fastest };
  const { name, near, turns: count } = doubtful;
  return { speeds, fastest, doubt: `only ${near} of ${count} turns of ${name} agree within ${100 * NEAR} %` };
}

/**
 * @returns the fastest kernel. Of several kernels whose speeds count as equal, it is the first in KERNEL_NAMES;
 *   undefined without kernels
 */
export function fastestOf(speeds: Speeds): KernelName | undefined {
  const best = Math.max(...Object.values(speeds));
  return KERNEL_NAMES.find((name) => speeds[name] !== undefined && speeds[name] >= (1 - TIE) * best);
}

/** @returns the highest rate; 0 without turns */
function bestOf(rates: readonly number[]): number {
  return Math.max(0, ...rates);
}

/**
 * The rate of a kernel is the second of the three highest rates that confirm each other. High rates count, because
 * other programs can only slow a turn down. If no three turns confirm each other, the rate of the best turn counts.
 */
function rateOne(name: KernelName, rates: readonly number[]): Rated {
  const sorted = [...rates].sort((a, b) => b - a);
  const last = CONFIRMED_BY - 1;
  const from = sorted.findIndex((best, i) => i + last < sorted.length && sorted[i + last] >= (1 - NEAR) * best);
  const rate = from >= 0 ? sorted[from + 1] : bestOf(rates);
  const near =
    from >= 0 ? sorted.filter((each) => each >= (1 - NEAR) * rate).length - from : Math.min(1, sorted.length);
  return { name, rate, best: bestOf(rates), near, turns: rates.length };
}

function leastNear(turns: number): number {
  return Math.max(CONFIRMED_BY, LEAST_NEAR * turns);
}

/*
 * The measuring threads: as many as will mine, but at most one for each CPU, on the same CPUs, all with the same
 * kernel. The fastest kernel on one thread may not be the fastest one on many threads. One reason is that two threads
 * on a core share its vector units. Another is that wide vectors can lower the clock of the chip.
 *
 * Rates are computed from processor time where `threadClock` can read it. Other programs then make a turn longer, but
 * do not change its rate. A thread that has measured goes on hashing until the next turn, so that the other threads
 * measure under full load.
 */

/** The typed arrays are in shared memory, which all measuring threads and the main thread use. */
export interface MeasuringThreadData {
  readonly names: readonly KernelName[];
  /** Index of this thread in `rates` and `turns`. */
  readonly index: number;
  readonly cpus: Place;
  /** One word: `turn * names.length` plus the index of the kernel in `names`; 0 during a pause. */
  readonly current: Int32Array;
  /** The latest rate of each thread, in hashes per ms. */
  readonly rates: Float64Array;
  /** The turn in which each thread has measured its latest rate. Turns are numbered from 1. */
  readonly turns: Int32Array;
  /**
   * The element at index `turn % ended.length` is the number of threads that have ended this turn or are not running.
   */
  readonly ended: Int32Array;
}

/** Length of `ended`. It is more than the number of turns that a thread can miss while it gets no processor time. */
const TURNS_APART = 64;

/** Time limit for the start of all threads, in ms. The start of one thread takes 0.1 s. */
const START_MS = 5_000;

/**
 * Time limit of a turn, in ms. A turn then ends even without the rates of some threads, as can happen on a busy
 * machine. With a processor for each thread, a turn takes 3 ms.
 */
const ALL_WAIT_MS = 12;
/**
 * Maximum time by which a turn is prolonged, in ms. It is prolonged if some group has no rate yet after ALL_WAIT_MS.
 */
const ANY_WAIT_MS = 500;

export class MeasuringThreads {
  readonly #names: readonly KernelName[];
  readonly #groupCount: number;
  /** Index of each thread's group. */
  readonly #groups: readonly number[];
  readonly #places: readonly Place[];
  readonly #current = new Int32Array(shared(1, Int32Array));
  readonly #ended = new Int32Array(shared(TURNS_APART, Int32Array));
  readonly #rates: Float64Array;
  readonly #turns: Int32Array;
  readonly #workers: Worker[] = [];
  #running = 0;
  #turn = 0;
  #endTurn: (() => void) | undefined;

  /** @param groups the places of each group's threads */
  constructor(names: readonly KernelName[], groups: readonly (readonly Place[])[]) {
    this.#names = names;
    this.#groupCount = groups.length;
    this.#places = groups.flat();
    this.#groups = groups.flatMap((places, group) => places.map(() => group));
    this.#rates = new Float64Array(shared(this.#places.length, Float64Array));
    this.#turns = new Int32Array(shared(this.#places.length, Int32Array));
  }

  get running(): number {
    return this.#running;
  }

  /**
   * Settles when all threads run, after START_MS, or when `stop` fires. A thread that does not start is ignored, so the
   * machine is less busy during the measurement.
   */
  async start(stop?: AbortSignal): Promise<void> {
    const starts: Promise<void>[] = [];
    try {
      for (const index of this.#places.keys()) starts.push(this.#startOne(index));
    } catch {
      // The system allows no more threads. The measurement uses the threads that have started.
    }
    const started = new AbortController();
    const patience = pause(systemClock, START_MS, started.signal, ...(stop ? [stop] : []));
    await Promise.race([Promise.all(starts), patience]);
    started.abort();
  }

  #startOne(index: number): Promise<void> {
    const url = fileURLToPath(new URL('./measuring-thread.js', import.meta.url));
    const workerData: MeasuringThreadData = {
      names: this.#names,
      index,
      cpus: this.#places[index],
      current: this.#current,
      rates: this.#rates,
      turns: this.#turns,
      ended: this.#ended,
    };
    const worker = new Worker(url, { workerData });
    this.#workers.push(worker);
    return new Promise((resolve) => {
      worker.on('message', (message: 'ready' | number) => {
        if (message === 'ready') {
          this.#running++;
          resolve();
        } else if (message === this.#turn) this.#endTurn?.();
      });
      worker.on('error', () => resolve());
    });
  }

  readonly takeTurn: TakeTurn = async (name) => {
    this.#turn++;
    Atomics.store(this.#ended, this.#turn % TURNS_APART, this.#places.length - this.#running);
    this.#setCurrent(this.#turn * this.#names.length + this.#names.indexOf(name));
    const rates = () => Array.from({ length: this.#groupCount }, (_, group) => this.#rateOf(group));
    await this.#end(ALL_WAIT_MS);
    if (rates().includes(undefined)) await this.#end(ANY_WAIT_MS);
    return rates();
  };

  rest(): void {
    this.#setCurrent(0);
  }

  /** Settles when all threads have ended the turn, or after `waitMs`. */
  async #end(waitMs: number): Promise<void> {
    if (Atomics.load(this.#ended, this.#turn % TURNS_APART) >= this.#places.length) return;
    const ended = new AbortController();
    this.#endTurn = () => ended.abort();
    await pause(systemClock, waitMs, ended.signal);
    this.#endTurn = undefined;
  }

  /** @returns the mean rate of the group's threads that have ended the turn; undefined without such threads */
  #rateOf(group: number): number | undefined {
    const done = (_: unknown, i: number) => this.#groups[i] === group && Atomics.load(this.#turns, i) === this.#turn;
    const rates = Array.from(this.#rates).filter(done);
    return rates.length > 0 ? rates.reduce((sum, rate) => sum + rate, 0) / rates.length : undefined;
  }

  #setCurrent(current: number): void {
    Atomics.store(this.#current, 0, current);
    Atomics.notify(this.#current, 0);
  }

  async stop(): Promise<void> {
    this.rest();
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

function shared(length: number, { BYTES_PER_ELEMENT }: { readonly BYTES_PER_ELEMENT: number }): SharedArrayBuffer {
  return new SharedArrayBuffer(length * BYTES_PER_ELEMENT);
}
