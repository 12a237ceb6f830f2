/** A run is one search on the threads: it keeps them supplied with tasks and collects their results. */

import type { Puzzle } from '../../chain/job.ts';
import { type Range, sizeOf } from '../../chain/nonce.ts';
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

interface SearchRunOptions {
  /** 1 … 2^31 − 1. No two runs that have not ended may have the same number. */
  readonly number: number;
  readonly puzzle: Puzzle;
  readonly ranges: Ranges;
  readonly taskSize: TaskSize;
  /** How many tasks to keep in flight. */
  readonly tasks: number;
  /**
   * One word of shared memory: the number of the current run, 0 while there is none. A kernel stops when its run is not the
   * current one.
   */
  readonly currentRun: Int32Array;
  /** Runs a task on a thread. */
  readonly runTask: (task: Task) => Promise<TaskResult>;
}

export class SearchRun {
  readonly #options: SearchRunOptions;
  /** What tasks that returned early did not search. */
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
    for (const range of this.#unfinished.splice(0)) ranges.giveBack(range);
    this.#notify();
  }

  /** Ends the search with an error. */
  fail(error: unknown): void {
    this.#fault ??= new DeviceError('lost', `a CPU thread failed: ${(error as Error).message}`, { cause: error });
    void this.stop();
  }

  #supply(): void {
    const { currentRun, number, ranges, taskSize, tasks } = this.#options;
    if (Atomics.load(currentRun, 0) !== number) this.#stopping = true;
    while (!this.#stopping && this.#inFlight < tasks && this.#reports.length < MAX_WAITING_REPORTS) {
      const range = this.#unfinished.pop() ?? ranges.take(taskSize.most);
      if (range === undefined) return;
      void this.#search(range);
    }
  }

  async #search(range: Range): Promise<void> {
    const { number, puzzle, runTask } = this.#options;
    const { midstate, tail, target } = puzzle; // Tasks are copied to the threads, so the rest of a job is not sent.
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
      // All candidates are in the last row that was searched.
      const found = part === searched.at(-1) ? candidates : [];
      this.#reports.push({ searched: part, hashes: sizeOf(part), beganMs, candidates: found });
    }
    if (rest.length === 0) this.#options.taskSize.learn(sizeOf(range), ms);
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
