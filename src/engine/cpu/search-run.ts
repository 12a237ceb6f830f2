/** A run is one search on the threads: it keeps them supplied with tasks and collects their results. */

import type { Puzzle } from '../../chain/job.ts';
import { type Range, sizeOf } from '../../chain/nonce.ts';
import type { CoreKind } from '../device.ts';
import { DeviceError, type Ranges, type SearchReport } from '../engine.ts';
import { splitRows } from './columns.ts';
import type { TaskSize } from './task-size.ts';
import type { Task, TaskResult } from './worker.ts';

/** No tasks are started while this many reports wait to be read. The exact value does not matter. */
const MAX_WAITING_REPORTS = 256;

/** Numbers of runs are positive i32. 0 means that there is no current run. */
const MAX_NUMBER = 2 ** 31 - 1;

/** @param number the previous run's number; 0 before the first run */
export function nextRunNumber(number: number): number {
  return (number % MAX_NUMBER) + 1;
}

/** A hashing thread as a run sees it. */
export interface TaskThread {
  /** How large this thread's tasks are. It knows the thread's own rate, so tasks of slow cores take no longer than others. */
  readonly taskSize: TaskSize;
  /** The kind of the cores that it is confined to; absent where all cores are alike, or when it is not confined. */
  readonly cores?: CoreKind;
  run(task: Task): Promise<TaskResult>;
}

/** A thread's part in a run. */
interface Seat {
  readonly thread: TaskThread;
  /** What its tasks that returned early did not search. Their rest has the right size for this thread. */
  readonly unfinished: Range[];
}

interface SearchRunOptions {
  /** 1 … 2^31 − 1. No two runs that have not ended may have the same number. */
  readonly number: number;
  readonly puzzle: Puzzle;
  readonly ranges: Ranges;
  readonly threads: readonly TaskThread[];
  /** How many tasks to keep in flight on each thread. */
  readonly tasksPerThread: number;
  /**
   * One word of shared memory: the number of the current run, 0 while there is none. A kernel stops when its run is not the
   * current one.
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
