/** Pins threads to CPUs and sets their priority. Pinning needs the native addon, on Linux or Windows. */

import * as os from 'node:os';
import { formatCpuList } from '../../../base/text/quantities.ts';
import { type Addon, loadAddon } from './kernels/native-kernels.ts';

/** @returns why threads cannot be pinned here; undefined when they can */
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

/*
 * Priority: a niceness from 0 (normal) to 19 (all other programs go first). On Linux each thread has its own niceness.
 * native/thread-windows.c and native/thread-macos.c map it to one of a few levels.
 */

/**
 * Checks, without a change, whether threads may change their priority, which some sandboxes forbid.
 * @returns why threads may not; undefined when they may
 */
export function priorityFault(platform: string = process.platform, load: () => Addon = loadAddon): string | undefined {
  if (platform === 'linux') return linuxFault();
  if (platform !== 'win32' && platform !== 'darwin')
    return 'only Linux, Windows and macOS can do it for single threads';
  try {
    load();
    return undefined;
  } catch {
    return 'it requires the native addon, which is not built or cannot be loaded';
  }
}

function linuxFault(): string | undefined {
  try {
    os.setPriority(os.getPriority());
    return undefined;
  } catch (error) {
    return `Linux refuses it (${(error as { info: { message: string } }).info.message})`;
  }
}

/**
 * Sets the priority of the calling thread. Measured on Linux, neither SCHED_IDLE instead of niceness 19 nor a shorter
 * time slice for the main thread makes new jobs begin sooner.
 * @param niceness 0 … 19
 * @throws Error that says what to do when Linux requires privileges: for a value below the process's own niceness
 */
export function setPriority(niceness: number): void {
  if (process.platform === 'linux') setNiceness(niceness);
  else loadAddon().setThreadPriority(niceness);
}

function setNiceness(niceness: number): void {
  try {
    os.setPriority(niceness);
  } catch (error) {
    const own = os.getPriority();
    if (niceness >= own) throw error;
    throw new Error(`niceness ${niceness} requires privileges, because this process has ${own}: choose ${own} or more`);
  }
}
