// A thread that only runs a kernel, at the priority of mining threads. On 'go' it searches for the given time, and
// answers with the number of hashes and the processor time.

import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { scan } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { loadKernel } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { parseWork } from '#pickaxe/protocol/chain/work.js';

if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
const kernel = loadKernel(workerData.kernel);
const job = prepareJob(parseWork(new Uint8Array(322)));
const current = Int32Array.of(1);
/** @returns nanoseconds of processor time */
const cpuNs = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]);

parentPort.on('message', ({ ms }) => {
  const until = performance.now() + ms;
  const startNs = cpuNs();
  let hashes = 0;
  for (let counter = 0; performance.now() < until; counter += 512) {
    const range = { lane: 1, step: 1, page: 0, pages: 1_000, counter, counters: 512 };
    hashes += 512 * scan(kernel, job, 1, range, current).pages;
  }
  parentPort.postMessage({ hashes, cpuNs: cpuNs() - startNs });
});
