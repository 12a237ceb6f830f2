/**
 * The hashing threads. Each thread has a Piscina pool of its own, because Piscina goes through all threads of a pool
 * several times for each task. With 256 threads in one pool, a task takes five times as much of the main thread's time.
 */

import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { onAbort } from '../../../base/system/abort.ts';
import { IMPORT_ONLY } from '../../../base/system/thread-flags.ts';
import { NOTHING_SOLVES, type Puzzle } from '../../../protocol/chain/job.ts';
import { COUNTERS, PAGES, type Range, sizeOf } from '../../../protocol/chain/nonce.ts';
import type { CoreKind } from '../device.ts';
import { DeviceError, type Ranges, type SearchReport } from '../engine.ts';
import { ROW_COUNTERS, splitRows } from './kernels/kernel.ts';
import type { Task, TaskResult, ThreadData } from './worker-thread.ts';

/**
 * Number of tasks in flight in each thread: one runs, and the other waits. So no thread is idle while the main thread
 * handles a result.
 */
const TASKS_PER_THREAD = 2;

/**
 * Maximum number of unfinished tasks that Piscina has sent to a thread. It is enough for the tasks of the new run, and
 * for a few tasks of old runs, which return at once.
 */
const QUEUE_PER_THREAD = 8;

const WORKER = new URL('./worker-thread.js', import.meta.url);

interface ThreadOptions {
  readonly data: Omit<ThreadData, 'currentRun'>;
  /** Kind of the thread's cores; absent when all cores are alike, and when the thread is not confined to a kind. */
  readonly cores?: CoreKind;
}

interface PoolOptions {
  readonly threads: readonly ThreadOptions[];
  readonly worker?: URL;
}

export class Pool {
  readonly threads: readonly TaskThread[];
  /**
   * One word of shared memory: the number of the current run; 0 while there is no run. A kernel stops when its run is
   * not the current one.
   */
  readonly currentRun = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #piscinas: readonly Piscina<Task, TaskResult>[];
  readonly #runs = new Set<SearchRun>();
  #runNumber = 0;
  /** The first error of a thread that has failed or ended by itself. All searches fail from then on. */
  #fault: unknown;
  #isDestroyed = false;

  constructor({ threads, worker = WORKER }: PoolOptions) {
    const failed = (error: unknown) => this.#fail(error);
    const { currentRun } = this;
    this.#piscinas = threads.map(({ data }) => startThread(worker, { ...data, currentRun }, failed));
    this.threads = threads.map(({ cores }, i) => ({
      taskSize: new TaskSize(taskMsFor(threads.length)),
      ...(cores !== undefined && { cores }),
      run: (task) => this.#piscinas[i].run(task),
    }));
  }

  /**
   * Settles when all threads have started and loaded their kernels.
   * @throws the error of a thread that does not start or does not load its kernel
   */
  async ready(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.run(NOTHING)));
  }

  /**
   * Searches on all threads, as `Engine.search` describes. An earlier search that is still running ends, because all
   * threads leave it at once.
   */
  async *search(puzzle: Puzzle, ranges: Ranges, stop: AbortSignal): AsyncGenerator<SearchReport, void, undefined> {
    if (stop.aborted) return;
    this.#runNumber = nextRunNumber(this.#runNumber);
    const { threads, currentRun } = this;
    const number = this.#runNumber;
    const run = new SearchRun({ number, puzzle, ranges, threads, tasksPerThread: TASKS_PER_THREAD, currentRun });
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

  /** Ends all searches, and then the threads. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    await Promise.all(Array.from(this.#runs, (run) => run.stop()));
    await Promise.all(this.#piscinas.map((piscina) => piscina.destroy()));
  }

  /** Called when a thread has failed or ended, perhaps several times for one thread. */
  #fail(error: unknown): void {
    if (this.#isDestroyed) return;
    this.#fault ??= error;
    for (const run of this.#runs) run.fail(error);
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
    ...(IMPORT_ONLY.length > 0 && { execArgv: [...IMPORT_ONLY] }),
    // The histograms of Piscina's timing would take almost a megabyte for each thread.
    recordTiming: false,
  });
  piscina.on('error', failed);
  // Piscina replaces a thread that has ended. But a hashing thread only ends because of a fault, so all searches must
  // fail. setImmediate lets the error of the thread's task arrive first, because that error has the cause.
  piscina.on('workerDestroy', () => setImmediate(() => failed(new Error('it has ended'))));
  return piscina;
}

/** A task without nonces. Its result shows that the thread has started and loaded its kernel. */
const NOTHING: Task = {
  run: 0,
  puzzle: NOTHING_SOLVES,
  range: { lane: 0, step: 1, page: 0, pages: 0, counter: 0, counters: 1 },
};

/* A run: one search on all threads */

/** While there are at least this many unread reports, no tasks are started. The exact value does not matter. */
const MAX_WAITING_REPORTS = 256;

/** Highest number of a run: the largest i32. The number 0 means that there is no current run. */
const MAX_NUMBER = 2 ** 31 - 1;

/** @param number the number of the previous run; 0 before the first run */
export function nextRunNumber(number: number): number {
  return (number % MAX_NUMBER) + 1;
}

export interface TaskThread {
  /**
   * Size of the thread's tasks. It follows the thread's hashrate, so that tasks on slow cores take no longer than tasks
   * on fast cores.
   */
  readonly taskSize: TaskSize;
  readonly cores?: CoreKind;
  run(task: Task): Promise<TaskResult>;
}

interface Seat {
  readonly thread: TaskThread;
  /**
   * Unsearched parts of this thread's tasks that ended early. The thread searches them next, because their size suits
   * it.
   */
  readonly unfinished: Range[];
}

interface SearchRunOptions {
  /** Number of the run: 1 … 2^31 − 1, unique among the runs that have not ended. */
  readonly number: number;
  readonly puzzle: Puzzle;
  readonly ranges: Ranges;
  readonly threads: readonly TaskThread[];
  /** Number of tasks to keep in flight on each thread. */
  readonly tasksPerThread: number;
  /** The pool's `currentRun`. */
  readonly currentRun: Int32Array;
}

export class SearchRun {
  readonly #options: SearchRunOptions;
  readonly #seats: readonly Seat[];
  /**
   * The threads that can get another task, in the order in which they became free. A thread has one entry for each task
   * that it can get.
   */
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
    // Each thread gets its first task before any thread gets its second task, so that all threads begin soon.
    this.#free = Array.from({ length: tasksPerThread }, () => this.#seats).flat();
    Atomics.store(options.currentRun, 0, options.number);
  }

  /**
   * Yields the reports of the run. Ends when no ranges are left, after `stop`, or when another run is the current one.
   * @throws DeviceError when a thread has failed
   */
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

  /** Ends the run, and gives back its unsearched ranges. Settles when no thread works for the run any more. */
  async stop(): Promise<void> {
    const { currentRun, number, ranges } = this.#options;
    this.#stopping = true;
    // If a later run has begun, `currentRun` has the later run's number. That number must stay.
    Atomics.compareExchange(currentRun, 0, number, 0);
    while (this.#inFlight > 0) await this.#change();
    for (const { unfinished } of this.#seats) for (const range of unfinished.splice(0)) ranges.giveBack(range);
    this.#notify();
  }

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
    const { midstate, tail, target } = puzzle; // The puzzle may be a whole job, and tasks are copied.
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
      const found = part === searched.at(-1) ? candidates : [];
      const report = { searched: part, hashes: sizeOf(part), beganMs, candidates: found };
      this.#reports.push({ ...report, ...(cores !== undefined && { cores }) });
    }
    if (rest.length === 0) taskSize.learn(sizeOf(range), ms);
    unfinished.push(...rest);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/* The size of tasks, chosen so that tasks take the same time with fast and slow kernels */

/**
 * Minimum intended time of a task, in ms. It is long compared with the cost of starting a task, and short enough for an
 * up-to-date hashrate.
 */
const LEAST_MS = 30;

/** Maximum intended time of a task, in ms. With 256 threads, a hashrate over 10 s is then wrong by at most 5 %. */
const MOST_MS = 1_000;

/**
 * Intended maximum number of tasks per second of all threads together. More than 250 threads exceed it, because of
 * MOST_MS. Each task wakes the main thread, which must also react to a New Cut at once. bench/mining/main-thread.mjs
 * measures the cost.
 */
const TASKS_PER_SECOND = 250;

/**
 * Number of rows that are requested for a thread's first task, and the minimum to request for later tasks. The slowest
 * kernel searches these rows in half a millisecond.
 */
const FIRST_ROWS = 8;

/** Maximum number of rows in a task: all rows of a lane with a step of 1. */
const MOST_ROWS = PAGES * (COUNTERS / ROW_COUNTERS);

/** Weight of the newest measurement in the average of the rate. The exact value does not matter. */
const NEWEST = 0.25;

/** @returns the intended time of a task in ms, for this number of threads */
export function taskMsFor(threads: number): number {
  return Math.min(MOST_MS, Math.max(LEAST_MS, (1000 * threads) / TASKS_PER_SECOND));
}

export class TaskSize {
  readonly #taskMs: number;
  #hashesPerMs = 0;
  #rows = FIRST_ROWS;

  constructor(taskMs: number) {
    this.#taskMs = taskMs;
  }

  /**
   * Maximum shape of the next task: one column of ROW_COUNTERS counters on some or all pages, or several whole columns.
   */
  get most(): Pick<Range, 'counters' | 'pages'> {
    const columns = Math.max(1, Math.round(this.#rows / PAGES));
    return { counters: columns * ROW_COUNTERS, pages: Math.min(PAGES, this.#rows) };
  }

  /**
   * Adapts the size to the rate of a completed task. The size at most doubles, and at most halves.
   * @param hashes number of the task's nonces @param ms duration of the task
   */
  learn(hashes: number, ms: number): void {
    const rate = hashes / Math.max(ms, 0.001);
    this.#hashesPerMs += (rate - this.#hashesPerMs) * (this.#hashesPerMs === 0 ? 1 : NEWEST);
    const wanted = (this.#hashesPerMs * this.#taskMs) / ROW_COUNTERS;
    const bounded = Math.min(2 * this.#rows, Math.max(this.#rows / 2, wanted));
    this.#rows = Math.min(MOST_ROWS, Math.max(FIRST_ROWS, Math.round(bounded)));
  }
}
