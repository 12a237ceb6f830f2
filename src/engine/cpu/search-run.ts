/** One search: keeps the threads supplied with tasks, and collects what they report. */

import type { Job } from '../../chain/job.ts';
import { type Range, sizeOf } from '../../chain/nonce.ts';
import { DeviceError, type Ranges, type SearchReport } from '../engine.ts';
import type { BatchSize } from './batch-size.ts';
import { splitRows } from './columns.ts';
import type { Task, TaskResult } from './worker.ts';

/** Reports that may wait to be read; with this many no tasks are started. Only good enough. */
const MAX_WAITING_REPORTS = 256;

export interface SearchRunOptions {
  readonly job: Job;
  readonly ranges: Ranges;
  readonly batch: BatchSize;
  /** Tasks in flight at a time. */
  readonly tasks: number;
  /** One word of shared memory: the number of the current job. Kernels stop when it is not their own. */
  readonly currentJob: Int32Array;
  /** Has a thread run a task. */
  readonly runTask: (task: Task) => Promise<TaskResult>;
}

export class SearchRun {
  readonly #options: SearchRunOptions;
  /** What is left of ranges whose tasks returned early. */
  readonly #unfinished: Range[] = [];
  readonly #reports: SearchReport[] = [];
  #inFlight = 0;
  #stopping = false;
  /** The job is not the current one because of this run: a later run of the same job may have made it that again. */
  #gaveUp = false;
  #fault: DeviceError | undefined;
  readonly #waiting: (() => void)[] = [];

  constructor(options: SearchRunOptions) {
    this.#options = options;
    Atomics.store(options.currentJob, 0, options.job.number);
  }

  /** Ends when the ranges are used up, when stopped, or when another job has become the current one. */
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
    const { currentJob, job, ranges } = this.#options;
    this.#stopping = true;
    if (!this.#gaveUp) Atomics.compareExchange(currentJob, 0, job.number, 0);
    this.#gaveUp = true;
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
    const { currentJob, job, ranges, batch, tasks } = this.#options;
    if (Atomics.load(currentJob, 0) !== job.number) this.#stopping = true;
    while (!this.#stopping && this.#inFlight < tasks && this.#reports.length < MAX_WAITING_REPORTS) {
      const range = this.#unfinished.pop() ?? ranges.take(batch.most);
      if (range === undefined) return;
      void this.#search(range);
    }
  }

  async #search(range: Range): Promise<void> {
    const { job, runTask } = this.#options;
    const { midstate, tail, target } = job;
    this.#inFlight++;
    try {
      this.#settle(range, await runTask({ job: job.number, search: { midstate, tail, target }, range }));
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
      // They are in the last row that was searched.
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
