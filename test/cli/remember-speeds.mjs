// Remembers made-up speeds of all kernels that can be used here, as an idle machine would have measured them:
//
//   node remember-speeds.mjs DIST CACHE [THREADS]
//
// DIST is the built package's `dist` folder, CACHE pickaxe's folder in the cache.

import { pathToFileURL } from 'node:url';

const [dist, cache, threads] = process.argv.slice(2);
const load = (file) => import(`${pathToFileURL(dist)}/${file}`);
const { Cache } = await load('base/system/cache.js');
const { KERNEL_NAMES } = await load('miner/engine/device.js');
const { loadKernels } = await load('miner/engine/cpu/kernels/load-kernel.js');
const { rememberTuning } = await load('miner/engine/cpu/kernels/choose.js');
const { chooseThreads } = await load('miner/engine/cpu/threads.js');

const { groups } = chooseThreads(threads === undefined ? {} : { threads: Number(threads) });
const names = loadKernels(KERNEL_NAMES).kernels.map(({ name }) => name);
const speeds = Object.fromEntries(names.map((name, i) => [name, 100e6 / (i + 1)]));
for (const i of groups.keys()) {
  const fault = rememberTuning(new Cache(cache), groups, i, { speeds, fastest: names[0] });
  if (fault !== undefined) throw new Error(fault);
}
