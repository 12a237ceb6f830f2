// Builds the native CPU kernels with the C compiler at hand: no node-gyp, nothing is downloaded. Without a compiler it
// warns and succeeds, because WebAssembly kernels take their place; with REQUIRE_NATIVE=1 it fails instead.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:process';
import { fileURLToPath } from 'node:url';

const native = fileURLToPath(new URL('../native/', import.meta.url));
const output = `${native}build/pickaxe.node`;
const SOURCES = ['addon', 'dispatch', 'avx512', 'avx512vl', 'avx2', 'sse41', 'neon', 'portable'].map(
  (name) => `${name}.c`,
);

/** Far more than a build takes: a compiler that hangs must not hang the installation. */
const COMPILE_TIMEOUT_MS = 300_000;

function giveUp(reason) {
  const required = process.env.REQUIRE_NATIVE === '1';
  console.error(`${required ? 'Error' : 'Warning'}: the native CPU kernels were not built: ${reason}`);
  if (!required)
    console.error('Mining works without them, on WebAssembly kernels, at about a third of the speed or less.');
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

function upToDate() {
  if (!existsSync(output)) return false;
  const builtMs = statSync(output).mtimeMs;
  const inputs = readdirSync(native)
    .filter((name) => /\.[ch]$/.test(name))
    .map((name) => native + name);
  return [...inputs, fileURLToPath(import.meta.url)].every((path) => statSync(path).mtimeMs <= builtMs);
}

function compile(compiler, include) {
  const flags = ['-std=gnu11', '-O3', '-Wall', '-Wextra', '-fPIC', '-shared', '-fvisibility=hidden'];
  // clang does not realign the stack for 32-byte spills: near a page boundary AVX2 would run at half its speed.
  if (arch === 'x64') flags.push('-mstackrealign');
  if (platform === 'darwin') flags.push('-undefined', 'dynamic_lookup');
  // Written beside its place and moved: a running miner keeps the old file, and a killed build leaves no half of one.
  const unfinished = `${output}.${process.pid}`;
  const [command, ...own] = compiler.split(' ').filter(Boolean);
  const { status, error, stderr } = spawnSync(
    command,
    [...own, ...flags, '-I', include, '-o', unfinished, ...SOURCES],
    {
      cwd: native,
      encoding: 'utf8',
      timeout: COMPILE_TIMEOUT_MS,
    },
  );
  if (error === undefined && status === 0) renameSync(unfinished, output);
  else rmSync(unfinished, { force: true });
  return {
    missing: error?.code === 'ENOENT',
    failure: status === 0 ? undefined : stderr || error?.message || `exit code ${status}`,
  };
}

function build() {
  if (platform === 'win32') giveUp('there is no build for Windows yet');
  if (upToDate()) return;
  const include = headers();
  mkdirSync(`${native}build`, { recursive: true });
  const compilers = process.env.CC ? [process.env.CC] : ['cc', 'gcc', 'clang'];
  for (const compiler of compilers) {
    const { missing, failure } = compile(compiler, include);
    if (missing) continue;
    if (failure !== undefined) giveUp(`${compiler} failed:\n${failure.trim()}`);
    console.error(`Native CPU kernels built with ${compiler}.`);
    return;
  }
  giveUp(`no C compiler found (tried ${compilers.join(', ')}; CC names another)`);
}

try {
  build();
} catch (error) {
  giveUp(error.message);
}
