/** The native kernels, in an N-API addon that was built from native/ on this machine or came prebuilt with the package. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch } from 'node:process';
import type { KernelName } from '../kernel-names.ts';
import { buildCommand, findAddon, type Origin, whyNone } from './addon-file.ts';
import type { Kernel } from './kernel.ts';

/** The exports of native/addon.c and native/addon-thread.c. All throw an Error with the system's words when it refuses. */
export interface Addon {
  readonly kernels: readonly { readonly name: KernelName; readonly supported: boolean }[];
  search(kernel: number, search: Uint32Array, currentRun: Int32Array, hits: Uint32Array): number;
  /** Throws unless threads may be pinned. */
  checkPinning(): void;
  /** Confines the calling thread to these CPUs. */
  pinThread(cpus: Uint32Array): void;
  /** Gives the calling thread the priority that Windows or macOS has for a niceness of 0 … 19. Throws elsewhere. */
  setThreadPriority(niceness: number): void;
  /** The processor time of the calling thread in ms, exact to 0.1 ms. Throws where the system does not tell it (Wine). */
  threadCpuMs(): number;
  /** The cores that this process may use, on Windows and macOS; an empty list elsewhere. */
  cores(): readonly AddonCore[];
}

/** A physical core on Windows; on macOS all cores of one kind. */
export interface AddonCore {
  /** Ascending. On Windows CPU 64 is the first of the second group of CPUs. */
  readonly cpus: readonly number[];
  /** Cores of a higher class are faster. */
  readonly efficiencyClass: number;
}

const file = findAddon();

/** The needs of kernels, by the beginning of their names: a kind of chip (Node.js's name) and one of its features. */
const NEEDS = [
  { name: 'avx512vl', arch: 'x64', feature: 'AVX-512VL' },
  { name: 'avx512', arch: 'x64', feature: 'AVX-512F' },
  { name: 'avx2', arch: 'x64', feature: 'AVX2' },
  { name: 'sse41', arch: 'x64', feature: 'SSE4.1' },
  { name: 'neon', arch: 'arm64', feature: 'NEON' },
];

/** The reason for kernels that cannot be in this machine's addon. */
export const FOREIGN = 'made for another kind of chip';

export function isNative(name: KernelName): boolean {
  return name !== 'js' && !name.startsWith('wasm');
}

/** @returns where the native kernels come from; undefined when there are none */
export function nativeOrigin(): Origin | undefined {
  return file?.origin;
}

/** @returns the bytes of the addon, which differ when a kernel could have changed; undefined when it cannot be read */
export function nativeBuild(): Uint8Array | undefined {
  if (!file) return undefined;
  try {
    return readFileSync(file.path);
  } catch {
    return undefined; // Loading the addon will say why.
  }
}

/** @throws Error that says why the kernel cannot run here. */
export function loadNative(name: KernelName): Kernel {
  const needs = NEEDS.find((each) => name.startsWith(each.name));
  if (needs && needs.arch !== arch) throw new Error(FOREIGN);
  const addon = loadAddon();
  const index = addon.kernels.findIndex((kernel) => kernel.name === name);
  if (index < 0) throw new Error(`not in this build: run \`${buildCommand()}\``);
  if (!addon.kernels[index].supported) {
    throw new Error(`needs ${needs?.feature}, which this CPU (or its hypervisor or system) does not offer`);
  }
  return { name, search: (search, currentRun, hits) => addon.search(index, search, currentRun, hits) };
}

/** @throws Error that says what to do when the addon is not built or cannot be loaded. */
export function loadAddon(): Addon {
  if (!file) throw new Error(whyNone());
  const { path, origin } = file;
  try {
    return createRequire(import.meta.url)(path) as Addon;
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    const remedy = origin === 'prebuilt' ? '' : `delete ${path} and `;
    const what = origin === 'prebuilt' ? 'prebuilt' : 'built';
    throw new Error(`${what}, but cannot be loaded (${reason}): ${remedy}run \`${buildCommand()}\``);
  }
}

/** @returns the processor time of the calling thread in ms; undefined without the addon, and where the system does not tell it */
export function threadCpuMs(): number | undefined {
  const addon = addonOrNone();
  try {
    return addon?.threadCpuMs();
  } catch {
    return undefined;
  }
}

/** @returns the cores that Windows or macOS reports; an empty list elsewhere, and without the addon */
export function addonCores(): readonly AddonCore[] {
  return addonOrNone()?.cores() ?? [];
}

function addonOrNone(): Addon | undefined {
  try {
    return loadAddon();
  } catch {
    return undefined; // Choosing a kernel says why.
  }
}
