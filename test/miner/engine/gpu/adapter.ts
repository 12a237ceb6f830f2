/** The adapter that GPU tests run on: a real GPU, or Vulkan in software (lavapipe). */

import { describe } from 'vitest';
import { GpuEngine, type GpuOptions } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { listGpus } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import { isTypical, VARIANTS } from '#pickaxe/miner/engine/gpu/tuning.js';
import { type Fault, faulty, type SearcherChanges } from './faulty.ts';

async function findAdapter(): Promise<{ adapter: string; software?: string | undefined } | { why: string }> {
  try {
    const gpus = await listGpus();
    const real = gpus.find(({ usable }) => usable)?.model;
    const software = gpus.find((gpu) => gpu.software)?.model;
    const adapter = real ?? software;
    return adapter ? { adapter, software } : { why: gpus.map(({ model, why }) => `${model}: ${why}`).join('; ') };
  } catch (fault) {
    return { why: (fault as Error).message };
  }
}

const found = await findAdapter();

// Without an adapter the shaders are not tested: on a developer's machine these tests are skipped, and in CI they fail.
if ('why' in found && process.env.CI) {
  throw new Error(`CI must run the shaders: install mesa-vulkan-drivers 23 or later (${found.why})`);
}

/** Dawn's name for a software renderer, if there is one. */
export const softwareAdapter = 'adapter' in found ? found.software : undefined;

/** `describe`, or without an adapter `describe.skip` with a name that says why. */
export const describeGpu = (name: string, tests: () => void): void => {
  if ('adapter' in found) describe(name, tests);
  else describe.skip(`${name} (no adapter: ${found.why})`, tests);
};

/** An engine with a user's settings: the variant of the kernel and the length of batches are measured or remembered. */
export const untunedOptions: GpuOptions = {
  name: 'gpu0',
  softwareGpu: true,
  ...('adapter' in found && { adapter: found.adapter }),
};

/** Limits for tests that measure: two variants of each shader, for a very short time. */
export const brieflyTuned: Partial<GpuOptions> = {
  tuningLimits: {
    variants: VARIANTS.filter((each) => isTypical(each) || (each.workgroupSize === 64 && each.trips === 8)),
    warmUpMs: 0,
    turnMs: 5,
    batchTurnMs: 10,
  },
};

/** A fixed variant and length of a batch, so that tests do not wait for measurements. */
export const settled = { variant: { shader: 'wgsl', workgroupSize: 64, trips: 16 }, batchMs: 5 } as const;

export interface TestOptions extends Partial<GpuOptions>, SearcherChanges {
  /** The fault of each opening, in order. Later openings have none. */
  readonly faults?: readonly (Fault | undefined)[];
}

export function gpuEngine({ faults = [], firstCounters, checkEveryMs, ...options }: TestOptions = {}): GpuEngine {
  const changes = { ...(firstCounters && { firstCounters }), ...(checkEveryMs && { checkEveryMs }) };
  const child = faults.length + Object.keys(changes).length > 0 ? faulty(faults, changes) : {};
  return new GpuEngine({ ...settled, ...untunedOptions, ...child, ...options });
}
