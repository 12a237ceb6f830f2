/**
 * Threads that run a native kernel while another thread measures it. The fastest kernel of one thread need not be the
 * fastest of them all: two threads on a core share its vector units, and wide vectors can lower the clock of the whole
 * chip. The other kernels are measured alone, since V8 compiles them meanwhile and needs a processor for it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { KernelName } from './kernel.ts';

/** What a companion is started with. */
export interface CompanionData {
  readonly names: readonly KernelName[];
  /** One word of shared memory: 1 + the index of the kernel to run, 0 for none. */
  readonly current: Int32Array;
}

/** A thread starts in 0.1 s; those that take longer than this are done without. */
const START_MS = 5_000;

export class Companions {
  readonly #names: readonly KernelName[];
  readonly #current = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #workers: readonly Worker[];

  /**
   * @param names of native kernels that can be used here
   * @param count of threads; none where there are no such kernels
   */
  constructor(names: readonly KernelName[], count: number) {
    this.#names = names;
    const url = fileURLToPath(new URL('./companion.js', import.meta.url));
    const workerData: CompanionData = { names, current: this.#current };
    this.#workers = Array.from({ length: names.length > 0 ? count : 0 }, () => new Worker(url, { workerData }));
  }

  /** Settles when they are there. One that does not start only leaves the machine less busy: it is done without. */
  async started(): Promise<void> {
    const started = this.#workers.map(
      (worker) => new Promise((resolve) => worker.once('message', resolve).once('error', resolve)),
    );
    const deadline = new AbortController();
    await Promise.race([
      Promise.all(started),
      sleep(START_MS, undefined, { signal: deadline.signal }).catch(() => undefined),
    ]);
    deadline.abort();
  }

  /** Has all of them run this kernel, at once; they rest while it is none of theirs. */
  readonly run = (name: KernelName): void => {
    Atomics.store(this.#current, 0, 1 + this.#names.indexOf(name));
    Atomics.notify(this.#current, 0);
  };

  async stop(): Promise<void> {
    Atomics.store(this.#current, 0, 0);
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
