/**
 * The threads that hash. Each has its own Piscina pool, because a Piscina pool of many threads goes through all of them
 * several times per task: with 256 threads in one pool, a task costs the main thread five times as much.
 */

import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { NOTHING_SOLVES, type Puzzle } from '../../chain/job.ts';
import { COUNTERS, PAGES, type Range, sizeOf } from '../../chain/nonce.ts';
import type { CoreKind } from '../device.ts';
import { DeviceError, type Ranges, type SearchReport } from '../engine.ts';
import { ROW_COUNTERS, splitRows } from './kernels/kernel.ts';
import type { Task, TaskResult, ThreadData } from './worker.ts';

/** Maximum number of tasks in a thread: room for those of a few old runs, which return at once, and of the new one. */
const QUEUE_PER_THREAD = 8;

const WORKER = new URL('./worker.js', import.meta.url);

/**
 * Piscina loads a script by require(), and by import() if that fails. Node.js 20 aborts the whole process when a thread
 * is ended while it require()s an ES module, for example when a miner is stopped as soon as it has started. So threads
 * load their script by import() only.
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

  /** Ends all threads. `failed` is called for each thread. */
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
  // Piscina replaces a dead thread, but a hashing thread does not die without a fault, so the pool has failed.
  // setImmediate lets the error of the thread's task arrive first, because it says more.
  piscina.on('workerDestroy', () => setImmediate(() => failed(new Error('it has ended'))));
  return piscina;
}

/** A task without nonces. When a thread answers it, the thread has started and loaded its kernel. */
const NOTHING: Task = {
  run: 0,
  puzzle: NOTHING_SOLVES,
  range: { lane: 0, page: 0, pages: 0, counter: 0, counters: 1 },
};

/* A run is one search on the threads: it keeps them supplied with tasks and collects their results. */

/** No tasks are started while this many reports wait to be read. The exact value does not matter. */
const MAX_WAITING_REPORTS = 256;

/** Numbers of runs are positive i32. 0 means that there is no current run. */
const MAX_NUMBER = 2 ** 31 - 1;

/** @param number the previous run's number; 0 before the first run */
export function nextRunNumber(number: number): number {
  return (number % MAX_NUMBER) + 1;
}

/** A hashing thread, as runs use it. */
export interface TaskThread {
  /**
   * The size of this thread's tasks. It follows the thread's own rate, so tasks on slow cores take no longer than
   * others.
   */
  readonly taskSize: TaskSize;
  /** The kind of the cores that it is confined to; absent where all cores are alike, or when it is not confined. */
  readonly cores?: CoreKind;
  run(task: Task): Promise<TaskResult>;
}

/** A thread's part in a run. */
interface Seat {
  readonly thread: TaskThread;
  /** The unsearched rest of tasks that returned early. It is searched next, because its size suits this thread. */
  readonly unfinished: Range[];
}

interface SearchRunOptions {
  /** 1 … 2^31 − 1. No two runs that have not ended may have the same number. */
  readonly number: number;
  readonly puzzle: Puzzle;
  readonly ranges: Ranges;
  readonly threads: readonly TaskThread[];
  /** Number of tasks to keep in flight on each thread. */
  readonly tasksPerThread: number;
  /**
   * One word of shared memory: the number of the current run, 0 while there is none. A kernel stops when its run is not
   * the current one.
   */
  readonly currentRun: Int32Array;
}

export class SearchRun {
  readonly #options: SearchRunOptions;
  readonly #seats: readonly Seat[];
  /** One entry for each further task that a thread may have, in the order in which they became free. */
  #free: Seat[];
  readonly #reports: SearchReport[] = [];
  #inFlight = 0;
  #stopping = false;
  #fault: DeviceError | undefined;
  readonly #waiting: (() => void)[] = [];

  constructor(options: SearchRunOptions) {
    const { threads, tasksPerThread } = options;
    this.#options = options;
    this.#seats = threads.map((thread) => ({ thread, unfinished: [] }));
    // Each thread has its first task before any has its second, so that all of them begin soon.
    this.#free = Array.from({ length: tasksPerThread }, () => this.#seats).flat();
    Atomics.store(options.currentRun, 0, options.number);
  }

  /** Ends when the ranges are used up, after `stop`, or when another run has become the current one. */
  async *reports(): AsyncGenerator<SearchReport, void, undefined> {
    try {
      for (;;) {
        this.#supply();
        const report = this.#reports.shift();
        if (report !== undefined) yield report;
        else if (this.#inFlight > 0) await this.#change();
        else break;
      }
    } finally {
      await this.stop();
      for (const { searched } of this.#reports) this.#options.ranges.giveBack(searched);
    }
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Stops the run. Settles when no thread works for it any more. */
  async stop(): Promise<void> {
    const { currentRun, number, ranges } = this.#options;
    this.#stopping = true;
    // If a later run has become the current one, it must go on.
    Atomics.compareExchange(currentRun, 0, number, 0);
    while (this.#inFlight > 0) await this.#change();
    for (const { unfinished } of this.#seats) for (const range of unfinished.splice(0)) ranges.giveBack(range);
    this.#notify();
  }

  /** Ends the search with an error. */
  fail(error: unknown): void {
    this.#fault ??= new DeviceError('lost', `a CPU thread failed: ${(error as Error).message}`, { cause: error });
    void this.stop();
  }

  #supply(): void {
    const { currentRun, number } = this.#options;
    if (Atomics.load(currentRun, 0) !== number) this.#stopping = true;
    if (this.#stopping) return;
    const free = this.#free;
    this.#free = [];
    let usedUp = false;
    for (const seat of free) {
      const isPossible = !this.#stopping && this.#reports.length < MAX_WAITING_REPORTS;
      const range: Range | undefined = isPossible ? this.#nextFor(seat, usedUp) : undefined;
      usedUp ||= range === undefined;
      if (range === undefined) this.#free.push(seat);
      else void this.#search(seat, range);
    }
  }

  #nextFor({ thread, unfinished }: Seat, usedUp: boolean): Range | undefined {
    return unfinished.pop() ?? (usedUp ? undefined : this.#options.ranges.take(thread.taskSize.most));
  }

  async #search(seat: Seat, range: Range): Promise<void> {
    const { number, puzzle } = this.#options;
    const { midstate, tail, target } = puzzle; // Tasks are copied to the threads, so the rest of a job is not sent.
    this.#inFlight++;
    try {
      this.#settle(seat, range, await seat.thread.run({ run: number, puzzle: { midstate, tail, target }, range }));
    } catch (error) {
      seat.unfinished.push(range);
      this.fail(error);
    }
    this.#inFlight--;
    this.#free.push(seat);
    this.#supply();
    this.#notify();
  }

  #settle({ thread, unfinished }: Seat, range: Range, { rows, candidates, beganMs, ms }: TaskResult): void {
    const { searched, rest } = splitRows(range, rows);
    const { cores, taskSize } = thread;
    for (const part of searched) {
      // All candidates are in the last row that was searched.
      const found = part === searched.at(-1) ? candidates : [];
      const report = { searched: part, hashes: sizeOf(part), beganMs, candidates: found };
      this.#reports.push({ ...report, ...(cores !== undefined && { cores }) });
    }
    if (rest.length === 0) taskSize.learn(sizeOf(range), ms);
    unfinished.push(...rest);
  }

  /** Settles when a task has ended. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/* Chooses the size of tasks so that they take the same time with a fast and with a slow kernel. */

/** Long enough that the cost of starting a task does not matter, short enough for a live hashrate. */
const LEAST_MS = 30;

/** Short enough for the hashrate over ten seconds: with 256 threads its error is at most 5 %. */
const MOST_MS = 1_000;

/**
 * Number of tasks that all threads finish together in a second. Each wakes the main thread, which must also react to a
 * New Cut at once. bench/main-thread.mjs measures the cost.
 */
const TASKS_PER_SECOND = 250;

/** Number of rows in the first task. The slowest kernel searches them in half a millisecond. */
const FIRST_ROWS = 8;

/** Number of rows in a lane. */
const MOST_ROWS = PAGES * (COUNTERS / ROW_COUNTERS);

/** Weight of the newest measurement in the moving average. The exact value does not matter. */
const NEWEST = 0.25;

/** @returns the time that a task should take, in ms, when this many threads search */
export function taskMsFor(threads: number): number {
  return Math.min(MOST_MS, Math.max(LEAST_MS, (1000 * threads) / TASKS_PER_SECOND));
}

export class TaskSize {
  readonly #taskMs: number;
  #hashesPerMs = 0;
  #rows = FIRST_ROWS;

  /** @param taskMs the time that a task should take */
  constructor(taskMs: number) {
    this.#taskMs = taskMs;
  }

  /** The largest shape of the next task: part of one column of ROW_COUNTERS counters, or several whole columns. */
  get most(): Pick<Range, 'counters' | 'pages'> {
    const columns = Math.max(1, Math.round(this.#rows / PAGES));
    return { counters: columns * ROW_COUNTERS, pages: Math.min(PAGES, this.#rows) };
  }

  /** Adjusts the size to a task that ran to its end. The size changes by a factor of 2 at most. */
  learn(hashes: number, ms: number): void {
    const rate = hashes / Math.max(ms, 0.001);
    this.#hashesPerMs += (rate - this.#hashesPerMs) * (this.#hashesPerMs === 0 ? 1 : NEWEST);
    const wanted = (this.#hashesPerMs * this.#taskMs) / ROW_COUNTERS;
    const bounded = Math.min(2 * this.#rows, Math.max(this.#rows / 2, wanted));
    this.#rows = Math.min(MOST_ROWS, Math.max(FIRST_ROWS, Math.round(bounded)));
  }
}
