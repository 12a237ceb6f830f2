// Run by Windows' node.exe under Wine, from a file in pickaxe's folder: benchmarks kernels, all in one process, because
// Wine takes seconds to start one.
//
//   node hash-sums.mjs SEED COUNT KERNEL …    prints one JSON object: the hash sum of each kernel, and what is wrong with it

import { systemClock } from '#pickaxe/base/system/clock.js';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { makeChallenge } from '#pickaxe/rig/bench/challenge.js';
import { measureDevices } from '#pickaxe/rig/bench/measure.js';

const [seed, count, ...kernels] = process.argv.slice(2);
const results = await measureDevices(
  kernels.map((kernel) => new CpuEngine({ name: kernel, kernel, threads: 1 })),
  {
    challenge: makeChallenge(seed, Number(count)),
    warmUpMs: 0,
    seconds: 0.1,
    repeat: 1,
    together: false,
    clock: systemClock,
    random: () => 0,
    listener: () => ({}),
    onProgress: () => {},
    failed: (_, fault) => {
      throw fault;
    },
  },
);
console.log(
  JSON.stringify(
    Object.fromEntries(results.map(({ kernel, runs: [{ hashSum, errors }] }) => [kernel, [hashSum, ...errors]])),
  ),
);
