/** Loads kernels and checks them: only a kernel that gives right answers may mine. */

import { DeviceError } from '../../engine.ts';
import type { KernelName } from '../kernel-names.ts';
import { loadJs } from './js.ts';
import type { Kernel } from './kernel.ts';
import { answersRight } from './known-answers.ts';
import { isNative, loadNative } from './native.ts';
import { loadWasm, type WasmName } from './wasm.ts';

/**
 * Loads one kernel and checks it against known answers.
 * @throws DeviceError `missing` when the kernel cannot run here, `wrong hashes` when it gives a wrong answer.
 */
export function loadKernel(name: KernelName): Kernel {
  let kernel: Kernel;
  try {
    kernel = load(name);
  } catch (error) {
    throw new DeviceError('missing', (error as Error).message, { cause: error });
  }
  if (!answersRight(kernel)) throw new DeviceError('wrong-hashes', 'computed wrong hashes');
  return kernel;
}

function load(name: KernelName): Kernel {
  if (isNative(name)) return loadNative(name);
  return name === 'js' ? loadJs() : loadWasm(name as WasmName);
}

export interface Loaded {
  readonly kernels: readonly Kernel[];
  /** Why each of the other kernels cannot be used. */
  readonly unusable: ReadonlyMap<KernelName, string>;
}

export function loadKernels(names: readonly KernelName[]): Loaded {
  const kernels: Kernel[] = [];
  const unusable = new Map<KernelName, string>();
  for (const name of names) {
    try {
      kernels.push(loadKernel(name));
    } catch (error) {
      unusable.set(name, (error as DeviceError).message);
    }
  }
  return { kernels, unusable };
}
