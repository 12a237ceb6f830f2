// GPUs as every benchmark of them takes them, and engines for them as mining has them.

import { parseArgs } from 'node:util';
import { GpuEngine } from '#pickaxe/engine/gpu/gpu-engine.js';
import { listGpus } from '#pickaxe/engine/gpu/list-gpus.js';
import { makerOf } from '#pickaxe/engine/gpu/pci.js';
import { nameOf, VARIANTS } from '#pickaxe/engine/gpu/variants.js';
import { userCacheDirectory } from '#pickaxe/system/cache.js';

/**
 * Parses the command line of a benchmark of GPUs.
 * @param defaults of its own options, all of which take a value
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

/** @returns a number above 0 for each part of `--name 1,2,5` */
export function numbers(name, text) {
  const all = text.split(',').map(Number);
  if (!all.every((each) => each > 0)) throw new Error(`--${name} takes numbers above 0, not ${text}`);
  return all;
}

/**
 * @param devices names as `gpu0,gpu2`; without it, or with `gpu` among them, every GPU that can be used
 * @throws Error when there is none, or when one that is named cannot be used.
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
 * What an engine is to do otherwise than when mining.
 * @param variant `wgsl 64x16`: the one variant of the kernel to use. By default the fastest one is found and remembered
 * @param batchMs length of a batch. The default is the tuned one
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

/** An engine as `pickaxe mine` has it: what was measured is remembered, and measured at first use. */
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

/** A listener that tells on stderr what opening does, and keeps what the sensors say. */
export function listener() {
  const readings = [];
  let told = '';
  return {
    readings,
    progress(what) {
      if (what !== told) console.error(`… ${what}`);
      told = what;
    },
    telemetry: (telemetry) => readings.push({ atMs: performance.now(), ...telemetry }),
  };
}
