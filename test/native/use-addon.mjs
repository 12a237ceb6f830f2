// Uses the addon rightly and wrongly, and prints the results. Runs in a copy of the project, under sanitizers, which
// end it at a fault of the C code.

import { createRequire } from 'node:module';
import { loadKernel } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { KERNEL_NAMES } from '#pickaxe/miner/engine/device.js';

const addon = createRequire(import.meta.url)('./native/build/pickaxe.node');

function faultOf(call, ...args) {
  try {
    return `none: ${call(...args)}`;
  } catch (error) {
    return error.message;
  }
}

// A full row of one page, where every nonce hits.
const search = new Uint32Array(31).with(26, 512).with(28, 1);
const currentRun = new Int32Array(1);
const hits = new Uint32Array(513);
const portable = addon.kernels.findIndex((kernel) => kernel.name === 'portable');
const row = (counters) => search.with(26, counters);
const supported = addon.kernels.filter((kernel) => kernel.supported).map((kernel) => kernel.name);

console.log(
  JSON.stringify({
    supported,
    // Each kernel has to give the known answers.
    right: KERNEL_NAMES.filter((name) => supported.includes(name)).map((name) => loadKernel(name).name),
    cores: addon.cores(),
    faults: [
      faultOf(addon.search, portable, search, currentRun, hits),
      faultOf(addon.search),
      faultOf(addon.search, addon.kernels.length, search, currentRun, hits),
      faultOf(addon.search, -1, search, currentRun, hits),
      faultOf(addon.search, portable, search.subarray(1), currentRun, hits),
      faultOf(addon.search, portable, new Float32Array(31), currentRun, hits),
      faultOf(addon.search, portable, search, currentRun.subarray(1), hits),
      faultOf(addon.search, portable, search, currentRun, hits.subarray(1)),
      faultOf(addon.search, portable, row(0), currentRun, hits),
      faultOf(addon.search, portable, row(513), currentRun, hits),
      faultOf(addon.pinThread),
      faultOf(addon.pinThread, 0),
      faultOf(addon.pinThread, new Uint32Array(0)),
      faultOf(addon.pinThread, new Uint32Array([0, 0xffff_ffff])),
      faultOf(addon.setThreadPriority),
      faultOf(addon.setThreadPriority, 20),
      faultOf(addon.setThreadPriority, -1),
      faultOf(addon.setThreadPriority, 19),
    ],
  }),
);
