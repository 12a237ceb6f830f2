/**
 * Pins threads to CPUs and sets their priority. Pinning is possible only on Linux and Windows, and requires the native
 * addon.
 */

import * as os from 'node:os';
import { formatCpuList } from '../../../base/text/quantities.ts';
import { type Addon, loadAddon } from './kernels/native-kernels.ts';

/** @returns why threads cannot be pinned here: a clause for people; undefined when they can */
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
 * @throws Error without the native addon, when the process may not use these CPUs, or when the system cannot confine a
 *   thread to all of them
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
 * Priority: a niceness from 0 (normal) to 19 (all other programs go first). On Linux each thread has a niceness of its
 * own. On Windows and macOS, native/thread-windows.c and native/thread-macos.c convert the niceness to the priorities
 * that the system has.
 */

/**
 * Checks whether threads can change their priority here, which some sandboxes forbid. Changes nothing.
 * @returns why threads cannot: a clause for people; undefined when they can
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
 * Sets the priority of the calling thread. Two alternatives were measured on Linux: SCHED_IDLE instead of niceness 19,
 * and a shorter time slice for the main thread. New jobs begin no sooner with them.
 * @param niceness 0 … 19
 * @throws Error when the system refuses, and on Windows and macOS without the native addon. Linux requires privileges
 *   for a value below the niceness of the process, and the message then has the remedy
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
