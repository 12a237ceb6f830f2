/**
 * The native kernels, in an N-API addon that was built from native/ on this machine or came prebuilt with the package.
 */

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import { systemReport } from '../../../system/version.ts';
import type { KernelName } from '../../device.ts';
import type { Kernel } from './kernel.ts';

/* Finds the file of the native kernels: the addon built on this machine, or the prebuilt one of the package. */

/** Where the addon comes from. */
export const ORIGINS = ['built-here', 'prebuilt'] as const;
type Origin = (typeof ORIGINS)[number];

interface AddonFile {
  readonly path: string;
  readonly origin: Origin;
}

/** The properties of a system that decide which addon it can load, with Node.js's names. */
export interface System {
  readonly platform: string;
  readonly arch: string;
  /** The version of glibc; undefined when the C library is another one, such as Alpine's musl. */
  glibc(): string | undefined;
}

const THIS_SYSTEM: System = { platform, arch, glibc: () => systemReport().header.glibcVersionRuntime };

/** The package's folder. The path to it is the same in a clone and in an installed package. */
const PACKAGE = new URL('../../../../', import.meta.url);

/**
 * Prefers the addon that was built here: somebody built it on purpose.
 * @param root the package's folder, with a slash at the end
 * @returns undefined when there is no addon: `whyNone` says why
 */
export function findAddon(root: URL = PACKAGE, system: System = THIS_SYSTEM): AddonFile | undefined {
  const built = fileURLToPath(new URL('native/build/pickaxe.node', root));
  if (existsSync(built)) return { path: built, origin: 'built-here' };
  const carried = carriedFile(root, system);
  return existsSync(carried) && hasItsLibrary(system) ? { path: carried, origin: 'prebuilt' } : undefined;
}

/** @returns why there is no addon, and what to do about it: a clause for people */
export function whyNone(root: URL = PACKAGE, system: System = THIS_SYSTEM): string {
  if (system.platform === 'win32' && system.arch !== 'x64')
    return `not built: there is no native build for Windows on ${system.arch}`;
  const compiler = system.platform === 'win32' ? 'gcc of MinGW-w64' : 'clang (or gcc)';
  const remedy = `install ${compiler} and run \`${buildCommand(root)}\`, for two to six times the speed`;
  if (!existsSync(carriedFile(root, system))) return `not built: ${remedy}`;
  return `not built: the addon in this package is for glibc, and this system has another C library (Alpine has musl): ${remedy}`;
}

/** @returns a command for any shell; a path with blanks is quoted */
export function buildCommand(root: URL = PACKAGE): string {
  const script = fileURLToPath(new URL('scripts/build-native.mjs', root));
  return `node ${/\s/.test(script) ? `"${script}"` : script}`;
}

/** @returns whether the system has the C library of the prebuilt addon. On Windows that is part of the system */
function hasItsLibrary({ platform, glibc }: System): boolean {
  return platform !== 'linux' || glibc() !== undefined;
}

/** @returns the path of the prebuilt addon, which scripts/build-addons.mjs makes */
function carriedFile(root: URL, { platform, arch }: System): string {
  const library = platform === 'linux' ? '-glibc' : '';
  return fileURLToPath(new URL(`native/addons/${platform}-${arch}${library}.node`, root));
}

/**
 * The exports of native/addon.c and native/addon-thread.c. When the system refuses, they throw an Error with the
 * system's message.
 */
export interface Addon {
  readonly kernels: readonly { readonly name: KernelName; readonly supported: boolean }[];
  search(kernel: number, search: Uint32Array, currentRun: Int32Array, hits: Uint32Array): number;
  /** Throws unless threads may be pinned. */
  checkPinning(): void;
  /** Confines the calling thread to these CPUs. */
  pinThread(cpus: Uint32Array): void;
  /** Gives the calling thread the priority that Windows or macOS has for a niceness of 0 … 19. Throws elsewhere. */
  setThreadPriority(niceness: number): void;
  /**
   * The processor time of the calling thread in ms, exact to 0.1 ms. Throws where the system does not report it (Wine).
   */
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

/** Requirements of the kernels, by the beginning of their names: an architecture, and a feature of the chip. */
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
  return !name.startsWith('wasm');
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

/**
 * @returns the processor time of the calling thread in ms; undefined without the addon, and where the system does not
 *   report it
 */
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

/**
 * The clock by which a thread measures a kernel: its own processor time, which stands still while other programs have
 * the processor. Without the addon, and where the system does not report processor time (Wine), it is the wall clock.
 * @param own reads the processor time of the calling thread, or undefined
 * @param load loads the addon
 * @returns a function that returns ms, with fractions, of which only differences count. Call it on one thread only
 */
export function threadClock(own: () => number | undefined = threadCpuMs, load: () => Addon = loadAddon): () => number {
  if (own() === undefined) return () => performance.now();
  // Looking for the addon takes 20 µs, so it is done once.
  const addon = load();
  return () => addon.threadCpuMs();
}
