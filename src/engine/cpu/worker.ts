/** What a hashing thread runs: piscina calls the default export once a task. */

import { setImmediate } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import type { Search } from '../../chain/job.ts';
import type { Range } from '../../chain/nonce.ts';
import { systemClock } from '../../system/clock.ts';
import { type ScannedColumns, scanColumns } from './columns.ts';
import type { KernelName } from './kernels/kernel.ts';
import { loadKernel } from './kernels/load.ts';
import { beNice } from './niceness.ts';
import { pinThread } from './pinning.ts';

/** What a thread is started with. */
export interface ThreadData {
  readonly kernel: KernelName;
  /** One word of shared memory: the number of the current job, 0 while there is none. */
  readonly currentJob: Int32Array;
  /** The CPU that each thread is pinned to; empty when they are not pinned. */
  readonly cpus: readonly number[];
  /** One word of shared memory: how many threads have taken their place among the CPUs. */
  readonly placed: Int32Array;
  /** Left out where it would be the whole process's. */
  readonly niceness?: number;
}

/** What a task is. It is copied to the thread, so it is small. */
export interface Task {
  readonly job: number;
  readonly search: Search;
  readonly range: Range;
}

export interface TaskResult extends ScannedColumns {
  /** On the system clock's `monotonicMs`. */
  readonly beganMs: number;
  readonly ms: number;
}

const { kernel: name, currentJob, cpus, placed, niceness } = workerData as ThreadData;
if (niceness !== undefined) beNice(niceness);
if (cpus.length > 0) pinThread(cpus[Atomics.add(placed, 0, 1) % cpus.length]);
const kernel = loadKernel(name);
// So that piscina imports this file, which it would require() otherwise: Node.js 20 aborts the whole process when a thread
// is ended while it requires a module like this one, as when a miner is stopped as soon as it has started.
await null;

export default async function run({ job, search, range }: Task): Promise<TaskResult> {
  // When several tasks arrive at once piscina starts them all, and sends no result before the last one has been run.
  // Taking turns in the event loop lets each result out before the next task begins.
  await setImmediate();
  const beganMs = systemClock.monotonicMs();
  const scanned = scanColumns(kernel, search, job, range, currentJob);
  return { ...scanned, beganMs, ms: systemClock.monotonicMs() - beganMs };
}
