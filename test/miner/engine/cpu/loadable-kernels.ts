import { existsSync } from 'node:fs';
import { loadKernel } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { KERNEL_NAMES, type KernelName } from '#pickaxe/miner/engine/device.js';

export const nativeIsBuilt = existsSync(new URL('../../../../native/build/pickaxe.node', import.meta.url));

/**
 * The kernels that this machine can run, the usually fastest first. A kernel with wrong answers is an error, and is not
 * skipped.
 */
export const loadableKernels: KernelName[] = KERNEL_NAMES.filter((name) => {
  try {
    return loadKernel(name).name === name;
  } catch (error) {
    if ((error as { fault?: string }).fault === 'missing') return false;
    throw error;
  }
});
