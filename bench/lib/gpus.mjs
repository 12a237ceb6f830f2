// The GPUs that benchmarks measure, and engines for them as when mining.

import { parseArgs } from 'node:util';
import { userCacheDirectory } from '#pickaxe/base/system/files.js';
import { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { listGpus } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import { makerOf } from '#pickaxe/miner/engine/gpu/pci.js';
import { nameOf, VARIANTS } from '#pickaxe/miner/engine/gpu/tuning.js';

/**
 * Parses the command line of a benchmark of GPUs.
 * @param defaults the benchmark's own options with their defaults; all of them have a value
 */
export function gpuArguments(defaults) {
  const own = Object.entries(defaults).map(([name, value]) => [name, { type: 'string', default: value }]);
  const { values } = parseArgs({
    options: {
      devices: { type: 'string' },
      'software-gpu': { type: 'boolean', default: false },
      variant: { type: 'string' },
      out: { type: 'string' },
      ...Object.fromEntries(own),
    },
  });
  return values;
}

/** @returns the numbers of `--name 1,2,5`, which must be above 0 */
export function numbers(name, text) {
  const all = text.split(',').map(Number);
  if (!all.every((each) => each > 0)) throw new Error(`--${name} takes numbers above 0, not ${text}`);
  return all;
}

/**
 * @param devices names such as `gpu0,gpu2`. Without it, or with `gpu` among them, all usable GPUs are measured
 * @throws Error without a GPU, or when a named GPU cannot be used.
 */
export async function chooseGpus({ devices, 'software-gpu': softwareGpu }) {
  const gpus = await listGpus({ softwareGpu });
  const names = devices?.split(',').filter((name) => name !== 'cpu');
  const chosen =
    !names || names.includes('gpu') ? gpus.filter(({ usable }) => usable) : names.map((name) => named(name));
  if (chosen.length === 0) throw new Error(gpus.map(({ name, model, why }) => `${name}: ${model} ${why}`).join('\n'));
  return chosen;

  function named(name) {
    const gpu = gpus.find((each) => each.name === name);
    if (!gpu?.usable) throw new Error(`${name} cannot be used: ${gpu?.why ?? 'there is no such GPU'}`);
    return gpu;
  }
}

/**
 * Parses the options that differ from mining.
 * @param variant the variant of the kernel to use, such as `wgsl 64x16`. By default the fastest one is found and
 *   remembered
 * @param batchMs the length of a batch. The default is the tuned one
 */
export function wishesOf({ variant }, batchMs) {
  return {
    ...(variant !== undefined && { variant: variantNamed(variant) }),
    ...(batchMs !== undefined && { batchMs }),
  };
}

function variantNamed(name) {
  const typed = (variant) => nameOf(variant).replace('×', 'x');
  const variant = VARIANTS.find((each) => typed(each) === name.replace('×', 'x'));
  if (!variant) throw new Error(`there is no variant ${name} of the kernel: ${VARIANTS.map(typed).join(', ')}`);
  return variant;
}

/** Makes an engine as `pickaxe mine` does: it is measured at the first use, and the tuning is remembered. */
export function engineOf({ name, model, vendor, bus, software, environment }, options = {}) {
  const cacheDirectory = userCacheDirectory();
  return new GpuEngine({
    name,
    adapter: model,
    softwareGpu: software,
    card: { vendor: makerOf(vendor), ...(bus && { bus }) },
    ...(environment && { environment }),
    ...(cacheDirectory !== undefined && { cacheDirectory }),
    ...options,
  });
}

/** A listener that prints the progress of opening on stderr, and keeps the sensors' readings. */
export function listener() {
  const readings = [];
  let reported = '';
  return {
    readings,
    progress(what) {
      if (what !== reported) console.error(`… ${what}`);
      reported = what;
    },
    telemetry: (telemetry) => readings.push({ atMs: performance.now(), ...telemetry }),
  };
}
