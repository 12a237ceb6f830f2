// The first step of `npm start` and `npm test`: installs and builds what is missing, and does nothing when the lock file and the
// sources are unchanged. It uses only Node.js, because in a fresh clone nothing is installed yet.
//
// npm runs it, too, as the script `prepare`: after `npm ci` here, when `npm install --global .` links to this folder, and in the
// clone that it makes to install pickaxe from a git URL.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmCommand } from './npm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`pickaxe needs Node.js 20.19 or newer; this is ${process.versions.node}.`);
  process.exit(2);
}

/** @returns a hash of the names and contents of files and, recursively, of folders */
function fingerprint(paths) {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}`);
  const visit = (path) => {
    if (!existsSync(path)) return;
    if (statSync(path).isDirectory()) {
      for (const name of readdirSync(path).sort()) visit(join(path, name));
    } else {
      hash.update(`\0${path}\0`).update(readFileSync(path));
    }
  };
  for (const path of paths) visit(path);
  return hash.digest('hex');
}

/** Runs `step` unless the stamp says that it ran for this fingerprint. Writes the stamp when the step has succeeded. */
function once(stamp, paths, step) {
  const now = fingerprint(paths);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return;
  step();
  writeFileSync(stamp, now);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  if (error || status !== 0) process.exit(status || 1);
}

const isPrepare = process.env.npm_lifecycle_event === 'prepare';
/** Whether npm has just installed the packages here. When it links to this folder, it does not. */
const isInstalled = isPrepare && process.env.npm_config_global !== 'true';
// Without development packages (`npm ci --omit=dev`) nothing can be built, and nothing is meant to be.
if (isInstalled && !existsSync('node_modules/typescript')) process.exit();

once('node_modules/.pickaxe-ready', ['package-lock.json', 'package.json'], () => {
  if (isInstalled) return;
  console.error('pickaxe: installing dependencies');
  const [command, ...first] = npmCommand();
  // npm hands its options on to the scripts that it runs, such as those of `npm install --global .` and `npm pack --dry-run`.
  const here = ['--global=false', '--dry-run=false'];
  run(command, [...first, 'ci', '--include=dev', '--ignore-scripts', ...here, '--loglevel=error']);
});

once('dist/.pickaxe-ready', ['src', 'tsconfig.json', 'tsconfig.web.json', 'scripts/build.mjs'], () => {
  console.error('pickaxe: building');
  run(process.execPath, ['scripts/build.mjs']);
});

// This script checks by itself whether there is anything to do: a compiler may have been installed since.
run(process.execPath, ['scripts/build-native.mjs']);
