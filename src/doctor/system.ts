/** Node.js, the system, memory and limits. */

import { freemem } from 'node:os';
import { systemReport } from '../system/system-report.ts';
import type { Finding } from './finding.ts';

/** What package.json's `engines` asks for. */
const NODE = { major: 20, minor: 19 };
/** Platforms on which pickaxe is tested, or should at least run. */
const PLATFORMS = ['linux x64', 'linux arm64', 'darwin x64', 'darwin arm64', 'win32 x64', 'win32 arm64'];
/** The glibc that the WebGPU library was linked against. */
const GPU_GLIBC = 2.34;
/** The miner uses 150 MB, and so does the process of each GPU: with less than this the system soon kills one of them. */
const ENOUGH_MEMORY = 512 * 2 ** 20;
/** 64 connections to each of a few nodes, streams, threads, and files of drivers. */
const ENOUGH_FILES = 256;

export interface SystemFacts {
  /** Without the `v`. */
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  /** Like `2.36`; undefined with another C library. */
  readonly glibc?: string | undefined;
  /** Bytes that may still be used, the limits of a container included. */
  readonly memory: number;
  /** How many files may be open; undefined without a limit. */
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
    // Some versions of Node.js that are too old lack it, and must still be reported as too old.
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
  const mend = `install Node.js ${NODE.major}.${NODE.minor} or newer, from https://nodejs.org or your system`;
  return {
    about: 'Node.js',
    state: 'fault',
    what: `${version} is too old`,
    why: 'it lacks functions that pickaxe uses',
    mend,
  };
}

function system(platform: string, arch: string, glibc: string | undefined): Finding {
  const libc = platform === 'linux' ? `, ${glibc === undefined ? 'no glibc' : `glibc ${glibc}`}` : '';
  const what = `${platform} ${arch}${libc}`;
  const finding = { about: 'system', what } as const;
  if (!PLATFORMS.includes(`${platform} ${arch}`)) {
    const why = 'pickaxe was never tested on it: CPUs may work, GPUs will not';
    return { ...finding, state: 'warning', why, mend: `use one of: ${PLATFORMS.join(', ')}` };
  }
  if (platform === 'linux' && !(Number(glibc) >= GPU_GLIBC)) {
    const why = `mining on GPUs needs glibc ${GPU_GLIBC}; CPUs work without it`;
    return { ...finding, state: 'warning', why, mend: 'to mine on GPUs, use Debian 12, Ubuntu 22.04, RHEL 9 or newer' };
  }
  return { ...finding, state: 'ok' };
}

function memoryLeft(memory: number): Finding {
  const what = `${(memory / 2 ** 20).toFixed(0)} MiB free`;
  if (memory >= ENOUGH_MEMORY) return { about: 'memory', state: 'ok', what };
  const why = 'the system kills processes when none is left; pickaxe needs 150 MB, and as much again for each GPU';
  return { about: 'memory', state: 'warning', what, why, mend: 'close other programs, or raise the container’s limit' };
}

function openFiles(files: number | undefined): Finding[] {
  if (files === undefined) return [];
  const what = `up to ${files} open files`;
  if (files >= ENOUGH_FILES) return [{ about: 'limits', state: 'ok', what }];
  const why = 'connections to nodes count as open files, and fail beyond the limit';
  return [{ about: 'limits', state: 'warning', what, why, mend: `raise the limit: ulimit -n ${4 * ENOUGH_FILES}` }];
}
