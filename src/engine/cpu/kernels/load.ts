/** Loads kernels and picks the best one that runs here and answers right. */

import { DeviceError } from '../../engine.ts';
import { loadJs } from './js.ts';
import { KERNEL_NAMES, type Kernel, type KernelName } from './kernel.ts';
import { answersRight } from './known-answers.ts';
import { loadNative } from './native.ts';
import { loadWasm } from './wasm.ts';

/**
 * Loads one kernel and checks it against known answers.
 * @throws DeviceError `missing` when it cannot run here, `wrong hashes` when it does not answer right.
 */
export function loadKernel(name: KernelName): Kernel {
  let kernel: Kernel;
  try {
    kernel = load(name);
  } catch (error) {
    throw new DeviceError('missing', (error as Error).message, { cause: error });
  }
  if (!answersRight(kernel)) throw new DeviceError('wrong hashes', 'computed wrong hashes');
  return kernel;
}

function load(name: KernelName): Kernel {
  if (name === 'js') return loadJs();
  if (name === 'wasm' || name === 'wasm-simd') return loadWasm(name);
  return loadNative(name);
}

export interface KernelChoice {
  readonly name: KernelName;
  /** For people: why this one, and why none of the better ones. */
  readonly why: string;
}

/**
 * @param forced the only kernel that may be chosen
 * @throws DeviceError when the forced kernel cannot be used, or when no kernel can.
 */
export function chooseKernel(forced?: KernelName): KernelChoice {
  if (forced !== undefined) {
    try {
      return { name: loadKernel(forced).name, why: 'asked for' };
    } catch (error) {
      const { fault, message } = error as DeviceError;
      throw new DeviceError(fault, `CPU kernel ${forced}: ${message}; leave the choice of a kernel to pickaxe`);
    }
  }
  const passedOver = new Map<string, KernelName[]>();
  for (const name of KERNEL_NAMES) {
    try {
      loadKernel(name);
      return { name, why: `the best kernel that runs here${explain(passedOver)}` };
    } catch (error) {
      const { message } = error as DeviceError;
      passedOver.set(message, [...(passedOver.get(message) ?? []), name]);
    }
  }
  throw new DeviceError('wrong hashes', `no CPU kernel can be used${explain(passedOver)}`);
}

function explain(passedOver: Map<string, KernelName[]>): string {
  const reasons = Array.from(passedOver, ([reason, names]) => `${names.join(', ')}: ${reason}`);
  return reasons.length > 0 ? ` (${reasons.join('; ')})` : '';
}
