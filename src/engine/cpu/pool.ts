/**
 * The threads that hash. Each has a Piscina pool of its own, because a pool of many threads looks at all of them several times
 * per task: with 256 threads in one pool, a task would cost the main thread five times as much.
 */

import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { NOTHING_SOLVES } from '../../chain/job.ts';
import type { CoreKind } from '../device.ts';
import type { TaskThread } from './search-run.ts';
import { TaskSize, taskMsFor } from './task-size.ts';
import type { Task, TaskResult, ThreadData } from './worker.ts';

/** Room for the tasks of a few old runs and of the new one. Tasks of old runs return as soon as a thread looks at them. */
const QUEUE_PER_THREAD = 8;

const WORKER = new URL('./worker.js', import.meta.url);

/**
 * Piscina loads a script by require(), and by import() if that fails. Node.js 20 aborts the whole process when a thread is ended
 * while it require()s an ES module, for example when a miner is stopped as soon as it has started. Threads may not do so.
 */
const IMPORT_ONLY = '--no-experimental-require-module';

interface ThreadOptions {
  readonly data: ThreadData;
  /** The kind of the cores that it is confined to; absent where all cores are alike, or when it is not confined. */
  readonly cores?: CoreKind;
}

interface PoolOptions {
  readonly threads: readonly ThreadOptions[];
  /** Called when a thread has ended by itself; it may be called several times. */
  readonly failed: (error: unknown) => void;
  /** The script of the threads. The default is worker.js. */
  readonly worker?: URL;
}

export class Pool {
  readonly threads: readonly TaskThread[];
  readonly #piscinas: readonly Piscina<Task, TaskResult>[];

  constructor({ threads, failed, worker = WORKER }: PoolOptions) {
    this.#piscinas = threads.map(({ data }) => startThread(worker, data, failed));
    this.threads = threads.map(({ cores }, i) => ({
      taskSize: new TaskSize(taskMsFor(threads.length)),
      ...(cores !== undefined && { cores }),
      run: (task) => this.#piscinas[i].run(task),
    }));
  }

  /** Settles when all threads have started and loaded their kernel. */
  async ready(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.run(NOTHING)));
  }

  /** Ends all threads. `failed` is called for each of them. */
  async destroy(): Promise<void> {
    await Promise.all(this.#piscinas.map((piscina) => piscina.destroy()));
  }
}

function startThread(worker: URL, data: ThreadData, failed: (error: unknown) => void): Piscina<Task, TaskResult> {
  const piscina = new Piscina<Task, TaskResult>({
    filename: fileURLToPath(worker),
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    concurrentTasksPerWorker: QUEUE_PER_THREAD,
    workerData: data,
    ...(process.allowedNodeEnvironmentFlags.has(IMPORT_ONLY) && { execArgv: [IMPORT_ONLY] }),
    // Piscina's histograms would take most of a megabyte for each thread.
    recordTiming: false,
  });
  piscina.on('error', failed);
  // Piscina replaces a dead thread, but a hashing thread does not die without a fault, so the pool has failed. setImmediate
  // lets the error of the thread's task arrive first: it says more.
  piscina.on('workerDestroy', () => setImmediate(() => failed(new Error('it has ended'))));
  return piscina;
}

/** A task without nonces. A thread that answers it has started and loaded its kernel. */
const NOTHING: Task = {
  run: 0,
  puzzle: NOTHING_SOLVES,
  range: { lane: 0, page: 0, pages: 0, counter: 0, counters: 1 },
};
