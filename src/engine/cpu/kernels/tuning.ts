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

/** @param threads that hash at a time */
export function recallSpeeds(cache: Cache, threads: number): Speeds | undefined {
  return cache.recall(subject(threads), key(), SHAPE) as Speeds | undefined;
}

/** @returns why they could not be remembered, or undefined when they are. */
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

/** Whatever could change the kernels' speeds: the chip, the kernels as they were built, and the compiler of WebAssembly. */
function key(): Key {
  const native = nativeBuild();
  return {
    chip: chip(),
    native: native ? digest(native) : 'none',
    wasm: digest(wasmBuilds().map(digest).join()),
    v8: process.versions.v8,
  };
}

/** The lines of Linux's /proc/cpuinfo that tell one kind of chip from another: in a virtual machine its name may not. */
const CHIP_LINES = /^(vendor_id|cpu family|model|stepping|flags|CPU (implementer|variant|part|revision)|Features)\s*:/;

/** What is known of the chip; of one that the system does not describe, as in some sandboxes, only its kind. */
export function chip(cpuinfo = '/proc/cpuinfo'): string {
  try {
    const [first] = readFileSync(cpuinfo, 'utf8').split('\n\n');
    const lines = first.split('\n').filter((line) => CHIP_LINES.test(line));
    return `${arch()} ${digest(lines.join('\n'))}`;
  } catch {
    return arch();
  }
}
