// Threads that only run a kernel, to measure the most that the machine's processors can do.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Long enough for V8 to optimize a kernel and for the clock to settle. */
const WARM_UP_MS = 1_000;

/** @returns a function that runs a round of the given length on all threads, and one that ends the threads */
export async function startKernelThreads(kernel, threads) {
  const url = new URL('./kernel-thread.mjs', import.meta.url);
  const workers = Array.from({ length: threads }, () => new Worker(url, { workerData: { kernel } }));
  const runRound = async (ms) => {
    const startMs = performance.now();
    const results = await Promise.all(
      workers.map(async (worker) => {
        worker.postMessage({ ms });
        return (await once(worker, 'message'))[0];
      }),
    );
    const wallMs = performance.now() - startMs;
    const sum = (key) => results.reduce((total, result) => total + result[key], 0);
    return { rate: (sum('hashes') * 1e9) / sum('cpuNs'), wallRate: (sum('hashes') * 1000) / wallMs };
  };
  await runRound(WARM_UP_MS);
  return { runRound, close: () => Promise.all(workers.map((worker) => worker.terminate())) };
}
