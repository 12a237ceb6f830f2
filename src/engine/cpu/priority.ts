/**
 * The priority of threads, as a niceness from 0 (normal) to 19 (all other programs go first). On Linux each thread has a niceness
 * of its own. Windows and macOS have a few levels, which native/thread-windows.c and native/thread-macos.c choose from.
 */

import * as os from 'node:os';
import { type Addon, loadAddon } from './kernels/native.ts';

/**
 * Changes nothing.
 * @param load loads the addon
 * @returns why threads may not change their priority, as in some sandboxes; undefined when they may
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
 * Sets the priority of the calling thread. Two alternatives were measured on Linux, and new jobs began no sooner with them:
 * SCHED_IDLE instead of niceness 19, and a shorter time slice for the main thread.
 * @param niceness 0 … 19
 * @throws Error that says what to do when Linux requires privileges for it: when it is below the process's own niceness.
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
