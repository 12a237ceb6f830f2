/** Builds test/native/driver.c in several ways and talks to it. */

import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packSearch } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import type { Puzzle } from '#pickaxe/protocol/chain/job.js';
import { type NonceParts, type Range, word6Of } from '#pickaxe/protocol/chain/nonce.js';
import { nodeApiHeaders } from '../../scripts/compile-addon.mjs';
import { mingwFlags } from '../../scripts/mingw.mjs';
import { kernelSources } from '../../scripts/native-sources.mjs';
import type { Windows } from '../wine/wine.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const native = join(root, 'native');
const driverSource = fileURLToPath(new URL('./driver.c', import.meta.url));
const pretendNode = fileURLToPath(new URL('./pretend-node.c', import.meta.url));

/** A way of building the driver. */
export interface Variant {
  readonly name: string;
  readonly compiler: string;
  readonly flags: readonly string[];
  /** The command that runs the driver if this machine cannot run it. */
  readonly emulator?: readonly string[];
  /** Whether the driver is a program of Windows; `windows` must be set before it runs. */
  readonly forWindows?: true;
  readonly windows?: Windows | undefined;
  /** The prebuilt addon whose kernels are called. By default the kernels are compiled into the driver. */
  readonly addon?: string;
  /** The Debian packages that the variant needs. */
  readonly debianPackages: string;
}

// -O1: accesses that sanitizers check are not optimised away, and the code is not ten times as slow.
const SANITIZERS = [
  '-O1',
  '-g',
  '-fno-omit-frame-pointer',
  '-fsanitize=address,undefined',
  '-fno-sanitize-recover=all',
];

export const sanitizedByGcc: Variant = {
  name: 'sanitized by gcc',
  compiler: 'gcc',
  flags: SANITIZERS,
  debianPackages: 'gcc libc6-dev',
};

export const variants: readonly Variant[] = [
  {
    name: 'emulated aarch64, by gcc',
    compiler: 'aarch64-linux-gnu-gcc',
    flags: ['-O3', '-static'],
    emulator: ['qemu-aarch64-static'],
    debianPackages: 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static',
  },
  {
    name: 'emulated aarch64, by clang',
    compiler: 'clang',
    // libc and its start-up files are those of the cross gcc.
    flags: ['--target=aarch64-linux-gnu', '-fuse-ld=lld', '-O3', '-static'],
    emulator: ['qemu-aarch64-static'],
    debianPackages: 'clang lld gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static',
  },
  {
    name: 'sanitized by clang',
    compiler: 'clang',
    flags: SANITIZERS,
    debianPackages: 'clang libclang-rt-dev libc6-dev',
  },
  sanitizedByGcc,
  {
    name: 'for Windows, by gcc',
    compiler: 'x86_64-w64-mingw32-gcc',
    flags: ['-O3'],
    forWindows: true,
    debianPackages: 'gcc-mingw-w64-x86-64 wine64',
  },
  {
    name: 'for Windows, by clang',
    compiler: 'clang',
    flags: ['--target=x86_64-w64-mingw32', '-fuse-ld=lld', '-O3', ...mingwFlags()],
    forWindows: true,
    debianPackages: 'clang lld gcc-mingw-w64-x86-64 wine64',
  },
  {
    name: 'as carried for linux-x64',
    compiler: 'gcc',
    flags: ['-rdynamic', '-ldl'],
    addon: 'linux-x64-glibc.node',
    debianPackages: 'clang lld gcc libc6-dev libc6-dev-arm64-cross',
  },
  {
    name: 'as carried for linux-arm64, emulated',
    compiler: 'aarch64-linux-gnu-gcc',
    flags: ['-rdynamic', '-ldl'],
    emulator: ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu'],
    addon: 'linux-arm64-glibc.node',
    debianPackages: 'clang lld gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static',
  },
];

/** Far longer than a build or a run takes. Neither may hang the tests. */
const TIMEOUT_MS = 300_000;

/** @throws Error with what the program printed, unless it ended well */
function run(command: string, args: readonly string[], input = '', env = process.env): string {
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    cwd: native,
    encoding: 'utf8',
    input,
    env,
    timeout: TIMEOUT_MS,
    maxBuffer: 64 << 20,
  });
  if (error === undefined && status === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? signal ?? `exit code ${status}`}\n${stderr}`);
}

const compile = ({ compiler, flags }: Variant, output: string, sources: readonly string[]) =>
  run(compiler, ['-std=gnu11', '-Wall', '-Wextra', '-I', native, '-o', output, ...sources, ...flags]);

function execute(variant: Variant, program: string, args: readonly string[], input?: string): string {
  const { emulator = [], addon, windows } = variant;
  if (windows) return runUnderWine(windows, program, args, input);
  const [command, ...rest] = [...emulator, program, ...args];
  const env = addon === undefined ? process.env : { ...process.env, ADDON: join(addonsFolder(), addon) };
  return run(command, rest, input, env);
}

/** The output is a file, because Wine's own processes, which go on for seconds, would keep a pipe open. */
function runUnderWine(windows: Windows, program: string, args: readonly string[], input = ''): string {
  const path = `${program}.txt`;
  const output = openSync(path, 'w');
  const [command, ...rest] = windows.command(program, args);
  const { status, signal, error } = spawnSync(command, rest, {
    input,
    stdio: ['pipe', output, output],
    env: windows.env,
    timeout: TIMEOUT_MS,
  });
  closeSync(output);
  const text = readFileSync(path, 'utf8').replaceAll('\r\n', '\n');
  if (error === undefined && status === 0) return text;
  throw new Error(`${program} under Wine: ${error?.message ?? signal ?? `exit code ${status}`}\n${text}`);
}

let addons: string | undefined;

/** @returns the folder of the prebuilt addons: the one that ADDONS names, or a new one in which they are built now */
export function addonsFolder(): string {
  if (addons !== undefined) return addons;
  if (process.env.ADDONS) return resolve(root, process.env.ADDONS);
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-addons-'));
  run(process.execPath, [join(root, 'scripts/build-addons.mjs'), folder]);
  addons = folder;
  return addons;
}

const programIn = (folder: string, name: string, { forWindows }: Variant) =>
  join(folder, forWindows ? `${name}.exe` : name);

/**
 * Why a variant cannot be built or run on this machine, found by trying an empty program; undefined when it can.
 * Variants for Windows are only built.
 */
export function whyMissing(variant: Variant, folder: string): unknown {
  const source = join(folder, 'empty.c');
  const program = programIn(folder, 'empty', variant);
  writeFileSync(source, 'int main(void) { return 0; }\n');
  try {
    compile(variant, program, [source]);
    if (!variant.forWindows) execute(variant, program, []);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** @returns the path of the built driver */
export async function buildDriver(variant: Variant, folder: string): Promise<string> {
  const program = programIn(folder, 'driver', variant);
  if (variant.addon === undefined) compile(variant, program, [driverSource, ...(await kernelSources())]);
  else compile(variant, program, ['-I', nodeApiHeaders(), driverSource, pretendNode]);
  return program;
}

/** The kernels that were compiled in, and whether the chip runs them. */
export function kernelsOf(variant: Variant, program: string): { name: string; supported: boolean }[] {
  return execute(variant, program, [])
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([name, supported]) => ({ name, supported: supported === '1' }));
}

/** A question to the driver: a search of a range while `currentRun` is the current run. */
export interface Question {
  readonly puzzle: Puzzle;
  readonly range: Range;
  readonly run: number;
  readonly currentRun: number;
}

export interface Answer {
  readonly pages: number;
  readonly hits: NonceParts[];
}

/** Asks a kernel in a new process. */
export function ask(variant: Variant, program: string, kernel: string, questions: readonly Question[]): Answer[] {
  const lines = questions.map(({ puzzle, range, run, currentRun }) =>
    [...packSearch(puzzle, run, range), currentRun].map((word) => word.toString(16)).join(' '),
  );
  const answers = execute(variant, program, [kernel], `${lines.join('\n')}\n`)
    .trimEnd()
    .split('\n');
  if (answers.length !== questions.length) throw new Error(`${questions.length} questions, ${answers.length} answers`);
  return answers.map((line, i) => {
    const words = line.split(' ');
    const pages = Number.parseInt(words.pop() ?? '', 16);
    const hits = words.map((hit) => {
      const [page, word6] = hit.split(':').map((word) => Number.parseInt(word, 16));
      const { lane, step } = questions[i].range;
      return { lane, step, page, counter: (word6 - word6Of({ lane, step, counter: 0 })) / step };
    });
    return { pages, hits };
  });
}
