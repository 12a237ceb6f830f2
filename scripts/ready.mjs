// The first step of `npm start` and `npm test`: installs and builds what is missing, and does nothing when the lock
// file and the sources are unchanged. It uses only Node.js, because in a fresh clone nothing is installed yet. With
// --no-install it only builds: vitest calls it so before the first test, and must not have its own packages replaced.
//
// npm runs it, too, as the script `prepare`: after `npm ci` here, when `npm install --global .` links to this folder,
// and in the clone that it makes to install pickaxe from a git URL.

import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { npmCommand } from './npm.mjs';
import { BUILT, fingerprint, INSTALLED, isDone } from './stamp.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`pickaxe needs Node.js 20.19 or newer; this is ${process.versions.node}.`);
  process.exit(2);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  if (error || status !== 0) process.exit(status || 1);
}

function install() {
  console.error('pickaxe: installing dependencies');
  const [command, ...first] = npmCommand();
  // npm hands its options on to the scripts that it runs, such as those of `npm install --global .` and `npm pack
  // --dry-run`.
  const here = ['--global=false', '--dry-run=false'];
  run(command, [...first, 'ci', '--include=dev', '--ignore-scripts', ...here, '--loglevel=error']);
}

const isPrepare = process.env.npm_lifecycle_event === 'prepare';
/** Whether npm has just installed the packages here, which it does not do when it links to this folder. */
const isInstalled = isPrepare && process.env.npm_config_global !== 'true';
// Without development packages (`npm ci --omit=dev`) nothing can be built, and nothing is meant to be.
if (isInstalled && !existsSync('node_modules/typescript')) process.exit();

if (!process.argv.includes('--no-install')) {
  if (!isDone(INSTALLED)) {
    const now = fingerprint(INSTALLED.from);
    if (!isInstalled) install();
    writeFileSync(INSTALLED.stamp, now);
  }
} else if (existsSync(INSTALLED.stamp) && !isDone(INSTALLED)) {
  console.error('pickaxe: package.json or package-lock.json has changed since the last install: npm test installs it');
}

if (isDone(BUILT)) {
  // This script checks by itself whether there is anything to do: a compiler may have been installed since.
  run(process.execPath, ['scripts/build-native.mjs']);
} else {
  console.error('pickaxe: building');
  run(process.execPath, ['scripts/build.mjs']);
}
