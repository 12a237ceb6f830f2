/** The native kernels: an N-API addon, built from native/ by scripts/build-native.mjs where there is a C compiler. */

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Kernel, KernelName } from './kernel.ts';

/** What native/addon.c exports. */
export interface Addon {
  readonly kernels: readonly { readonly name: KernelName; readonly supported: boolean }[];
  search(kernel: number, search: Uint32Array, currentJob: Int32Array, hits: Uint32Array): number;
  /** Throws unless threads may be pinned. */
  checkPinning(): void;
  /** Pins the calling thread. */
  pinThread(cpu: number): void;
}

const path = fileURLToPath(new URL('../../../../native/build/pickaxe.node', import.meta.url));

/** What kernels need, by the beginning of their names: a kind of chip, as Node calls it, and one of its features. */
const NEEDS = [
  { name: 'avx512vl', arch: 'x64', feature: 'AVX-512VL' },
  { name: 'avx512', arch: 'x64', feature: 'AVX-512F' },
  { name: 'avx2', arch: 'x64', feature: 'AVX2' },
  { name: 'sse41', arch: 'x64', feature: 'SSE4.1' },
  { name: 'neon', arch: 'arm64', feature: 'NEON' },
];

/** Why a kernel is not in the addon: no fault that could be mended. */
export const FOREIGN = 'made for another kind of chip';

/** Works in a clone and in an installed package alike. */
const BUILD = `node ${fileURLToPath(new URL('../../../../scripts/build-native.mjs', import.meta.url))}`;

/** What to do about kernels that are not there. */
const NOT_BUILT =
  platform === 'win32'
    ? 'not built: there is no native build for Windows yet'
    : `not built: install clang (or gcc) and run \`${BUILD}\`, for two to six times the speed`;

export function isNative(name: KernelName): boolean {
  return name !== 'js' && !name.startsWith('wasm');
}

/** The addon as it was built, or undefined where it cannot be read. It changes when a kernel could have changed. */
export function nativeBuild(): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined; // Not built, or not for this user: loading it says which.
  }
}

/** @throws Error that says why the kernel cannot run here. */
export function loadNative(name: KernelName): Kernel {
  const needs = NEEDS.find((each) => name.startsWith(each.name));
  if (needs && needs.arch !== arch) throw new Error(FOREIGN);
  const addon = loadAddon();
  const index = addon.kernels.findIndex((kernel) => kernel.name === name);
  if (index < 0) throw new Error(`not in the build at hand: run \`${BUILD}\``);
  if (!addon.kernels[index].supported) {
    throw new Error(`needs ${needs?.feature}, which this CPU (or its hypervisor or system) does not offer`);
  }
  return { name, search: (search, currentJob, hits) => addon.search(index, search, currentJob, hits) };
}

/** @throws Error that says what to do when it is not built, or cannot be loaded. */
export function loadAddon(): Addon {
  if (!existsSync(path)) throw new Error(NOT_BUILT);
  try {
    return createRequire(import.meta.url)(path) as Addon;
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    throw new Error(`built, but cannot be loaded (${reason}): delete ${path} and run \`${BUILD}\``);
  }
}
