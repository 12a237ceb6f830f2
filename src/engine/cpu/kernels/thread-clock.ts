/**
 * The clock by which a thread measures a kernel: its own processor time, which stands still while other programs have
 * the processor. Without the addon, which reads it, and where the system does not tell it, as Wine, the wall clock must
 * do.
 */

import { type Addon, loadAddon, threadCpuMs } from './native.ts';

/**
 * @param own reads the processor time of the calling thread, or undefined
 * @param load loads the addon
 * @returns a function that returns ms, with fractions, since some moment. Call it on one thread only
 */
export function threadClock(own: () => number | undefined = threadCpuMs, load: () => Addon = loadAddon): () => number {
  if (own() === undefined) return () => performance.now();
  // Looking for the addon takes 20 µs, so it is done once.
  const addon = load();
  return () => addon.threadCpuMs();
}
