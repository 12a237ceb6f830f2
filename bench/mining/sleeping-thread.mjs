// A hashing thread that sleeps instead: it answers a task when a kernel of the given speed would, and stops when
// another run is the current one. With it, the cost of hundreds of threads can be measured on a machine with two.

import { constants, setPriority } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { systemClock } from '#pickaxe/base/system/clock.js';

/** A random factor, so that no two tasks take the same time. */
const NOISE = 0.02;

const { currentRun, hashesPerMs } = workerData;
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
await null; // As engine/cpu/worker-thread.ts does, for Node.js 20.

export default async function work({ run, range }) {
  await setImmediate();
  const beganMs = systemClock.monotonicMs();
  const rate = hashesPerMs * (1 + NOISE * (2 * Math.random() - 1));
  const all = range.pages * Math.ceil(range.counters / 512);
  const stopped = Atomics.wait(currentRun, 0, run, (512 * all) / rate) !== 'timed-out';
  const ms = systemClock.monotonicMs() - beganMs;
  const rows = stopped ? Math.min(all, Math.floor((rate * ms) / 512)) : all;
  return { rows, candidates: [], beganMs, ms, cpuMs: ms };
}
