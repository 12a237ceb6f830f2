/**
 * The threads that hash. Each is a piscina of its own: one that has many threads looks at all of them several times a task,
 * so that with 256 threads a task costs the main thread five times as much.
 */

import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { Task, TaskResult, ThreadData } from './worker.ts';

/** Tasks of old runs return as soon as they are looked at: this is room for new tasks behind those of a few runs. */
const QUEUE_PER_THREAD = 8;

const WORKER = new URL('./worker.js', import.meta.url);

interface Thread {
  readonly piscina: Piscina<Task, TaskResult>;
  /** How many tasks it has not answered. */
  tasks: number;
}

interface PoolOptions {
  readonly threads: number;
  readonly data: ThreadData;
  /** Called when a thread has ended by itself, at least once, and maybe more often. */
  readonly failed: (error: unknown) => void;
  /** What the threads run. The default is the worker. */
  readonly worker?: URL;
}

export class Pool {
  readonly #threads: readonly Thread[];

  constructor({ threads, data, failed, worker = WORKER }: PoolOptions) {
    this.#threads = Array.from({ length: threads }, () => {
      const piscina = new Piscina<Task, TaskResult>({
        filename: fileURLToPath(worker),
        minThreads: 1,
        maxThreads: 1,
        idleTimeout: Number.POSITIVE_INFINITY,
        concurrentTasksPerWorker: QUEUE_PER_THREAD,
        workerData: data,
        // Its histograms take most of a megabyte for each thread.
        recordTiming: false,
      });
      piscina.on('error', failed);
      // The thread that piscina starts in the place of a dead one would be pinned to another CPU. Later, since the error
      // of a task, if it had one, says more.
      piscina.on('workerDestroy', () => setImmediate(() => failed(new Error('it has ended'))));
      return { piscina, tasks: 0 };
    });
  }

  get size(): number {
    return this.#threads.length;
  }

  /** Settles when all threads are there, with their kernels loaded. */
  async ready(): Promise<void> {
    await Promise.all(this.#threads.map(({ piscina }) => piscina.run(NOTHING)));
  }

  /** Runs a task on the thread that has the fewest to answer. */
  async run(task: Task): Promise<TaskResult> {
    const thread = this.#threads.reduce((least, other) => (other.tasks < least.tasks ? other : least));
    thread.tasks++;
    try {
      return await thread.piscina.run(task);
    } finally {
      thread.tasks--;
    }
  }

  /** Ends all threads: `failed` is called for each. */
  async destroy(): Promise<void> {
    await Promise.all(this.#threads.map(({ piscina }) => piscina.destroy()));
  }
}

/** A task of no work: a thread that answers it has started and loaded its kernel. */
const NOTHING: Task = {
  run: 0,
  puzzle: { midstate: new Uint32Array(8), tail: new Uint32Array(16), target: new Uint32Array(8) },
  range: { lane: 0, page: 0, pages: 0, counter: 0, counters: 1 },
};
