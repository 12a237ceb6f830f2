/** Node.js, the system, memory and limits. */

import { freemem } from 'node:os';
import { systemReport } from '../system/system-report.ts';
import type { Finding } from './finding.ts';

/** What package.json's `engines` asks for. */
const NODE = { major: 20, minor: 19 };
/** Platforms on which pickaxe is tried or at least meant to run. */
const PLATFORMS = ['linux x64', 'linux arm64', 'darwin x64', 'darwin arm64', 'win32 x64', 'win32 arm64'];
/** What the WebGPU library was linked against. */
const GPU_GLIBC = 2.34;
/** The miner takes 150 MB, and each GPU's process as much: below this the system soon kills one of them. */
const ENOUGH_MEMORY = 512 * 2 ** 20;
/** 64 connections to each of a few nodes, streams, threads, and files of drivers. */
const ENOUGH_FILES = 256;

export interface SystemFacts {
  /** Without the `v`. */
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  /** Like `2.36`; undefined where the C library is another. */
  readonly glibc?: string | undefined;
  /** Bytes that may still be used, the limits of a container included. */
  readonly memory: number;
  /** How many files may be open; undefined where there is no limit. */
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
    // Not in all versions that are too old: what is to be said of those comes first.
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
  return { about: 'Node.js', state: 'fault', what: `${version} is too old`, why: 'pickaxe uses what it lacks', mend };
}

function system(platform: string, arch: string, glibc: string | undefined): Finding {
  const libc = platform === 'linux' ? `, ${glibc === undefined ? 'no glibc' : `glibc ${glibc}`}` : '';
  const what = `${platform} ${arch}${libc}`;
  const finding = { about: 'system', what } as const;
  if (!PLATFORMS.includes(`${platform} ${arch}`)) {
    const why = 'nobody has tried pickaxe on it; CPUs may work, GPUs will not';
    return { ...finding, state: 'warning', why, mend: `use one of: ${PLATFORMS.join(', ')}` };
  }
  if (platform === 'linux' && !(Number(glibc) >= GPU_GLIBC)) {
    const why = `GPUs need glibc ${GPU_GLIBC}; CPUs are mined on all the same`;
    return { ...finding, state: 'warning', why, mend: 'use Debian 12, Ubuntu 22.04, RHEL 9 or newer for GPUs' };
  }
  return { ...finding, state: 'ok' };
}

function memoryLeft(memory: number): Finding {
  const what = `${(memory / 2 ** 20).toFixed(0)} MiB free`;
  if (memory >= ENOUGH_MEMORY) return { about: 'memory', state: 'ok', what };
  const why = 'the system ends processes when there is none left; pickaxe takes 150 MB, and as much for each GPU';
  return { about: 'memory', state: 'warning', what, why, mend: 'end other programs, or raise the container’s limit' };
}

function openFiles(files: number | undefined): Finding[] {
  if (files === undefined) return [];
  const what = `${files} open files`;
  if (files >= ENOUGH_FILES) return [{ about: 'limits', state: 'ok', what }];
  const why = 'connections to nodes are files, too, and fail when there are too many';
  return [{ about: 'limits', state: 'warning', what, why, mend: `raise the limit: ulimit -n ${4 * ENOUGH_FILES}` }];
}
