/** The script of a hashing thread. Piscina calls the default export for each task. */

import { setImmediate } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import type { Puzzle } from '../../chain/job.ts';
import type { Range } from '../../chain/nonce.ts';
import { systemClock } from '../../system/clock.ts';
import type { KernelName } from '../device.ts';
import { type ScannedColumns, scanColumns } from './kernels/kernel.ts';
import { loadKernel } from './kernels/load-kernel.ts';
import { pinThread, setPriority } from './pinning.ts';

/** The data that a thread is started with. */
export interface ThreadData {
  readonly kernel: KernelName;
  /** One word of shared memory: the number of the current run, 0 while there is none. */
  readonly currentRun: Int32Array;
  /** The CPUs that the thread is confined to; empty when the system places it. */
  readonly cpus: readonly number[];
  /** Absent when the thread keeps its priority. */
  readonly niceness?: number;
}

/** A range to search. It is copied to the thread, so it must be small. */
export interface Task {
  /** The number of the run that the task belongs to. */
  readonly run: number;
  readonly puzzle: Puzzle;
  readonly range: Range;
}

export interface TaskResult extends ScannedColumns {
  /** When the task began, on the system clock's `monotonicMs`. */
  readonly beganMs: number;
  readonly ms: number;
}

const { kernel: name, currentRun, cpus, niceness } = workerData as ThreadData;
if (niceness !== undefined) setPriority(niceness);
if (cpus.length > 0) pinThread(cpus);
const kernel = loadKernel(name);

export default async function work({ run, puzzle, range }: Task): Promise<TaskResult> {
  // When several tasks arrive at once, Piscina starts them all and would send no result before the last one has ended.
  // This wait lets the result of one task be sent before the next task runs.
  await setImmediate();
  const beganMs = systemClock.monotonicMs();
  const scanned = scanColumns(kernel, puzzle, run, range, currentRun);
  return { ...scanned, beganMs, ms: systemClock.monotonicMs() - beganMs };
}
