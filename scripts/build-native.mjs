// Builds the native CPU kernels with the C compiler at hand: no node-gyp, nothing is downloaded. Without a compiler it
// warns and succeeds, because WebAssembly kernels take their place; with REQUIRE_NATIVE=1 it fails instead.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import { kernelSources } from './native-sources.mjs';

const native = fileURLToPath(new URL('../native/', import.meta.url));
const output = `${native}build/pickaxe.node`;

const FLAGS = ['-std=gnu11', '-O3', '-Wall', '-Wextra', '-fPIC', '-fvisibility=hidden'];

// Kernels on pairs of vectors keep both in step. clang's scheduler would put one after the other (on x86, where such C
// kernels were measured, at 2/3 of the speed).
const KEEP_ORDER = ['-mllvm', '-enable-misched=false'];

/** Far more than a build takes: a compiler that hangs must not hang the installation. */
const COMPILE_TIMEOUT_MS = 300_000;

function giveUp(reason) {
  const required = process.env.REQUIRE_NATIVE === '1';
  console.error(`${required ? 'Error' : 'Warning'}: the native CPU kernels were not built: ${reason}`);
  if (!required) console.error('Mining works without them, on WebAssembly kernels, at a sixth to a half of the speed.');
  process.exit(required ? 1 : 0);
}

/** The folder of node_api.h, wherever the package manager put it. */
function headers() {
  try {
    return createRequire(import.meta.url)('node-api-headers').include_dir;
  } catch {
    return giveUp('the package node-api-headers is not installed (`npm ci` installs it)');
  }
}

/** @param sources paths relative to native/ */
function upToDate(sources) {
  if (!existsSync(output)) return false;
  const builtMs = statSync(output).mtimeMs;
  const headers = readdirSync(native).filter((name) => name.endsWith('.h'));
  const inputs = [...headers, ...sources].map((path) => native + path);
  return [...inputs, fileURLToPath(import.meta.url)].every((path) => statSync(path).mtimeMs <= builtMs);
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

/** Compiles and links in a folder of its own; returns undefined when that went well, else what went wrong. */
function compile(compiler, sources, include, folder) {
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
  const failure = run(compiler, [
    '-shared',
    ...(platform === 'darwin' ? ['-undefined', 'dynamic_lookup'] : []),
    '-o',
    linked,
    ...objects,
  ]);
  // Moved into its place: a running miner keeps the old file, and a build that is killed leaves no half of one.
  if (failure === undefined) renameSync(linked, output);
  return failure;
}

async function build() {
  if (platform === 'win32') giveUp('there is no build for Windows yet');
  const sources = ['addon.c', 'affinity.c', ...(await kernelSources())];
  if (upToDate(sources)) return;
  const include = headers();
  // clang first: its SSE4.1 kernel is faster than that of gcc 12 by a third; AVX2 and AVX-512 are assembly.
  const compilers = process.env.CC ? [process.env.CC] : ['clang', 'cc', 'gcc'];
  const failures = [];
  mkdirSync(join(native, 'build'), { recursive: true });
  const folder = mkdtempSync(join(native, 'build', 'unfinished-'));
  try {
    for (const compiler of compilers) {
      const failure = compile(compiler, sources, include, folder);
      if (failure === undefined) {
        console.error(`Native CPU kernels built with ${compiler}.`);
        return;
      }
      failures.push(`${compiler}: ${failure}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  giveUp(`no C compiler built them (CC names another):\n${failures.join('\n')}`);
}

try {
  await build();
} catch (error) {
  giveUp(error.message);
}
