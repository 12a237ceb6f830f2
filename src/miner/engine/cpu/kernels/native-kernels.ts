/**
 * The native kernels. They are in an N-API addon, which was built from native/ on this machine, or is prebuilt in the
 * package.
 */

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import { systemReport } from '../../../../base/system/version.ts';
import type { KernelName } from '../../device.ts';
import type { Kernel } from './kernel.ts';

/* The file of the addon */

export const ORIGINS = ['built-here', 'prebuilt'] as const;
type Origin = (typeof ORIGINS)[number];

interface AddonFile {
  readonly path: string;
  readonly origin: Origin;
}

/** The properties of a system that decide which addon it can load. `platform` and `arch` are named as in Node.js. */
export interface System {
  readonly platform: string;
  readonly arch: string;
  /** Version of glibc; undefined for another C library, such as Alpine's musl. */
  glibc(): string | undefined;
}

const THIS_SYSTEM: System = { platform, arch, glibc: () => systemReport().header.glibcVersionRuntime };

/** The package's folder. The relative path is the same in a clone and in an installed package. */
const PACKAGE = new URL('../../../../../', import.meta.url);

/**
 * Prefers an addon that was built here, because somebody built it on purpose.
 * @param root the package's folder, with a slash at the end
 * @returns undefined when there is no addon for this system. `whyNone` then returns the reason
 */
export function findAddon(root: URL = PACKAGE, system: System = THIS_SYSTEM): AddonFile | undefined {
  const built = fileURLToPath(new URL('native/build/pickaxe.node', root));
  if (existsSync(built)) return { path: built, origin: 'built-here' };
  const carried = carriedFile(root, system);
  return existsSync(carried) && hasItsLibrary(system) ? { path: carried, origin: 'prebuilt' } : undefined;
}

/** @returns why there is no addon, and the remedy if there is one: a clause for people */
export function whyNone(root: URL = PACKAGE, system: System = THIS_SYSTEM): string {
  if (system.platform === 'win32' && system.arch !== 'x64')
    return `not built: there is no native build for Windows on ${system.arch}`;
  const compiler = system.platform === 'win32' ? 'gcc of MinGW-w64' : 'clang (or gcc)';
  const remedy = `install ${compiler} and run \`${buildCommand(root)}\`, for two to six times the speed`;
  if (!existsSync(carriedFile(root, system))) return `not built: ${remedy}`;
  return `not built: the addon in this package is for glibc, and this system has another C library (Alpine has musl): ${remedy}`;
}

/** @returns the command that builds the addon, for any shell. A path with white space is quoted */
export function buildCommand(root: URL = PACKAGE): string {
  const script = fileURLToPath(new URL('scripts/build-native.mjs', root));
  return `node ${/\s/.test(script) ? `"${script}"` : script}`;
}

/**
 * @returns whether the system has the C library that the prebuilt addon needs. On systems other than Linux, the result
 *   is always true
 */
function hasItsLibrary({ platform, glibc }: System): boolean {
  return platform !== 'linux' || glibc() !== undefined;
}

/** @returns the path where scripts/build-addons.mjs puts the prebuilt addon */
function carriedFile(root: URL, { platform, arch }: System): string {
  const library = platform === 'linux' ? '-glibc' : '';
  return fileURLToPath(new URL(`native/addons/${platform}-${arch}${library}.node`, root));
}

/**
 * The exports of native/addon.c and native/addon-thread.c. A call that the system refuses throws an Error with the
 * system's message.
 */
export interface Addon {
  readonly kernels: readonly { readonly name: KernelName; readonly supported: boolean }[];
  /** @param kernel index in `kernels`. For the rest, see `Kernel.search` */
  search(kernel: number, search: Uint32Array, currentRun: Int32Array, hits: Uint32Array): number;
  /** Throws an Error unless this process may pin its threads. Changes nothing. */
  checkPinning(): void;
  /** Confines the calling thread to these CPUs. */
  pinThread(cpus: Uint32Array): void;
  /**
   * Sets the priority of the calling thread on Windows or macOS, for a niceness of 0 … 19. Throws an Error on Linux.
   */
  setThreadPriority(niceness: number): void;
  /**
   * Processor time of the calling thread in ms, exact to 0.1 ms. Throws an Error where the system does not report it,
   * for example in Wine.
   */
  threadCpuMs(): number;
  /** The cores that this process may use, on Windows and macOS; empty on Linux. */
  cores(): readonly AddonCore[];
}

/** A physical core on Windows; all cores of one kind on macOS. */
export interface AddonCore {
  /**
   * Numbers of the CPUs (hardware threads), ascending. Windows has groups of up to 64 CPUs, and CPU 64 is the first one
   * of the second group.
   */
  readonly cpus: readonly number[];
  /** Cores of a higher class are faster. */
  readonly efficiencyClass: number;
}

const file = findAddon();

/**
 * The architecture and the feature of the chip that native kernels need. `name` is the beginning of a kernel's name.
 * The first entry that matches counts.
 */
const NEEDS = [
  { name: 'avx512vl', arch: 'x64', feature: 'AVX-512VL' },
  { name: 'avx512', arch: 'x64', feature: 'AVX-512F' },
  { name: 'avx2', arch: 'x64', feature: 'AVX2' },
  { name: 'sse41', arch: 'x64', feature: 'SSE4.1' },
  { name: 'neon', arch: 'arm64', feature: 'NEON' },
];

/**
 * The reason why a kernel for another architecture cannot be used. The addon of this machine does not contain such
 * kernels.
 */
export const FOREIGN = 'made for another kind of chip';

export function isNative(name: KernelName): boolean {
  return !name.startsWith('wasm');
}

/** @returns the origin of the addon; undefined without an addon */
export function nativeOrigin(): Origin | undefined {
  return file?.origin;
}

/**
 * @returns the bytes of the addon's file, which change whenever a kernel could have changed; undefined without an
 *   addon, or if the file cannot be read
 */
export function nativeBuild(): Uint8Array | undefined {
  if (!file) return undefined;
  try {
    return readFileSync(file.path);
  } catch {
    return undefined; // Loading the addon reports why.
  }
}

/** @throws Error when the kernel cannot run here. The message has the reason */
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

/** @throws Error when the addon is not built or cannot be loaded. The message has the remedy if there is one */
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

/**
 * @returns processor time of the calling thread in ms; undefined without the addon, or where the system does not report
 *   it
 */
export function threadCpuMs(): number | undefined {
  const addon = addonOrNone();
  try {
    return addon?.threadCpuMs();
  } catch {
    return undefined;
  }
}

export function addonCores(): readonly AddonCore[] {
  return addonOrNone()?.cores() ?? [];
}

function addonOrNone(): Addon | undefined {
  try {
    return loadAddon();
  } catch {
    return undefined; // Choosing a kernel reports why.
  }
}

/**
 * Makes the clock by which a thread measures a kernel. It counts the processor time of the thread, so time that other
 * programs take does not count. Without the addon, and where the system does not report processor time (Wine), it is
 * `performance.now`.
 * @returns a function that returns ms with fractions. Only the difference between two calls on one thread has a meaning
 */
export function threadClock(own: () => number | undefined = threadCpuMs, load: () => Addon = loadAddon): () => number {
  if (own() === undefined) return () => performance.now();
  // The addon is loaded only once here, because each call of `loadAddon` takes 20 µs.
  const addon = load();
  return () => addon.threadCpuMs();
}
