/** Pins threads to CPUs. Node.js cannot do it; the native addon can, on Linux and Windows. */

import { formatCpuList } from '../../text/cpu-list.ts';
import { type Addon, loadAddon } from './kernels/native.ts';

/**
 * @param load loads the addon
 * @returns why threads cannot be pinned here; undefined when they can
 */
export function pinFault(platform: string = process.platform, load: () => Addon = loadAddon): string | undefined {
  if (platform !== 'linux' && platform !== 'win32') return 'only Linux and Windows can pin threads';
  let addon: Addon;
  try {
    addon = load();
  } catch {
    return 'it requires the native addon, which is not built or cannot be loaded';
  }
  try {
    addon.checkPinning();
    return undefined;
  } catch (error) {
    return `${platform === 'linux' ? 'Linux' : 'Windows'} refuses it (${(error as Error).message})`;
  }
}

/**
 * Confines the calling thread to these CPUs.
 * @throws Error when the process may not use them, or the system cannot confine a thread to all of them.
 */
export function pinThread(cpus: readonly number[]): void {
  try {
    loadAddon().pinThread(Uint32Array.from(cpus));
  } catch (error) {
    throw new Error(`a thread cannot be pinned to CPU ${formatCpuList(cpus)}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
