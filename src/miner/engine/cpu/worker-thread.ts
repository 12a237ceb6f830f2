/** The script of a hashing thread. Piscina calls the default export for each task. */

import { setImmediate } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { systemClock } from '../../../base/system/clock.ts';
import type { Puzzle } from '../../../protocol/chain/job.ts';
import type { Range } from '../../../protocol/chain/nonce.ts';
import type { KernelName } from '../device.ts';
import { pinThread, setPriority } from './affinity.ts';
import { type ScannedColumns, scanColumns } from './kernels/kernel.ts';
import { loadKernel } from './kernels/load-kernel.ts';

export interface ThreadData {
  readonly kernel: KernelName;
  /** One word of shared memory: the number of the current run; 0 while there is no run. */
  readonly currentRun: Int32Array;
  /** Numbers of the CPUs that the thread is confined to; empty when the system places the thread. */
  readonly cpus: readonly number[];
  /** Niceness of the thread, 0 … 19; absent when the thread keeps its priority. */
  readonly niceness?: number;
}

/** A part of a run, for one thread. A task is copied when it is sent to the thread, so it must be small. */
export interface Task {
  readonly run: number;
  readonly puzzle: Puzzle;
  readonly range: Range;
}

export interface TaskResult extends ScannedColumns {
  /** Time at which the task began, in ms on the system clock's `monotonicMs`. */
  readonly beganMs: number;
  /** Duration of the task in ms. */
  readonly ms: number;
}

const { kernel: name, currentRun, cpus, niceness } = workerData as ThreadData;
if (niceness !== undefined) setPriority(niceness);
if (cpus.length > 0) pinThread(cpus);
const kernel = loadKernel(name);

export default async function work({ run, puzzle, range }: Task): Promise<TaskResult> {
  // Piscina starts all tasks that have arrived, one after the other. Without this pause it would send no result before
  // the last of these tasks has ended.
  await setImmediate();
  const beganMs = systemClock.monotonicMs();
  const scanned = scanColumns(kernel, puzzle, run, range, currentRun);
  return { ...scanned, beganMs, ms: systemClock.monotonicMs() - beganMs };
}
