/** Pins threads to CPUs. Node.js cannot do it; the native addon can, on Linux. */

import { type Addon, loadAddon } from './kernels/native.ts';

/** @returns why threads cannot be pinned here; undefined when they can */
export function pinFault(platform: string = process.platform): string | undefined {
  if (platform !== 'linux') return 'only Linux can pin threads';
  let addon: Addon;
  try {
    addon = loadAddon();
  } catch {
    return 'it requires the native addon, which is not built or cannot be loaded';
  }
  try {
    addon.checkPinning();
    return undefined;
  } catch (error) {
    return `Linux refuses it (${(error as Error).message})`;
  }
}

/**
 * Pins the calling thread to one CPU.
 * @throws Error when the process may not use this CPU.
 */
export function pinThread(cpu: number): void {
  loadAddon().pinThread(cpu);
}
