/**
 * Measures the kernels on the threads that will mine. Which one is fastest depends more on the chip than on the
 * instruction set.
 */

import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { pause } from '../../../system/abort.ts';
import { KERNEL_NAMES, type KernelName } from '../../device.ts';
import type { CoreGroup, Place } from '../threads.ts';

/** Each kernel's rates in its turns, in hashes per ms of one thread. */
export type Turns = ReadonlyMap<KernelName, readonly number[]>;

/**
 * @param groups all threads that hash at the same time, by kind of cores
 * @param stop ends the measurement, which then throws the signal's reason
 * @returns the results of the turns, for each group
 */
export async function measureKernels(
  names: readonly KernelName[],
  groups: readonly CoreGroup[],
  stop: AbortSignal | undefined,
): Promise<Turns[]> {
  const most = availableParallelism();
  // More threads than CPUs would only wait for a processor.
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
 * Makes all threads run this kernel and measures it.
 * @returns hashes per millisecond and thread, for each group; undefined when no thread of the group got a processor in
 *   time
 */
export type TakeTurn = (name: KernelName) => Promise<readonly (number | undefined)[]>;

interface Measurement {
  /** Number of groups of cores. */
  readonly groups: number;
  readonly takeTurn: TakeTurn;
  /** Lets the threads rest between rounds, so that on a busy machine V8 gets processor time to compile. */
  readonly rest: () => void;
  /** Ends the measurement, which then throws the signal's reason. */
  readonly stop?: AbortSignal | undefined;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
  /** Returns numbers in [0, 1). */
  readonly random?: () => number;
}

/** Number of turns that each kernel gets. In this time V8 optimizes WebAssembly, which is much slower at first. */
const FIRST_TURNS = 10;

/** Number of further turns for the kernels that may be the fastest of a group. */
const FINAL_TURNS = 15;

/** Time that the threads rest between rounds. */
const REST_MS = 3;

/**
 * After the first turns, kernels slower than this fraction of the fastest one get no more. The exact value does not
 * matter.
 */
const HOPELESS = 0.7;

/** On a busy machine a turn takes 15 ms. After this time, only the least numbers of turns are completed. */
const ENOUGH_MS = 3_000;
const LEAST_FIRST_TURNS = 4;
const LEAST_FINAL_TURNS = 5;

/**
 * Measures kernels in turns. With twelve kernels this takes a second, including 50 ms for each kernel that may be the
 * fastest.
 * @returns the results of the turns, for each group
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
 * @returns the entrants in a random order, so that a load that comes back at regular times does not always hit the same
 *   one
 */
function shuffled<T>(entrants: readonly T[], random: () => number): T[] {
  const left = [...entrants];
  return entrants.flatMap(() => left.splice(Math.floor(random() * left.length), 1));
}

/* Evaluates the turns: which kernel is the fastest, and whether that is reliable. Pure. */

/** H/s of one thread, by kernel. */
export type Speeds = Readonly<Partial<Record<KernelName, number>>>;

export interface Evaluation {
  readonly speeds: Speeds;
  /** Undefined when there are no kernels. */
  readonly fastest?: KernelName;
  /** Why the result is not reliable: a clause for people. Absent when it is. */
  readonly doubt?: string;
}

/** Speeds whose difference is below this fraction count as equal, because measurements vary by as much. */
const TIE = 0.01;

/** A kernel whose best turn comes this close to the fastest kernel's rate may be the fastest itself. */
const CLOSE = 0.05;

/**
 * Turns whose rates differ by less than this fraction confirm each other. On an idle machine, most turns of a kernel
 * do.
 */
const NEAR = 0.02;

/**
 * Number of turns that must confirm each other. A single turn can seem too fast, because the clocks of some systems are
 * coarse.
 */
const CONFIRMED_BY = 3;

/**
 * Smallest fraction of a kernel's turns that must come near its speed. With fewer, the others were disturbed, and the
 * speed is doubtful.
 */
const LEAST_NEAR = 0.2;

interface Rated {
  readonly name: KernelName;
  /** In hashes per ms. */
  readonly rate: number;
  /** The best turn, confirmed or not. */
  readonly best: number;
  /** Number of turns that come near the rate. */
  readonly near: number;
  readonly turns: number;
}

export function evaluate(turns: Turns): Evaluation {
  const all = Array.from(turns, ([name, rates]) => rateOne(name, rates)).filter(({ turns }) => turns > 0);
  const speeds = Object.fromEntries(all.map(({ name, rate }) => [name, Math.round(1000 * rate)]));
  const fastest = fastestOf(speeds);
  if (fastest === undefined) return { speeds };
  const leading = Math.max(...all.map(({ rate }) => rate));
  // A kernel whose other turns were disturbed may be as fast as its best turn.
  const isClose = ({ name, best }: Rated) => name === fastest || best >= (1 - CLOSE) * leading;
  const doubtful = all.filter(isClose).find(({ near, turns }) => near < leastNear(turns));
  if (!doubtful) return { speeds, fastest };
  const { name, near, turns: count } = doubtful;
  return { speeds, fastest, doubt: `only ${near} of ${count} turns of ${name} agree within ${100 * NEAR} %` };
}

/** @returns the fastest kernel; among equally fast ones, the first in KERNEL_NAMES; undefined when there are none */
export function fastestOf(speeds: Speeds): KernelName | undefined {
  const best = Math.max(...Object.values(speeds));
  return KERNEL_NAMES.find((name) => speeds[name] !== undefined && speeds[name] >= (1 - TIE) * best);
}

/** @returns the rate of the best turn; 0 when there is none */
function bestOf(rates: readonly number[]): number {
  return Math.max(0, ...rates);
}

/**
 * The rate is the highest one that several turns confirm, because other programs can only slow a turn down. When no
 * turns confirm each other, it is that of the best turn.
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
 * Threads that measure kernels, as many as will mine and on the same CPUs. All of them run the same kernel at the same
 * time: the kernel that is fastest on one thread need not be the fastest on many, because two threads on a core share
 * its vector units, and wide vectors can lower the clock of the whole chip. Each measures its own rate. Since processor
 * time counts, a thread that other programs keep from running only takes longer. On cores with two hardware threads,
 * the thread beside it goes on hashing meanwhile.
 */

/** The data that a measuring thread is started with. All its typed arrays are shared memory. */
export interface MeasuringThreadData {
  readonly names: readonly KernelName[];
  /** The thread's index in `rates` and `turns`. */
  readonly index: number;
  readonly cpus: Place;
  /** One word: `turn * names.length` plus the index of the kernel to run; 0 while the threads rest. */
  readonly current: Int32Array;
  /** Each thread's latest rate, in hashes per ms. */
  readonly rates: Float64Array;
  /** The number of the turn that each thread's latest rate belongs to. The first turn is 1. */
  readonly turns: Int32Array;
  /** Number of threads that have ended a turn. A turn's index is its number modulo the length. */
  readonly ended: Int32Array;
}

/**
 * Number of turns whose ends are counted separately. A thread without a processor ends a turn late, but less than this
 * many turns late.
 */
const TURNS_APART = 64;

/** Time limit for the start of the threads. One starts in 0.1 s. */
const START_MS = 5_000;

/**
 * Time limit of a turn for all threads, which need 3 ms when each has a processor, and for the first thread of each
 * group. On a busy machine some threads get no processor for a while; the turn then ends without their rates.
 */
const ALL_WAIT_MS = 12;
const ANY_WAIT_MS = 500;

export class MeasuringThreads {
  readonly #names: readonly KernelName[];
  readonly #groupCount: number;
  /** The group of each thread. */
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

  /**
   * @param names the kernels that can be used here
   * @param groups the CPUs of the threads of each group
   */
  constructor(names: readonly KernelName[], groups: readonly (readonly Place[])[]) {
    this.#names = names;
    this.#groupCount = groups.length;
    this.#places = groups.flat();
    this.#groups = groups.flatMap((places, group) => places.map(() => group));
    this.#rates = new Float64Array(shared(this.#places.length, Float64Array));
    this.#turns = new Int32Array(shared(this.#places.length, Int32Array));
  }

  /** Number of threads that run. */
  get running(): number {
    return this.#running;
  }

  /** Settles when the threads run. A thread that does not start is ignored; the machine is then only less busy. */
  async start(stop?: AbortSignal): Promise<void> {
    const starts: Promise<void>[] = [];
    try {
      for (const index of this.#places.keys()) starts.push(this.#startOne(index));
    } catch {
      // The system allows this process no more threads.
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

  /** Settles when all threads have ended the turn, or after this time. */
  async #end(waitMs: number): Promise<void> {
    if (Atomics.load(this.#ended, this.#turn % TURNS_APART) >= this.#places.length) return;
    const ended = new AbortController();
    this.#endTurn = () => ended.abort();
    await pause(waitMs, ended.signal);
    this.#endTurn = undefined;
  }

  /** @returns the mean of the group's threads that have ended the turn; undefined when none has */
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
