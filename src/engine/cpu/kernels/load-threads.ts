/**
 * Threads that run a kernel while another thread measures it. The kernel that is fastest on one thread need not be the
 * fastest on many: two threads on a core share its vector units, and wide vectors can lower the clock of the whole chip. The
 * rows of the load threads are counted, too, so that a turn in which they got no processor time does not look fast.
 */

import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { pause } from '../../../system/abort.ts';
import type { KernelName } from '../kernel-names.ts';
import type { Load } from './speed.ts';

/** The data that a load thread is started with. Everything but the names is shared memory. */
export interface LoadThreadData {
  readonly names: readonly KernelName[];
  /** One word: `spell * names.length` plus the index of the kernel to run; 0 before the first spell and after the last. */
  readonly current: Int32Array;
  /** How many rows all threads searched in each spell. A spell's index is its number modulo the length. */
  readonly rows: Int32Array;
  /** How many threads have added their rows, with the same index. */
  readonly reports: Int32Array;
}

/** How many spells are kept apart. A thread without a processor adds its rows late, but not as late as this (60 ms). */
const SPELLS = 64;

/** How long to wait for threads to start. One starts in 0.1 s. */
const START_MS = 5_000;

/** How long to wait for a thread's rows. A thread with a processor adds them within 0.1 ms; the others have few to add. */
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

  /** @param names the kernels that can be used here */
  constructor(names: readonly KernelName[]) {
    this.#names = names;
  }

  /** How many threads run. */
  get count(): number {
    return this.#count;
  }

  /** Settles when this many threads run. A thread that does not start is ignored: the machine is only less busy. */
  async start(count: number, stop?: AbortSignal): Promise<void> {
    const starts: Promise<void>[] = [];
    try {
      while (starts.length < count) starts.push(this.#startOne());
    } catch {
      // The system allows this process no more threads.
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
    // The threads must not sleep between turns: they might wake up on the processor of the measuring thread even when
    // another one is free.
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
