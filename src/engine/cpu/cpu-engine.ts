/** The CPU as an engine: a pool of threads at low priority that all search the current job. */

import { cpus } from 'node:os';
import type { Job } from '../../chain/job.ts';
import { onAbort } from '../../system/abort.ts';
import { DeviceError, type Engine, type EngineInfo, type Ranges, type SearchReport } from '../engine.ts';
import { BatchSize, batchMsFor } from './batch-size.ts';
import { chooseKernel, forceKernel } from './kernels/choose.ts';
import type { KernelName } from './kernels/kernel.ts';
import { Pool } from './pool.ts';
import { SearchRun } from './search-run.ts';
import { chooseThreads, type ThreadChoice, type ThreadWishes } from './threads.ts';
import type { ThreadData } from './worker.ts';

export interface CpuEngineOptions extends ThreadWishes {
  /** Unique in a rig. */
  readonly name?: string;
  /** Left out, the fastest one that runs here. */
  readonly kernel?: KernelName;
  /** Where speeds of kernels are remembered; left out, they are measured at each opening, which takes half a second. */
  readonly cacheDirectory?: string;
  /** How long a task should take. The default grows with the number of threads. */
  readonly batchMs?: number;
}

/** One runs while the other waits, so no thread idles while its result is read. */
const TASKS_PER_THREAD = 2;

export class CpuEngine implements Engine {
  readonly name: string;
  readonly kind = 'cpu';
  readonly #options: CpuEngineOptions;
  readonly #threads: ThreadChoice;
  readonly #batch: BatchSize;
  /** The stop flag: kernels stop when it is not the number of their own job. */
  readonly #currentJob = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #runs = new Set<SearchRun>();
  #pool: Pool | undefined;
  /** Why it has to be closed and opened again. */
  #fault: unknown;
  /** Another one each time that it is opened, aborted when it is closed; undefined while it is closed. */
  #session: AbortController | undefined;

  /** @throws RangeError when the threads cannot be had as wished for. */
  constructor(options: CpuEngineOptions = {}) {
    this.name = options.name ?? 'cpu';
    this.#options = options;
    this.#threads = chooseThreads(options);
    this.#batch = new BatchSize(options.batchMs ?? batchMsFor(this.#threads.threads));
  }

  async open(): Promise<EngineInfo> {
    if (this.#session !== undefined) throw new Error('the CPU engine is open already');
    const session = new AbortController();
    this.#session = session;
    this.#fault = undefined;
    try {
      return await this.#start(session.signal);
    } catch (error) {
      if (this.#session === session) await this.close();
      throw error;
    }
  }

  /** @param closed when it is closed meanwhile */
  async #start(closed: AbortSignal): Promise<EngineInfo> {
    const { threads, cpus: places, niceness, why } = this.#threads;
    const { kernel: forced, cacheDirectory } = this.#options;
    const kernel = forced ? forceKernel(forced) : await chooseKernel({ threads, cacheDirectory, stop: closed });
    closed.throwIfAborted();
    const data: ThreadData = {
      kernel: kernel.name,
      currentJob: this.#currentJob,
      cpus: places,
      placed: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
      ...(niceness !== undefined && { niceness }),
    };
    try {
      await this.#startPool(threads, data);
    } catch (error) {
      throw new DeviceError('missing', `the CPU threads did not start: ${(error as Error).message}`, { cause: error });
    }
    return {
      model: cpus()[0]?.model.trim() || 'unknown CPU',
      kernel: kernel.name,
      threads,
      why: `kernel ${kernel.name}: ${kernel.why}; ${threads} ${threads === 1 ? 'thread' : 'threads'}: ${why}`,
    };
  }

  /** Settles when all threads are there, with their kernels loaded. */
  async #startPool(threads: number, data: ThreadData): Promise<void> {
    const pool = new Pool({ threads, data, failed: (error) => this.#fail(pool, error) });
    this.#pool = pool;
    await pool.ready();
  }

  /** Ends the searches of this pool, and those that are still to come. */
  #fail(pool: Pool, error: unknown): void {
    if (this.#pool !== pool) return;
    this.#fault ??= error;
    for (const run of this.#runs) run.fail(error);
  }

  async *search(job: Job, ranges: Ranges, stop: AbortSignal): AsyncGenerator<SearchReport, void, undefined> {
    const pool = this.#pool;
    if (pool === undefined) throw new DeviceError('missing', 'the CPU engine is not open');
    if (stop.aborted) return;
    const run = new SearchRun({
      job,
      ranges,
      batch: this.#batch,
      tasks: TASKS_PER_THREAD * pool.size,
      currentJob: this.#currentJob,
      runTask: (task) => pool.run(task),
    });
    const release = onAbort(stop, () => void run.stop());
    this.#runs.add(run);
    if (this.#fault !== undefined) run.fail(this.#fault);
    try {
      yield* run.reports();
    } finally {
      release();
      this.#runs.delete(run);
    }
  }

  async close(): Promise<void> {
    this.#session?.abort(new DeviceError('missing', 'the CPU engine was closed while it opened'));
    this.#session = undefined;
    const pool = this.#pool;
    this.#pool = undefined;
    await Promise.all(Array.from(this.#runs, (run) => run.stop()));
    await pool?.destroy();
  }
}
