/** Examines this machine: Node.js, the system, the CPU, the devices to mine with, sensors and folders. */

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { freemem } from 'node:os';
import { dirname } from 'node:path';
import type { Finding } from '../../base/finding.ts';
import { systemReport } from '../../base/system/version.ts';
import { plural } from '../../base/text/quantities.ts';
import type { CpuSensors } from '../../miner/engine/cpu/cpu-sensors.ts';
import { isNative } from '../../miner/engine/cpu/kernels/native-kernels.ts';
import type { CoreGroup } from '../../miner/engine/cpu/threads.ts';
import type { Gpu } from '../../miner/engine/gpu/list-gpus.ts';
import type { KernelRow } from '../composition/choose-engines.ts';

/** The oldest supported version of Node.js, as in `engines` of package.json. */
const NODE = { major: 20, minor: 19 };
/** Platforms on which pickaxe is tested, or is at least expected to run. */
const PLATFORMS = ['linux x64', 'linux arm64', 'darwin x64', 'darwin arm64', 'win32 x64', 'win32 arm64'];
/** The oldest version of glibc that the WebGPU library runs with. */
const GPU_GLIBC = 2.34;
/**
 * Available memory, in bytes, below which the doctor warns. The miner uses 150 MB, and so does the process of each GPU.
 * When memory is short, the system kills processes.
 */
const ENOUGH_MEMORY = 512 * 2 ** 20;
/**
 * Limit on open files below which the doctor warns. The miner may open 64 connections to each of a few nodes, and needs
 * files for streams, threads and drivers.
 */
const ENOUGH_FILES = 256;

export interface SystemFacts {
  /** Version of Node.js, like `22.11.0`. */
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  /** Version of glibc, like `2.36`; undefined with another C library. */
  readonly glibc?: string | undefined;
  /** Available memory in bytes, within the limits of a container. */
  readonly memory: number;
  /** Maximum number of open files; undefined if there is no limit, or the system does not report it. */
  readonly files?: number | undefined;
}

export function readSystem(): SystemFacts {
  const { header, userLimits } = systemReport();
  const files = Number(userLimits?.open_files?.soft);
  return {
    node: process.versions.node,
    platform: process.platform,
    arch: process.arch,
    glibc: header.glibcVersionRuntime,
    // Versions of Node.js that are too old lack this function. The doctor must run even with such a version, to report
    // that it is too old.
    memory: process.availableMemory?.() ?? freemem(),
    ...(Number.isFinite(files) && { files }),
  };
}

export function examineSystem({ node, platform, arch, glibc, memory, files }: SystemFacts): Finding[] {
  return [nodeVersion(node), system(platform, arch, glibc), memoryLeft(memory), ...openFiles(files)];
}

function nodeVersion(version: string): Finding {
  const [major, minor] = version.split('.').map(Number);
  const isEnough = major > NODE.major || (major === NODE.major && minor >= NODE.minor);
  if (isEnough) return { about: 'Node.js', state: 'ok', what: version };
  const [what, why] = [`${version} is too old`, 'it lacks functions that pickaxe uses'];
  const remedy = `install Node.js ${NODE.major}.${NODE.minor} or newer, from https://nodejs.org or your system`;
  return { about: 'Node.js', state: 'fault', what, why, remedy };
}

function system(platform: string, arch: string, glibc: string | undefined): Finding {
  const libc = platform === 'linux' ? `, ${glibc === undefined ? 'no glibc' : `glibc ${glibc}`}` : '';
  const what = `${platform} ${arch}${libc}`;
  const finding = { about: 'system', what } as const;
  if (!PLATFORMS.includes(`${platform} ${arch}`)) {
    const why = 'pickaxe was never tested on it: CPUs may work, GPUs will not';
    return { ...finding, state: 'warning', why, remedy: `use one of: ${PLATFORMS.join(', ')}` };
  }
  if (platform === 'linux' && !(Number(glibc) >= GPU_GLIBC)) {
    const why = `mining on GPUs needs glibc ${GPU_GLIBC}; CPUs work without it`;
    return {
      ...finding,
      state: 'warning',
      why,
      remedy: 'to mine on GPUs, use Debian 12, Ubuntu 22.04, RHEL 9 or newer',
    };
  }
  return { ...finding, state: 'ok' };
}

function memoryLeft(memory: number): Finding {
  const what = `${(memory / 2 ** 20).toFixed(0)} MiB free`;
  if (memory >= ENOUGH_MEMORY) return { about: 'memory', state: 'ok', what };
  const why = 'the system kills processes when none is left; pickaxe needs 150 MB, and as much again for each GPU';
  return {
    about: 'memory',
    state: 'warning',
    what,
    why,
    remedy: 'close other programs, or raise the container’s limit',
  };
}

function openFiles(files: number | undefined): Finding[] {
  if (files === undefined) return [];
  const what = `up to ${files} open files`;
  if (files >= ENOUGH_FILES) return [{ about: 'limits', state: 'ok', what }];
  const why = 'connections to nodes count as open files, and fail beyond the limit';
  return [{ about: 'limits', state: 'warning', what, why, remedy: `raise the limit: ulimit -n ${4 * ENOUGH_FILES}` }];
}

/* The CPU: its kernel and its threads. */

export interface CpuFacts {
  /** Why the requested threads or kernel cannot be used. */
  readonly refused?: string;
  readonly threads?: { readonly threads: number; readonly groups: readonly CoreGroup[]; readonly why: string };
  readonly kernels: readonly KernelRow[];
}

export function examineCpu({ refused, threads, kernels }: CpuFacts): Finding[] {
  if (refused !== undefined) {
    const remedy =
      'change or remove the settings of the CPU (--threads, --kernel, --cpu-cores, --cpu-affinity, --cpu-priority)';
    return [{ about: 'CPU', state: 'fault', what: refused, why: 'pickaxe does not start with these settings', remedy }];
  }
  const chosen = kernels.filter((row) => row.chosen);
  if (chosen.length === 0) {
    const what = `no kernel can be used: ${kernels.map(({ name, why }) => `${name}: ${why}`).join('; ')}`;
    return [{ about: 'CPU', state: 'fault', what, why: 'the CPU cannot mine', remedy: 'reinstall pickaxe' }];
  }
  const count = threads === undefined ? '' : `, ${plural(threads.threads, 'thread')}`;
  const how = threads === undefined ? '' : ` (${threads.why})`;
  const used = [...new Set(chosen.map(chosenKernel))].join(', ');
  const finding = { about: 'CPU', what: `kernel ${used}${count}${how}` };
  const native = kernels.filter(({ name }) => isNative(name));
  if (native.some(({ usable }) => usable)) return [{ ...finding, state: 'ok' }];
  // If any native kernel is compiled, the kernel `portable` is compiled, too. So if `portable` is missing, all native
  // kernels are missing for the same reason.
  const reason = native.find(({ name }) => name === 'portable')?.why ?? 'there is none for this chip';
  return [{ ...finding, state: 'warning', why: 'native kernels are two to six times as fast', remedy: reason }];
}

/** @returns `avx2 on efficiency cores`; only the kernel's name if all cores are alike */
function chosenKernel({ name, cores }: KernelRow): string {
  return cores === undefined ? name : `${name} on ${cores} cores`;
}

/* The devices to mine with. */

export function examineDevices(use: readonly string[] | 'all', cpuWorks: boolean, gpus: readonly Gpu[]): Finding {
  const usable = usableDevices(cpuWorks, gpus);
  const isThere = (name: string) => (name === 'gpu' ? usable.some((other) => other !== 'cpu') : usable.includes(name));
  const missing = use === 'all' ? [] : use.filter((name) => !isThere(name));
  const mining = miningDevices(use, cpuWorks, gpus);
  const about = 'devices';
  const remedy = 'choose among what pickaxe devices lists (--devices), or fix what is said about them above';
  if (use.length === 0) return { about, state: 'ok', what: 'none is asked for: other programs hash for this rig' };
  if (mining.length === 0) {
    const what = missing.length > 0 ? `${missing.join(', ')} cannot be used` : 'no device can be used';
    return { about, state: 'fault', what, why: 'pickaxe has nothing to mine with', remedy };
  }
  if (missing.length === 0) return { about, state: 'ok', what: `mines with ${mining.join(', ')}` };
  const what = `mines with ${mining.join(', ')}; ${missing.join(', ')} cannot be used`;
  return { about, state: 'warning', what, why: '--devices asks for more than can be used', remedy };
}

/** @returns the names of the devices that are asked for and can be used */
export function miningDevices(use: readonly string[] | 'all', cpuWorks: boolean, gpus: readonly Gpu[]): string[] {
  const isAsked = (name: string) => use === 'all' || use.includes(name) || (name !== 'cpu' && use.includes('gpu'));
  return usableDevices(cpuWorks, gpus).filter(isAsked);
}

function usableDevices(cpuWorks: boolean, gpus: readonly Gpu[]): string[] {
  return [...(cpuWorks ? ['cpu'] : []), ...gpus.filter(({ usable }) => usable).map(({ name }) => name)];
}

export function examineSensors({ what, refused }: Pick<CpuSensors, 'what' | 'refused'>): Finding {
  const about = 'sensors';
  if (refused === undefined) return { about, state: 'ok', what: `CPU: ${what}` };
  return {
    about,
    state: 'warning',
    what: `the CPU’s power is not known: this user may not read ${refused}`,
    why: 'without it there are no watts and no hashes per joule of the CPU; it mines as well without them',
    remedy:
      'docs/devices.md, “Allow pickaxe to read the power”, says how, and why the system keeps the file from users',
  };
}

/* The folder of remembered measurements, and the folder of the configuration. */

/** @param isWritable returns whether this user can write to a folder, or can create it */
export function examineCacheFolder(folder: string | undefined, isWritable = isFolderWritable): Finding {
  const about = 'cache';
  const why = 'kernels are measured again at each start: a second for the CPU, and a few seconds for each GPU';
  if (folder === undefined) {
    const remedy = 'set XDG_CACHE_HOME to a folder that this user can write to';
    return { about, state: 'warning', what: 'this user has no home directory', why, remedy };
  }
  if (isWritable(folder)) return { about, state: 'ok', what: `${folder} can be written to` };
  const what = `${folder} cannot be written to`;
  return { about, state: 'warning', what, why, remedy: 'make it writable, or set XDG_CACHE_HOME' };
}

/** @param files the configuration files that were read */
export function examineConfigFolder(
  folder: string | undefined,
  files: readonly string[],
  isWritable = isFolderWritable,
): Finding {
  const about = 'configuration';
  if (files.length > 0) return { about, state: 'ok', what: files.join(', ') };
  if (folder !== undefined && isWritable(folder)) {
    return { about, state: 'ok', what: 'no file yet; pickaxe init writes one' };
  }
  const reason = folder === undefined ? 'this user has no home directory' : `${folder} cannot be written to`;
  const why = 'pickaxe init --user cannot write its file';
  const remedy = 'use pickaxe init without --user: it writes to the current folder';
  return { about, state: 'warning', what: `no file, and ${reason}`, why, remedy };
}

export function isFolderWritable(folder: string): boolean {
  if (!existsSync(folder)) return folder !== dirname(folder) && isFolderWritable(dirname(folder));
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}
