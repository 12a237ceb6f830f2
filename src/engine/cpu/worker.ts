/** What a hashing thread runs: piscina calls the default export for each task. */

import { setImmediate } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import type { Puzzle } from '../../chain/job.ts';
import type { Range } from '../../chain/nonce.ts';
import { systemClock } from '../../system/clock.ts';
import { type ScannedColumns, scanColumns } from './columns.ts';
import type { KernelName } from './kernel-names.ts';
import { loadKernel } from './kernels/load-kernel.ts';
import { beNice } from './niceness.ts';
import { pinThread } from './pinning.ts';

/** What a thread is started with. */
export interface ThreadData {
  readonly kernel: KernelName;
  /** One word of shared memory: the number of the current run, 0 while there is none. */
  readonly currentRun: Int32Array;
  /** The CPU that each thread is pinned to; empty when they are not pinned. */
  readonly cpus: readonly number[];
  /** One word of shared memory: how many threads have taken their place among the CPUs. */
  readonly placed: Int32Array;
  /** Absent where it would apply to the whole process. */
  readonly niceness?: number;
}

/** A range to search. It is copied to the thread, so it is small. */
export interface Task {
  /** Number of the run that it belongs to. */
  readonly run: number;
  readonly puzzle: Puzzle;
  readonly range: Range;
}

export interface TaskResult extends ScannedColumns {
  /** On the system clock's `monotonicMs`. */
  readonly beganMs: number;
  readonly ms: number;
}

const { kernel: name, currentRun, cpus, placed, niceness } = workerData as ThreadData;
if (niceness !== undefined) beNice(niceness);
if (cpus.length > 0) pinThread(cpus[Atomics.add(placed, 0, 1) % cpus.length]);
const kernel = loadKernel(name);
// This await makes piscina import the file, which it would require() otherwise: Node.js 20 aborts the whole process when a
// thread is ended while it requires a module like this one, as when a miner is stopped as soon as it has started.
await null;

export default async function work({ run, puzzle, range }: Task): Promise<TaskResult> {
  // When several tasks arrive at once piscina starts them all, and sends no result before the last one has been run.
  // Taking turns in the event loop sends each result before the next task begins.
  await setImmediate();
  const beganMs = systemClock.monotonicMs();
  const scanned = scanColumns(kernel, puzzle, run, range, currentRun);
  return { ...scanned, beganMs, ms: systemClock.monotonicMs() - beganMs };
}
