/** Remembers how fast the kernels are on each kind of cores, so that only the first start on a machine measures them. */

import { readFileSync } from 'node:fs';
import { arch, cpus } from 'node:os';
import { z } from 'zod';
import { type Cache, digest, type Key } from '../../../system/cache.ts';
import type { CoreGroup } from '../core-groups.ts';
import { KERNEL_NAMES } from '../kernel-names.ts';
import { nativeBuild } from './native.ts';
import { wasmBuilds } from './wasm.ts';

/** This number changes when what is remembered changes its meaning. What has another number is not found. */
const FORMAT_VERSION = 2;

const kernelName = z.enum(KERNEL_NAMES);

const SHAPE = z
  .object({
    /** H/s of one thread. */
    speeds: z.partialRecord(kernelName, z.number().positive()),
    fastest: kernelName,
    /** The kernels that may be the fastest, the fastest one included. */
    close: z.array(kernelName).min(1),
    /** Whether no other kernel comes close, or the fastest one has proven itself while mining. */
    proven: z.boolean(),
  })
  .refine(({ speeds, fastest, close }) => [fastest, ...close].every((name) => speeds[name] !== undefined));
export type Tuning = Readonly<z.infer<typeof SHAPE>>;

/** @param groups all groups whose threads hash at the same time; `index` is the number of the one in question */
export function recallTuning(cache: Cache, groups: readonly CoreGroup[], index: number): Tuning | undefined {
  return cache.recall(subject(groups, index), key(), SHAPE);
}

/** @returns why the tuning could not be remembered; undefined when it was */
export function rememberTuning(
  cache: Cache,
  groups: readonly CoreGroup[],
  index: number,
  tuning: Tuning,
): string | undefined {
  try {
    cache.remember(subject(groups, index), key(), tuning);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** @returns `cpu MODEL, 2 threads`, or `cpu MODEL, efficiency of 15 performance and 16 efficiency threads` */
function subject(groups: readonly CoreGroup[], index: number): string {
  const { kind } = groups[index];
  const counts = groups
    .map(({ kind, places }) => `${places.length}${kind === undefined ? '' : ` ${kind}`}`)
    .join(' and ');
  const of = kind === undefined ? '' : `${kind} of `;
  const single = groups.length === 1 && groups[0].places.length === 1;
  return `cpu ${cpus()[0]?.model.trim() || arch()}, ${of}${counts} ${single ? 'thread' : 'threads'}`;
}

/** Everything that could change the speeds: the chip, the builds of the kernels, and the compiler of WebAssembly. */
function key(): Key {
  const native = nativeBuild();
  return {
    format: FORMAT_VERSION,
    chip: chip(),
    native: native ? digest(native) : 'none',
    wasm: digest(wasmBuilds().map(digest).join()),
    v8: process.versions.v8,
  };
}

/** The lines of Linux's /proc/cpuinfo that identify the kind of chip. In a virtual machine its name may not be enough. */
const CHIP_LINES = /^(vendor_id|cpu family|model|stepping|flags|CPU (implementer|variant|part|revision)|Features)\s*:/;

/** @returns a key for the kind of chip; only Node.js's name of the architecture when the system describes no chip */
export function chip(cpuinfo = '/proc/cpuinfo'): string {
  try {
    const [first] = readFileSync(cpuinfo, 'utf8').split('\n\n');
    const lines = first.split('\n').filter((line) => CHIP_LINES.test(line));
    return `${arch()} ${digest(lines.join('\n'))}`;
  } catch {
    return arch();
  }
}
