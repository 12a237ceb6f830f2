/**
 * Threads that run a kernel while another thread measures it. The fastest kernel of one thread need not be the fastest of
 * many: two threads on a core share its vector units, and wide vectors can lower the clock of the whole chip. The rows of
 * the load threads count, too, so that a turn during which they had no processor does not look fast.
 */

import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { pause } from '../../../system/abort.ts';
import type { KernelName } from '../kernel-names.ts';
import type { Load } from './speed.ts';

/** What a load thread is started with; everything but the names is shared memory. */
export interface LoadThreadData {
  readonly names: readonly KernelName[];
  /** One word: `spell * names.length` + the index of the kernel to run, or 0 before the first spell. */
  readonly current: Int32Array;
  /** How many rows were searched in a spell, at the spell modulo the length; threads add theirs at its end. */
  readonly rows: Int32Array;
  /** How many threads have added their rows, at the same place. */
  readonly reports: Int32Array;
}

/** A thread without a processor adds its rows late: not to another spell, unless it is this many spells late (60 ms). */
const SPELLS = 64;

/** A thread starts in 0.1 s; threads that take longer than this are not waited for. */
const START_MS = 5_000;

/** Threads with a processor stop within 0.1 ms; those without have little to add. */
const REPORT_MS = 1;

export class LoadThreads implements Load {
  readonly #names: readonly KernelName[];
  readonly #current = sharedWords(1);
  readonly #rows = sharedWords(SPELLS);
  readonly #reports = sharedWords(SPELLS);
  readonly #workers: Worker[] = [];
  #count = 0;
  #kernel = 0;
  #spell = 0;
  #counted = 0;

  /** @param names of kernels that can be used here */
  constructor(names: readonly KernelName[]) {
    this.#names = names;
  }

  /** How many threads run. */
  get count(): number {
    return this.#count;
  }

  /** Settles when so many threads run. One that does not start is not missed: the machine is only less busy. */
  async start(count: number, stop?: AbortSignal): Promise<void> {
    const starts: Promise<void>[] = [];
    try {
      while (starts.length < count) starts.push(this.#startOne());
    } catch {
      // The system has no more threads for this process.
    }
    const started = new AbortController();
    const patience = pause(START_MS, started.signal, ...(stop ? [stop] : []));
    await Promise.race([Promise.all(starts), patience]);
    started.abort();
  }

  #startOne(): Promise<void> {
    const url = fileURLToPath(new URL('./load-thread.js', import.meta.url));
    const workerData: LoadThreadData = {
      names: this.#names,
      current: this.#current,
      rows: this.#rows,
      reports: this.#reports,
    };
    const worker = new Worker(url, { workerData });
    this.#workers.push(worker);
    return new Promise((resolve) => {
      worker.once('message', () => {
        this.#count++;
        resolve();
      });
      worker.on('error', () => resolve());
    });
  }

  run(name: KernelName): void {
    this.#kernel = this.#names.indexOf(name);
    this.#begin();
  }

  endCount(): void {
    this.#counted = this.#spell % SPELLS;
    // The threads run on: those that rest may wake up on the processor of the one that measures, though another is free.
    this.#begin();
  }

  rows(): number {
    for (;;) {
      const reports = Atomics.load(this.#reports, this.#counted);
      if (reports >= this.#count) break;
      if (Atomics.wait(this.#reports, this.#counted, reports, REPORT_MS) === 'timed-out') break;
    }
    return Atomics.load(this.#rows, this.#counted);
  }

  #begin(): void {
    this.#spell++;
    Atomics.store(this.#rows, this.#spell % SPELLS, 0);
    Atomics.store(this.#reports, this.#spell % SPELLS, 0);
    this.#setCurrent(this.#spell * this.#names.length + this.#kernel);
  }

  #setCurrent(current: number): void {
    Atomics.store(this.#current, 0, current);
    Atomics.notify(this.#current, 0);
  }

  async stop(): Promise<void> {
    this.#setCurrent(0);
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

function sharedWords(count: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT));
}
