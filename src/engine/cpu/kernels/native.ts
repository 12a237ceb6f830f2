/** The native kernels: an N-API addon, built from native/ by `npm run build` where there is a C compiler. */

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Kernel, KernelName } from './kernel.ts';

/** What native/addon.c exports. */
interface Addon {
  readonly kernels: readonly { readonly name: KernelName; readonly supported: boolean }[];
  search(kernel: number, search: Uint32Array, currentJob: Int32Array, hits: Uint32Array): number;
}

const path = fileURLToPath(new URL('../../../../native/build/pickaxe.node', import.meta.url));

/** Why a kernel is not in the addon: no fault that could be mended. */
export const FOREIGN = 'made for another kind of chip';

/** @throws Error that says why the kernel cannot run here. */
export function loadNative(name: KernelName): Kernel {
  if (!existsSync(path))
    throw new Error('native kernels are not built (`npm run build` with a C compiler builds them)');
  const addon = createRequire(import.meta.url)(path) as Addon;
  const index = addon.kernels.findIndex((kernel) => kernel.name === name);
  if (index < 0) throw new Error(FOREIGN);
  if (!addon.kernels[index].supported) throw new Error('not supported by this chip');
  return { name, search: (search, currentJob, hits) => addon.search(index, search, currentJob, hits) };
}
