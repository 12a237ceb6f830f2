/** Runs the scripts of this checkout as people do, and reports what this machine lacks for them. */

import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { whyNoRadv } from '../../native/compilers/compile/radv.mjs';
import { isolated } from '../cli/pickaxe.ts';
import { noServer } from '../fleet/nats/server.ts';
import { areDownloaded } from '../foreign/programs.mjs';
import { wineCommand } from '../foreign/wine.mjs';
import { softwareAdapter } from '../miner/engine/gpu/adapter.ts';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The folder for what scripts write. */
export const scratch = mkdtempSync(join(tmpdir(), 'pickaxe-scripts-'));

const has = (program: string) => (spawnSync(program, ['--version']) as SpawnSyncReturns<Buffer>).error === undefined;

/** The things that some scripts need and not every machine has: how to get each, and whether it is here. */
const NEEDS = {
  linux: ['it takes Linux', () => process.platform === 'linux'],
  x64: ['it takes an x86-64 chip', () => process.arch === 'x64'],
  native: ['it takes the native kernels', () => existsSync(join(ROOT, 'native/build/pickaxe.node'))],
  gpu: [
    'it takes a Vulkan driver in software: apt-get install mesa-vulkan-drivers',
    () => softwareAdapter !== undefined,
  ],
  cc: ['it takes a C compiler: apt-get install gcc', () => has('cc')],
  clang: ['it takes clang: apt-get install clang lld', () => has('clang') && has('wasm-ld')],
  objdump: ['it takes objdump: apt-get install binutils', () => has('objdump')],
  wine: [
    'it takes Wine, node.exe and a cross compiler: apt-get install wine64 gcc-mingw-w64-x86-64, node test/foreign/programs.mjs',
    () => wineCommand !== undefined && areDownloaded() && has('x86_64-w64-mingw32-gcc'),
  ],
  chromium: ['it takes /usr/bin/chromium: apt-get install chromium', () => existsSync('/usr/bin/chromium')],
  nats: ['it takes nats-server: apt-get install nats-server', () => !noServer],
  radv: [whyNoRadv() ?? '', () => whyNoRadv() === undefined],
  script: ['it takes script: apt-get install util-linux', () => has('script')],
} satisfies Record<string, [string, () => boolean]>;
export type Need = keyof typeof NEEDS;

/** @returns what is missing, for people; undefined when nothing is */
export function missing(needs: readonly Need[]): string | undefined {
  return needs.map((need) => NEEDS[need]).find(([, isHere]) => !isHere())?.[0];
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of the checkout, or of a copy of it, from its root, without the user's files. */
export async function runScript(script: string, args: readonly string[], { root = ROOT, env = {} } = {}): Promise<Ran> {
  const child = spawn(process.execPath, [script, ...args], {
    cwd: root,
    env: { ...isolated.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

/** @returns the JSON that a script wrote into a file of the scratch folder */
// biome-ignore lint/suspicious/noExplicitAny: each script has its own
export const written = (file: string): any => JSON.parse(readFileSync(join(scratch, file), 'utf8'));
