// Compiles the native CPU kernels and links them to an addon, for this machine (scripts/build-native.mjs) and for
// others (scripts/build-addons.mjs).

import { spawnSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kernelSources } from './native-sources.mjs';

export const native = fileURLToPath(new URL('../native/', import.meta.url));

const FLAGS = ['-std=gnu11', '-O3', '-Wall', '-Wextra', '-fvisibility=hidden'];

/**
 * The options of compiler and linker for each system, by Node.js's names. The addon's host has the functions of
 * Node-API.
 */
const SYSTEMS = {
  linux: { compile: ['-fPIC'], link: [] },
  darwin: { compile: ['-fPIC'], link: ['-undefined', 'dynamic_lookup'] },
  // native/node-api-windows.c defines the imports. libgcc.dll is not part of Windows.
  win32: { compile: ['-DNAPI_EXTERN=__declspec(dllimport)'], link: ['-static-libgcc'] },
};

// Kernels on pairs of vectors must do the operations of both side by side. clang's scheduler would do one vector after
// the other, which was measured on x86 at 2/3 of the speed.
const KEEP_ORDER = ['-mllvm', '-enable-misched=false'];

/** On other systems they are compiled to nothing. */
const OF_ONE_SYSTEM = ['thread-linux.c', 'thread-macos.c', 'thread-windows.c', 'node-api-windows.c'];

/** Far longer than a build takes. A compiler that hangs must not hang the installation. */
const COMPILE_TIMEOUT_MS = 300_000;

/** @returns the sources of the addon: paths relative to native/ */
export async function addonSources() {
  return ['addon.c', 'addon-thread.c', ...OF_ONE_SYSTEM, ...(await kernelSources())];
}

/**
 * @returns the folder of node_api.h, wherever the package manager has put it
 * @throws Error when it does not exist.
 */
export function nodeApiHeaders() {
  return createRequire(import.meta.url)('node-api-headers').include_dir;
}

/** Runs the compiler. @returns what went wrong; undefined when nothing did */
function run(compiler, args) {
  // The path of a compiler may have blanks, as in C:\Program Files.
  const [command, ...own] = existsSync(compiler) ? [compiler] : compiler.split(' ').filter(Boolean);
  const { status, error, stderr } = spawnSync(command, [...own, ...args], {
    cwd: native,
    encoding: 'utf8',
    timeout: COMPILE_TIMEOUT_MS,
  });
  if (error === undefined && status === 0) return undefined;
  return error?.code === 'ENOENT' ? 'not found' : (stderr || error?.message || `exit code ${status}`).trim();
}

/**
 * Compiles and links the addon.
 * @param compiler the command, which may be followed by flags
 * @param platform Node.js's name of the addon's system
 * @param linkFlags further flags of the linker
 * @param folder the folder for object files
 * @param output the file that is replaced
 * @returns what went wrong; undefined when nothing did
 */
export function compileAddon({ compiler, platform, sources, include, linkFlags, folder, output }) {
  const { compile, link } = SYSTEMS[platform] ?? SYSTEMS.linux;
  const keepsOrder = run(compiler, [...KEEP_ORDER, '-c', '-o', join(folder, 'probe.o'), 'portable.c']) === undefined;
  const objects = [];
  for (const source of sources) {
    const object = join(folder, `${basename(source)}.o`);
    const flags = keepsOrder && source.endsWith('x2.c') ? [...FLAGS, ...KEEP_ORDER] : FLAGS;
    const failure = run(compiler, [...flags, ...compile, '-I', include, '-c', '-o', object, source]);
    if (failure !== undefined) return failure;
    objects.push(object);
  }
  const linked = join(folder, 'pickaxe.node');
  return run(compiler, ['-shared', '-o', linked, ...objects, ...link, ...linkFlags]) ?? replace(output, linked);
}

/**
 * Renames the finished file at the end: a running miner keeps the old file, and a build that is killed leaves no
 * incomplete one.
 * @returns what went wrong; undefined when nothing did
 */
function replace(output, linked) {
  try {
    renameSync(linked, output);
    return undefined;
  } catch (error) {
    // Windows does not replace a file that is in use.
    const remedy = process.platform === 'win32' ? '; end every running pickaxe first' : '';
    return `${output} cannot be replaced (${error.code})${remedy}`;
  }
}
