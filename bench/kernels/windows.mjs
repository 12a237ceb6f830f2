// Compares the CPU kernels of the addon for Windows, in Windows' Node.js under Wine, with those of Linux: in turns, on
// one CPU.
//
//   node bench/kernels/windows.mjs [--rounds 5] [--seconds 4] [--cpu 0] [--out FILE] [kernel …]
//
// A round is one process on each system. The addon is built first, which needs what scripts/build-addons.mjs names. It
// also needs Wine (on Debian: apt-get install wine64) and node.exe (node test/foreign/programs.mjs downloads it).

import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadKernels } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { windowsNode } from '../../test/foreign/programs.mjs';
import {
  copyWindows,
  endWine,
  makeOriginal,
  wineCommand,
  wineEnvironment,
  wineServer,
} from '../../test/foreign/wine.mjs';
import { median, printHeading, printTable, save } from '../lib/figures.mjs';

/** The kernels of the addon for Windows, and the best of WebAssembly. */
const KERNELS = [
  'avx512x2',
  'avx512',
  'avx512vlx2',
  'avx512vl',
  'avx2x2long',
  'avx2x2',
  'avx2',
  'sse41',
  'portable',
  'wasm-simd',
];
const root = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = 'bench/kernels/kernel-rates.mjs';
const RUN_MS = 300_000;

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    cpu: { type: 'string', default: '0' },
    out: { type: 'string' },
  },
  allowPositionals: true,
});
const rounds = Number(values.rounds);
if (!(Number.isInteger(rounds) && rounds > 0)) throw new Error(`--rounds takes a whole number, not ${values.rounds}`);
if (!(Number(values.seconds) > 0)) throw new Error(`--seconds takes a number above 0, not ${values.seconds}`);
if (!/^\d+$/.test(values.cpu)) throw new Error(`--cpu takes the number of a CPU, not ${values.cpu}`);

if (!wineCommand || !wineServer) throw new Error('there is no Wine (on Debian: apt-get install wine64)');
if (!existsSync(windowsNode)) throw new Error('there is no node.exe (node test/foreign/programs.mjs downloads it)');

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-windows-'));
const env = wineEnvironment(folder);

/** Runs a program with files for its input and output: Node.js cannot use pipes under Wine. @returns the output */
function run(program, args) {
  const [input, output, errors] = ['input', 'output', 'errors'].map((name) => join(folder, name));
  writeFileSync(input, '');
  const stdio = [openSync(input, 'r'), openSync(output, 'w'), openSync(errors, 'w')];
  const { status, error } = spawnSync(program, args, { env, cwd: folder, stdio, timeout: RUN_MS });
  for (const file of stdio) closeSync(file);
  if (error || status !== 0) {
    throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? readFileSync(errors, 'utf8')}`);
  }
  return readFileSync(output, 'utf8');
}

/** Makes a package with an addon for Windows. Windows' programs do not see that the rest are links. */
function makePackage() {
  mkdirSync(join(folder, 'native'));
  for (const path of ['package.json', 'dist', 'bench', 'node_modules', 'native/prebuilt']) {
    symlinkSync(join(root, path), join(folder, path));
  }
  run(process.execPath, [join(root, 'scripts/build-addons.mjs'), join(folder, 'native/addons')]);
}

const underWine = (path) => `Z:${path.replaceAll('/', '\\')}`;

function measure(names) {
  const [wineProgram, ...wineArgs] = wineCommand;
  const args = [values.cpu, values.seconds, ...names];
  return {
    linux: JSON.parse(run(process.execPath, [join(root, SCRIPT), ...args])),
    windows: JSON.parse(run(wineProgram, [...wineArgs, windowsNode, underWine(join(folder, SCRIPT)), ...args])),
  };
}

printHeading();
try {
  makeOriginal();
  copyWindows(folder);
  makePackage();
  const names = loadKernels(positionals.length > 0 ? positionals : KERNELS).kernels.map(({ name }) => name);
  const measured = Array.from({ length: rounds }, () => measure(names));
  const results = names.map((name) => {
    const [linux, windows] = ['linux', 'windows'].map((system) => measured.map((round) => round[system][name] / 1e6));
    const ratio = median(windows.map((rate, round) => rate / linux[round]));
    return { name, linuxMHs: median(linux), windowsMHs: median(windows), ratio };
  });
  printTable(
    ['kernel', 'MH/s on Linux', 'MH/s on Windows (Wine)', 'Windows ÷ Linux'],
    results.map(({ name, linuxMHs, windowsMHs, ratio }) => [
      name,
      linuxMHs.toFixed(2),
      windowsMHs.toFixed(2),
      ratio.toFixed(3),
    ]),
  );
  save(values.out, { bench: 'windows', rounds, results });
} finally {
  endWine(env);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
