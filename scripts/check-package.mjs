// Installs the npm package into an empty folder, as a careful user does (no install scripts), and mines with it on the
// CPU.
//
//   node scripts/check-package.mjs [TARBALL]            checks a package; without TARBALL it is packed first
//   node scripts/check-package.mjs --installed FOLDER   checks the package in the folder's node_modules, without installing it
//
// It needs a package registry for the dependencies. Its output is for the person who makes a release.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { packCheckout, runNpm } from './npm.mjs';

/** The time limit of the installation: minutes on a slow line, because WebGPU's library has 50 MB. */
const INSTALL_MS = 900_000;
/** Far longer than any of the commands takes. */
const RUN_MS = 120_000;
/** A difficulty for about one block per second, or per minute on a busy machine. */
const MINE = ['demo', '--devices', 'cpu', '--blocks', '3', '--duration', '60', '--json'];

const execute = promisify(execFile);

const npm = (args, cwd) => runNpm(args, { cwd, timeout: INSTALL_MS });

/** @returns the folder in which the package is installed */
function install(tarball, folder) {
  const home = join(folder, 'empty');
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{ "private": true }\n');
  npm(['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball], home);
  console.error(`${statSync(tarball).size} bytes, installed without scripts`);
  return home;
}

/** @throws Error when the installed package does not mine */
async function check(home, folder) {
  const program = join(home, 'node_modules/pickaxe/dist/cli/main.js');
  // The user's settings and caches must not be used.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('PICKAXE_'));
  const homes = { XDG_CACHE_HOME: join(folder, 'cache'), XDG_CONFIG_HOME: join(folder, 'config') };
  const env = { ...Object.fromEntries(own), ...homes, NO_COLOR: '1' };
  const pickaxe = (...args) => execute(process.execPath, [program, ...args], { cwd: home, env, timeout: RUN_MS });

  const version = (await pickaxe('--version')).stdout.trim();
  const { cpu, gpus, noGpu } = JSON.parse((await pickaxe('devices', '--json')).stdout);
  const mined = await pickaxe(...MINE);
  const events = mined.stdout.trim().split('\n').map(JSON.parse);
  const summary = events.find(({ type }) => type === 'summary');
  const ready = events.find(({ type, state }) => type === 'device' && state === 'ready');

  console.error(`pickaxe ${version}`);
  console.error(`  cpu     ${ready?.description ?? `no device came into service:\n${mined.stderr}`}`);
  console.error(`  native  ${cpu.native}`);
  console.error(`  gpu     ${gpus.map(({ model, why }) => `${model}: ${why}`).join('; ') || noGpu}`);
  console.error(`  mined   ${summary.accepted} accepted, ${(summary.averageHashesPerSecond / 1e6).toFixed(1)} MH/s`);
  if (!(summary.accepted > 0)) throw new Error('it accepted no block');
  if (summary.hardwareErrors > 0) throw new Error(`${summary.hardwareErrors} hardware errors`);
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { installed: { type: 'string' } } });
const folder = mkdtempSync(join(tmpdir(), 'pickaxe-package-'));
try {
  const tarball = () => (positionals[0] ? resolve(positionals[0]) : packCheckout(folder));
  const home = values.installed ? resolve(values.installed) : install(tarball(), folder);
  await check(home, folder);
} catch (error) {
  console.error(`Error: the package does not do what it should: ${error.stderr || error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
