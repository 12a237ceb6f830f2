/** One run: a search, as the threads see it. Keeps them supplied with tasks, and collects their results. */

import type { Puzzle } from '../../chain/job.ts';
import { type Range, sizeOf } from '../../chain/nonce.ts';
import { DeviceError, type Ranges, type SearchReport } from '../engine.ts';
import type { BatchSize } from './batch-size.ts';
import { splitRows } from './columns.ts';
import type { Task, TaskResult } from './worker.ts';

/** Reports that may wait to be read; with this many no tasks are started. Only good enough. */
const MAX_WAITING_REPORTS = 256;

/** Numbers of runs are positive i32: 0 means that there is no current run. */
const MAX_NUMBER = 2 ** 31 - 1;

/** @param number of the run before; 0 before the first run */
export function nextRunNumber(number: number): number {
  return (number % MAX_NUMBER) + 1;
}

interface SearchRunOptions {
  /** 1 … 2^31 − 1; no two runs that have not ended share one. */
  readonly number: number;
  readonly puzzle: Puzzle;
  readonly ranges: Ranges;
  readonly batch: BatchSize;
  /** Tasks in flight at a time. */
  readonly tasks: number;
  /**
   * One word of shared memory: the number of the current run, 0 while there is none. Kernels stop when it is not the
   * number of their own run.
   */
  readonly currentRun: Int32Array;
  /** Has a thread run a task. */
  readonly runTask: (task: Task) => Promise<TaskResult>;
}

export class SearchRun {
  readonly #options: SearchRunOptions;
  /** The rest of ranges whose tasks returned early. */
  readonly #unfinished: Range[] = [];
  readonly #reports: SearchReport[] = [];
  #inFlight = 0;
  #stopping = false;
  #fault: DeviceError | undefined;
  readonly #waiting: (() => void)[] = [];

  constructor(options: SearchRunOptions) {
    this.#options = options;
    Atomics.store(options.currentRun, 0, options.number);
  }

  /** Ends when the ranges are used up, when stopped, or when another run has become the current one. */
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

  /** Settles when no thread works for this search any more. */
  async stop(): Promise<void> {
    const { currentRun, number, ranges } = this.#options;
    this.#stopping = true;
    // A later run that has become the current one goes on.
    Atomics.compareExchange(currentRun, 0, number, 0);
    while (this.#inFlight > 0) await this.#change();
    for (const range of this.#unfinished.splice(0)) ranges.giveBack(range);
    this.#notify();
  }

  /** Ends the search with an error. */
  fail(error: unknown): void {
    this.#fault ??= new DeviceError('lost', `a CPU thread failed: ${(error as Error).message}`, { cause: error });
    void this.stop();
  }

  #supply(): void {
    const { currentRun, number, ranges, batch, tasks } = this.#options;
    if (Atomics.load(currentRun, 0) !== number) this.#stopping = true;
    while (!this.#stopping && this.#inFlight < tasks && this.#reports.length < MAX_WAITING_REPORTS) {
      const range = this.#unfinished.pop() ?? ranges.take(batch.most);
      if (range === undefined) return;
      void this.#search(range);
    }
  }

  async #search(range: Range): Promise<void> {
    const { number, puzzle, runTask } = this.#options;
    const { midstate, tail, target } = puzzle; // not the rest of a job: tasks are copied to the threads
    this.#inFlight++;
    try {
      this.#settle(range, await runTask({ run: number, puzzle: { midstate, tail, target }, range }));
    } catch (error) {
      this.#unfinished.push(range);
      this.fail(error);
    }
    this.#inFlight--;
    this.#supply();
    this.#notify();
  }

  #settle(range: Range, { rows, candidates, beganMs, ms }: TaskResult): void {
    const { searched, rest } = splitRows(range, rows);
    for (const part of searched) {
      // Candidates are in the last row that was searched.
      const found = part === searched.at(-1) ? candidates : [];
      this.#reports.push({ searched: part, hashes: sizeOf(part), beganMs, candidates: found });
    }
    if (rest.length === 0) this.#options.batch.learn(sizeOf(range), ms);
    this.#unfinished.push(...rest);
  }

  /** Settles when a task has ended. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
