/**
 * Threads that measure kernels, as many as will mine and on the same CPUs. All of them run the same kernel at the same
 * time: the kernel that is fastest on one thread need not be the fastest on many, because two threads on a core share
 * its vector units, and wide vectors can lower the clock of the whole chip. Each measures its own rate. A thread that
 * other programs keep from running only takes longer, since processor time counts; on cores with two hardware threads,
 * its neighbour goes on hashing.
 */

import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { pause } from '../../../system/abort.ts';
import type { KernelName } from '../kernel-names.ts';
import type { Place } from '../threads.ts';
import type { TakeTurn } from './speed.ts';

/** The data that a measuring thread is started with. All arrays of numbers but `cpus` are shared memory. */
export interface MeasuringThreadData {
  readonly names: readonly KernelName[];
  /** The thread's place in `rates` and `turns`. */
  readonly index: number;
  readonly cpus: Place;
  /** One word: `turn * names.length` plus the index of the kernel to run; 0 while the threads rest. */
  readonly current: Int32Array;
  /** Each thread's latest rate, in hashes per ms. */
  readonly rates: Float64Array;
  /** The number of the turn that each thread's rate is of. Turns have numbers from 1 on. */
  readonly turns: Int32Array;
  /** How many threads have ended a turn. A turn's place is its number modulo the length. */
  readonly ended: Int32Array;
}

/** How many turns are counted apart. A thread without a processor ends a turn late, but not as late as this. */
const TURNS_APART = 64;

/** How long to wait for threads to start. One starts in 0.1 s. */
const START_MS = 5_000;

/**
 * How long a turn waits for all threads, which need 3 ms when each has a processor; and how long it waits, if
 * necessary, for the first thread of each group. On a busy machine some threads get no processor for a while: the turn
 * ends without their rates.
 */
const ALL_WAIT_MS = 12;
const ANY_WAIT_MS = 500;

export class MeasuringThreads {
  readonly #names: readonly KernelName[];
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
    this.#places = groups.flat();
    this.#groups = groups.flatMap((places, group) => places.map(() => group));
    this.#rates = new Float64Array(shared(this.#places.length, Float64Array));
    this.#turns = new Int32Array(shared(this.#places.length, Int32Array));
  }

  /** How many threads run. */
  get running(): number {
    return this.#running;
  }

  /** Settles when the threads run. A thread that does not start is ignored: the machine is only less busy. */
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
      worker.on('message', (said: 'ready' | number) => {
        if (said === 'ready') {
          this.#running++;
          resolve();
        } else if (said === this.#turn) this.#endTurn?.();
      });
      worker.on('error', () => resolve());
    });
  }

  readonly takeTurn: TakeTurn = async (name, groups) => {
    this.#turn++;
    Atomics.store(this.#ended, this.#turn % TURNS_APART, this.#places.length - this.#running);
    this.#setCurrent(this.#turn * this.#names.length + this.#names.indexOf(name));
    const rates = () => Array.from({ length: groups }, (_, group) => this.#rateOf(group));
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
