/**
 * The clock by which a thread measures a kernel: its own processor time, which stands still while other programs have the
 * processor. Without the addon, which reads it, the wall clock must do.
 */

import { type Addon, loadAddon } from './native.ts';

/** @returns a function that returns ms, with fractions, since some moment. Call it on one thread only */
export function threadClock(): () => number {
  let addon: Addon;
  try {
    addon = loadAddon();
  } catch {
    return () => performance.now();
  }
  return () => addon.threadCpuMs();
}
