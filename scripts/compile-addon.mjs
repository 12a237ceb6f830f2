// Compiles the native CPU kernels and links them to an addon: how they are built for this machine
// (scripts/build-native.mjs) and for others (scripts/build-addons.mjs).

import { spawnSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kernelSources } from './native-sources.mjs';

export const native = fileURLToPath(new URL('../native/', import.meta.url));

const FLAGS = ['-std=gnu11', '-O3', '-Wall', '-Wextra', '-fPIC', '-fvisibility=hidden'];

// Kernels on pairs of vectors keep both in step. clang's scheduler would put one after the other (on x86, where such C
// kernels were measured, at 2/3 of the speed).
const KEEP_ORDER = ['-mllvm', '-enable-misched=false'];

/** Far more than a build takes: a compiler that hangs must not hang the installation. */
const COMPILE_TIMEOUT_MS = 300_000;

/** All that the addon is compiled from: paths relative to native/. */
export async function addonSources() {
  return ['addon.c', 'affinity.c', ...(await kernelSources())];
}

/**
 * The folder of node_api.h, wherever the package manager put it.
 * @throws Error when it is not there.
 */
export function nodeApiHeaders() {
  return createRequire(import.meta.url)('node-api-headers').include_dir;
}

/** Runs the compiler; returns undefined when that went well, else what went wrong. */
function run(compiler, args) {
  const [command, ...own] = compiler.split(' ').filter(Boolean);
  const { status, error, stderr } = spawnSync(command, [...own, ...args], {
    cwd: native,
    encoding: 'utf8',
    timeout: COMPILE_TIMEOUT_MS,
  });
  if (error === undefined && status === 0) return undefined;
  return error?.code === 'ENOENT' ? 'not found' : (stderr || error?.message || `exit code ${status}`).trim();
}

/**
 * Compiles and links in a folder of its own.
 * @param compiler the command, and flags of its own after spaces
 * @param linkFlags what a shared library takes on the system it is made for
 * @param folder where objects are left
 * @param output the file that is replaced
 * @returns undefined when that went well, else what went wrong
 */
export function compileAddon({ compiler, sources, include, linkFlags, folder, output }) {
  const keepsOrder = run(compiler, [...KEEP_ORDER, '-c', '-o', join(folder, 'probe.o'), 'portable.c']) === undefined;
  const objects = [];
  for (const source of sources) {
    const object = join(folder, `${basename(source)}.o`);
    const flags = keepsOrder && source.endsWith('x2.c') ? [...FLAGS, ...KEEP_ORDER] : FLAGS;
    const failure = run(compiler, [...flags, '-I', include, '-c', '-o', object, source]);
    if (failure !== undefined) return failure;
    objects.push(object);
  }
  const linked = join(folder, 'pickaxe.node');
  const failure = run(compiler, ['-shared', '-o', linked, ...objects, ...linkFlags]);
  // Moved into its place: a running miner keeps the old file, and a build that is killed leaves no half of one.
  if (failure === undefined) renameSync(linked, output);
  return failure;
}
