/**
 * Measures kernels on the threads that will mine. Which kernel is the fastest depends more on the chip than on the
 * kernel's instruction set.
 */

import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { pause } from '../../../../base/system/abort.ts';
import { KERNEL_NAMES, type KernelName } from '../../device.ts';
import type { CoreGroup, Place } from '../threads.ts';

/** Rates of each kernel by turn, in hashes per ms and thread. */
export type Turns = ReadonlyMap<KernelName, readonly number[]>;

/**
 * @param stop ends the measurement, which then throws the signal's reason
 * @returns the turns of each group
 */
export async function measureKernels(
  names: readonly KernelName[],
  groups: readonly CoreGroup[],
  stop: AbortSignal | undefined,
): Promise<Turns[]> {
  const most = availableParallelism();
  // More threads would only wait for a CPU.
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
 * @returns hashes per ms and thread for each group; undefined for a group of which no thread got a processor in time
 */
export type TakeTurn = (name: KernelName) => Promise<readonly (number | undefined)[]>;

interface Measurement {
  readonly groups: number;
  readonly takeTurn: TakeTurn;
  /** Lets the threads rest, so that on a busy machine V8 gets processor time to compile. */
  readonly rest: () => void;
  /** Ends the measurement, which then throws the signal's reason. */
  readonly stop?: AbortSignal | undefined;
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

/**
 * Number of turns that each kernel gets at first. During these turns V8 optimizes WebAssembly, which is much slower at
 * first.
 */
const FIRST_TURNS = 10;

/** Number of further turns of the kernels that may be the fastest of a group. */
const FINAL_TURNS = 15;

const REST_MS = 3;

/** Kernels slower than this fraction of the fastest get no final turns. The exact value does not matter. */
const HOPELESS = 0.7;

/** After this time, each kernel gets only its minimum number of turns. On a busy machine a turn takes 15 ms. */
const ENOUGH_MS = 3_000;
const LEAST_FIRST_TURNS = 4;
const LEAST_FINAL_TURNS = 5;

/** Measures kernels in turns, which takes a second for twelve kernels. @returns the turns of each group */
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
 * @returns the entrants in random order, so that a periodic load does not always hit the same one
 */
function shuffled<T>(entrants: readonly T[], random: () => number): T[] {
  const left = [...entrants];
  return entrants.flatMap(() => left.splice(Math.floor(random() * left.length), 1));
}

/* Evaluation of the turns. Pure. */

/** H/s of one thread. */
export type Speeds = Readonly<Partial<Record<KernelName, number>>>;

export interface Evaluation {
  readonly speeds: Speeds;
  /** Undefined without kernels. */
  readonly fastest?: KernelName;
  /** Why the result is not reliable: a clause for people. */
  readonly doubt?: string;
}

/** Speeds that differ by less than this fraction count as equal, because measurements vary by as much. */
const TIE = 0.01;

/** A kernel whose best turn is at most this fraction below the highest rate may be the fastest. */
const CLOSE = 0.05;

/** Turns that differ by less than this fraction confirm each other. On an idle machine, most turns do. */
const NEAR = 0.02;

/** Number of turns that must confirm each other: with a coarse clock, a single turn can seem too fast. */
const CONFIRMED_BY = 3;

/**
 * Minimum fraction of a kernel's turns that must be near its rate. With fewer, most turns were disturbed, and the rate
 * is doubtful.
 */
const LEAST_NEAR = 0.2;

interface Rated {
  readonly name: KernelName;
  /** In hashes per ms. */
  readonly rate: number;
  /** The best turn, confirmed or not. */
  readonly best: number;
  /** Number of turns near the rate. */
  readonly near: number;
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

/** @returns the fastest kernel; of equally fast ones, the first in KERNEL_NAMES; undefined without kernels */
export function fastestOf(speeds: Speeds): KernelName | undefined {
  const best = Math.max(...Object.values(speeds));
  return KERNEL_NAMES.find((name) => speeds[name] !== undefined && speeds[name] >= (1 - TIE) * best);
}

/** @returns 0 without turns */
function bestOf(rates: readonly number[]): number {
  return Math.max(0, ...rates);
}

/**
 * The rate is the highest that several turns confirm, because other programs can only slow a turn down. If no turns
 * confirm each other, the rate is that of the best turn.
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
 * The measuring threads: as many as will mine, on the same CPUs, all with the same kernel. The kernel that is fastest
 * on one thread need not be the fastest on many, because two threads on a core share its vector units, and wide vectors
 * can lower the clock of the chip. Rates are per processor time, so other programs only make a turn longer, while the
 * other thread of the same core goes on hashing.
 */

/** The typed arrays are in shared memory. */
export interface MeasuringThreadData {
  readonly names: readonly KernelName[];
  /** Index in `rates` and `turns`. */
  readonly index: number;
  readonly cpus: Place;
  /** One word: `turn * names.length` plus the index of the kernel; 0 while the threads rest. */
  readonly current: Int32Array;
  /** Each thread's latest rate in hashes per ms. */
  readonly rates: Float64Array;
  /** The number of the turn of each thread's latest rate. Turns are numbered from 1. */
  readonly turns: Int32Array;
  /** At index `turn % ended.length`, the number of threads that have ended this turn, or are not running. */
  readonly ended: Int32Array;
}

/** Length of `ended`. It is more than the number of turns by which a thread without a processor can lag behind. */
const TURNS_APART = 64;

/** Time limit for the start of the threads, which takes 0.1 s each. */
const START_MS = 5_000;

/**
 * Time limits of a turn: for the rates of all threads, and further time if a group has no rate yet. With a processor
 * for each thread, 3 ms are enough. On a busy machine, a turn can end without the rates of some threads.
 */
const ALL_WAIT_MS = 12;
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

  /** @param groups the CPUs of each group's threads */
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
   * Settles when all threads run, after START_MS, or on `stop`. A thread that does not start is ignored: the machine is
   * then only less busy.
   */
  async start(stop?: AbortSignal): Promise<void> {
    const starts: Promise<void>[] = [];
    try {
      for (const index of this.#places.keys()) starts.push(this.#startOne(index));
    } catch {
      // The system allows no more threads.
    }
    const started = new AbortController();
    const patience = pause(START_MS, started.signal, ...(stop ? [stop] : []));
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
    await pause(waitMs, ended.signal);
    this.#endTurn = undefined;
  }

  /** @returns the mean of the group's threads that have ended the turn; undefined without any */
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
