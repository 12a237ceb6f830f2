/** Remembers how fast the kernels are, so that only the first start on a machine measures them. */

import { readFileSync } from 'node:fs';
import { arch, cpus } from 'node:os';
import { z } from 'zod';
import { type Cache, digest, type Key } from '../../../system/cache.ts';
import { KERNEL_NAMES } from '../kernel-names.ts';
import { nativeBuild } from './native.ts';
import type { Speeds } from './speed.ts';
import { wasmBuilds } from './wasm.ts';

const SHAPE = z
  .partialRecord(z.enum(KERNEL_NAMES), z.number().positive())
  .refine((speeds) => Object.keys(speeds).length > 0);

/** @param threads how many threads hash */
export function recallSpeeds(cache: Cache, threads: number): Speeds | undefined {
  return cache.recall(subject(threads), key(), SHAPE) as Speeds | undefined;
}

/** @returns why the speeds could not be remembered; undefined when they were */
export function rememberSpeeds(cache: Cache, threads: number, speeds: Speeds): string | undefined {
  try {
    cache.remember(subject(threads), key(), speeds);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function subject(threads: number): string {
  return `cpu ${cpus()[0]?.model.trim() || arch()}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
}

/** Everything that could change the speeds: the chip, the builds of the kernels, and the compiler of WebAssembly. */
function key(): Key {
  const native = nativeBuild();
  return {
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
