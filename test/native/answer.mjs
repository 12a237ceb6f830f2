// Run by Windows' node.exe under Wine: lists what the package's addon has and does, and answers searches with every
// kernel that the package has for this chip, WebAssembly's and JavaScript's included. The argument names a file with
// searches; the answer is on stdout.

import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { pinFault, priorityFault } from '#pickaxe/miner/engine/cpu/affinity.js';
import { loadKernels } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { addonCores, loadAddon, nativeOrigin, threadCpuMs } from '#pickaxe/miner/engine/cpu/kernels/native-kernels.js';
import { KERNEL_NAMES } from '#pickaxe/miner/engine/device.js';

const HIT_WORDS = 513;

/** Answers as test/native/driver.c does. */
function answer(kernel, { packed, currentRun }) {
  const search = Uint32Array.from(packed);
  const run = Int32Array.of(currentRun);
  const hits = new Uint32Array(HIT_WORDS);
  const found = [];
  let pages = 0;
  while (search[28] > 0) {
    const rows = kernel.search(search, run, hits);
    if (rows === 0) break;
    for (const offset of hits.subarray(1, 1 + hits[0])) {
      found.push({ page: search[27] + rows - 1, word6: search[25] + offset * search[30] });
    }
    pages += rows;
    search[27] += rows;
    search[28] -= rows;
  }
  return { pages, hits: found };
}

const addon = loadAddon();
const { kernels, unusable } = loadKernels(KERNEL_NAMES);
const questions = JSON.parse(readFileSync(process.argv[2], 'utf8'));

/** The module is initialized again in each thread. */
const inThread = new Promise((resolve, reject) => {
  const worker = new Worker(new URL('./answer-thread.mjs', import.meta.url));
  worker.on('message', resolve);
  worker.on('error', reject);
});

console.log(
  JSON.stringify({
    program: process.execPath,
    origin: nativeOrigin(),
    kernels: addon.kernels,
    unusable: [...unusable],
    cores: addonCores(),
    pinFault: pinFault(),
    priorityFault: priorityFault(),
    threadCpuMs: typeof threadCpuMs(),
    thread: await inThread,
    answers: Object.fromEntries(kernels.map((kernel) => [kernel.name, questions.map((each) => answer(kernel, each))])),
  }),
);
