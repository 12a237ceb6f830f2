/** Loads kernels and picks the fastest one that runs here and answers right. */

import { DeviceError } from '../../engine.ts';
import { loadJs } from './js.ts';
import { KERNEL_NAMES, type Kernel, type KernelName } from './kernel.ts';
import { answersRight } from './known-answers.ts';
import { FOREIGN, loadNative } from './native.ts';
import { speedsOf } from './speed.ts';
import { loadWasm, type WasmName } from './wasm.ts';

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
  if (name.startsWith('wasm')) return loadWasm(name as WasmName);
  return loadNative(name);
}

export interface KernelChoice {
  readonly name: KernelName;
  /** For people: why this one, how fast the others are, and why some cannot be used. */
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
  const kernels: Kernel[] = [];
  const unusable = new Map<string, KernelName[]>();
  for (const name of KERNEL_NAMES) {
    try {
      kernels.push(loadKernel(name));
    } catch (error) {
      const { message } = error as DeviceError;
      if (message !== FOREIGN) unusable.set(message, [...(unusable.get(message) ?? []), name]);
    }
  }
  const reasons = Array.from(unusable, ([reason, names]) => `${shortList(names)}: ${reason}`);
  if (kernels.length === 0) throw new DeviceError('wrong hashes', `no CPU kernel can be used (${reasons.join('; ')})`);
  const speeds = speedsOf(kernels);
  const ranked = kernels.map(({ name }, i) => ({ name, speed: speeds[i] })).sort((a, b) => b.speed - a.speed);
  const listed = shortList(ranked.map(({ name, speed }) => `${name} ${speed.toFixed(1)}`));
  return { name: ranked[0].name, why: [`the fastest here (MH/s a thread: ${listed})`, ...reasons].join('; ') };
}

/** The first few, since a line for people has an end. */
function shortList(names: readonly string[]): string {
  return names.slice(0, 3).join(', ') + (names.length > 3 ? ' …' : '');
}
