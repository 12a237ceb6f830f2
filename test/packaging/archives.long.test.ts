/**
 * The archives of a release, unpacked where nothing is installed: those in the folder ARCHIVES, or archives of this
 * checkout with the packages that it has and the Node.js that runs the test.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '#pickaxe/base/system/version.js';
import { windowsNode } from '../foreign/programs.mjs';
import { addonsFolder } from '../native/driver.ts';
import { makeFreshCopy } from '../native/fresh-copy.ts';
import { ROOT } from '../scripts/run.ts';
import { noWine, Windows, why as whyNoWine } from '../wine/wine.ts';

/** Far longer than a build or a block takes. It may not hang the tests. */
const PATIENCE_MS = 600_000;

const home = mkdtempSync(join(tmpdir(), 'pickaxe-archives-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const given = process.env.ARCHIVES;
const made = given === undefined ? join(home, 'made') : resolve(given);
const staged = join(home, 'staged');

function whyNot(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'they are made on Linux, and run on x64 chips';
  for (const program of ['zip', 'unzip']) {
    if (spawnSync(program, ['-v']).error) return `there is no ${program} (on Debian: apt-get install zip unzip)`;
  }
  if (given !== undefined) return undefined;
  try {
    addonsFolder();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const missing = whyNot();
if (missing !== undefined && process.env.CI) throw new Error(`CI must try the archives: ${missing}`);
const why = missing === undefined ? '' : ` (skipped: ${missing})`;

function buildArchives(...args: string[]) {
  const options = { encoding: 'utf8', timeout: PATIENCE_MS } as const;
  return spawnSync(process.execPath, [join(ROOT, 'scripts/build-archives.mjs'), ...args], options);
}

/** Puts together what scripts/build-archives.mjs would install from a package registry. */
function stage(platform: string, node: string): void {
  const app = join(staged, platform, 'app');
  makeFreshCopy(app, []);
  rmSync(join(app, 'native/addons'), { recursive: true, force: true });
  cpSync(addonsFolder(), join(app, 'native/addons'), { recursive: true });
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  for (const [path, { dev }] of Object.entries<{ dev?: true }>(lock.packages)) {
    if (path === '' || dev || path.lastIndexOf('node_modules') > 0 || !existsSync(join(ROOT, path))) continue;
    cpSync(join(ROOT, path), join(app, path), { recursive: true });
  }
  mkdirSync(join(staged, platform, 'node'));
  copyFileSync(node, join(staged, platform, 'node', platform === 'win32-x64' ? 'node.exe' : 'node'));
  writeFileSync(join(staged, platform, 'node/LICENSE'), 'Node.js is licensed for use as follows\n');
}

/** Arguments for a run of a few seconds to a first block, or of a minute on a busy machine. */
const MINE = ['demo', '--devices', 'cpu', '--threads', '1', '--blocks', '1', '--duration', '60', '--json'];

function expectMined(stdout: string): void {
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const summary = events.find(({ type }) => type === 'summary');
  expect(summary.accepted).toBeGreaterThan(0);
  expect(summary.hardwareErrors).toBe(0);
  expect(events.find(({ type, state }) => type === 'device' && state === 'ready').description).toContain('; prebuilt');
}

/** @returns the paths of all files in an unpacked archive, without the miner's folder */
function filesIn(folder: string): string[] {
  const entries = readdirSync(join(folder, 'pickaxe'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(join(folder, 'pickaxe/').length));
}

/** Checks for files that every archive has, and for files that none may have. */
function expectFiles(files: readonly string[], platform: string, beside: readonly string[]): void {
  const tops = files.filter((path) => !path.includes('/'));
  expect(tops.sort()).toEqual([...beside].sort());
  const node = platform === 'win32-x64' ? 'node/node.exe' : 'node/node';
  const needed = ['app/dist/cli/main.js', 'app/shaders/scan.wgsl', 'app/LICENSE', 'app/docs/platforms.md', node];
  expect(files).toEqual(expect.arrayContaining([...needed, 'node/LICENSE', 'app/node_modules/zod/LICENSE']));
  const folders = (prefix: string) =>
    new Set(files.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length).split('/')[0]));
  expect(folders('app/node_modules/webgpu/dist/')).toEqual(new Set([platform]));
  expect([...folders('app/native/addons/')].join()).toMatch(
    platform === 'win32-x64' ? /^win32-x64\.node$/ : /^linux-x64-glibc\.node$/,
  );
  const packages = folders('app/node_modules/');
  for (const name of ['typescript', 'vitest', '@biomejs', 'playwright-core', '.bin'])
    expect(packages).not.toContain(name);
  expect(files.filter((path) => /\.(map|d\.ts)$|\.package-lock\.json$/.test(path))).toEqual([]);
}

describe.skipIf(missing !== undefined)(`the archives${why}`, { timeout: PATIENCE_MS }, () => {
  const systems = ['linux-x64', 'hiveos', 'mmpos', ...(noWine ? [] : ['windows-x64'])];
  beforeAll(() => {
    if (given !== undefined) return;
    stage('linux-x64', process.execPath);
    if (!noWine) stage('win32-x64', windowsNode);
    const only = systems.flatMap((name) => ['--only', name]);
    expect(buildArchives('--staged', staged, '--out', made, ...only)).toMatchObject({ status: 0, stderr: '' });
  }, PATIENCE_MS);

  const unpacked = (system: string) => {
    const folder = join(home, system);
    if (existsSync(folder)) return folder;
    mkdirSync(folder);
    const separator = system === 'linux-x64' ? '-' : '_';
    execFileSync('tar', ['-xzf', join(made, `pickaxe-${version}${separator}${system}.tar.gz`), '-C', folder]);
    return folder;
  };
  /** Runs the launcher with only the system's own programs of this environment. */
  const run = (system: string, args: string[], cwd = '/') =>
    spawnSync(join(unpacked(system), 'pickaxe/pickaxe'), args, {
      cwd,
      env: { PATH: '/usr/bin:/bin', HOME: join(home, 'nobody') },
      encoding: 'utf8',
      timeout: PATIENCE_MS,
    });

  test('are listed with their checksums', () => {
    const lines = readFileSync(join(made, `pickaxe-${version}.sha256`), 'utf8')
      .trimEnd()
      .split('\n');
    for (const line of lines) {
      const [sum, name] = line.split('  ');
      expect(
        createHash('sha256')
          .update(readFileSync(join(made, name)))
          .digest('hex'),
        name,
      ).toBe(sum);
    }
    expect(lines.length).toBe(systems.length + Number(given !== undefined));
  });

  test('the one for Linux mines where nothing is installed, from any folder and through a link', () => {
    const { status, stdout, stderr } = run('linux-x64', MINE);
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) });
    expectMined(stdout);
    const link = join(home, 'link');
    symlinkSync(join(unpacked('linux-x64'), 'pickaxe/pickaxe'), link);
    expect(execFileSync(link, ['--version'], { encoding: 'utf8' }).trim()).toBe(version);
  });

  test('the one for Linux has what mines there, and nothing else', () => {
    expectFiles(filesIn(unpacked('linux-x64')), 'linux-x64', ['pickaxe', 'README.txt']);
    const readme = readFileSync(join(unpacked('linux-x64'), 'pickaxe/README.txt'), 'utf8');
    expect(readme).toMatch(new RegExp(`^pickaxe ${version.replaceAll('.', '\\.')} for Linux`));
    for (const [, command] of readme.matchAll(/^ {2}\.\/pickaxe (\w+)/gm)) {
      expect(run('linux-x64', [command, '--help']).status, command).toBe(0);
    }
  });

  describe.each([
    ['hiveos', ['h-manifest.conf', 'h-config.sh', 'h-run.sh', 'h-stats.sh']],
    ['mmpos', ['mmp-external.conf', 'mmp-launch.sh', 'mmp-stats.sh']],
  ])('the one for %s', (system, scripts) => {
    test('has the scripts that the system calls, and they can be run', () => {
      expectFiles(filesIn(unpacked(system)), 'linux-x64', ['pickaxe', ...scripts]);
      const list = ['-tvzf', join(made, `pickaxe-${version}_${system}.tar.gz`)];
      const lines = execFileSync('tar', list, { encoding: 'utf8', maxBuffer: 2 ** 24 })
        .trimEnd()
        .split('\n');
      const files = lines.map((line) => ({ mode: line.slice(0, 10), path: / (pickaxe\/\S*)/.exec(line)?.[1] }));
      expect(files.every(({ path }) => path?.startsWith('pickaxe/'))).toBe(true);
      for (const script of [...scripts, 'pickaxe', 'node/node']) {
        const file = files.find(({ path }) => path === `pickaxe/${script}`);
        expect(file?.mode, script).toBe(script.endsWith('.conf') ? '-rw-r--r--' : '-rwxr-xr-x');
      }
    });

    test('names the version, and starts pickaxe on the Node.js in it', () => {
      const manifest = join(unpacked(system), 'pickaxe', scripts[0]);
      const value = `. ${manifest}; echo "$CUSTOM_VERSION$EXTERNAL_VERSION"`;
      expect(execFileSync('bash', ['--norc', '-c', value], { encoding: 'utf8' }).trim()).toBe(version);
      expect(run(system, ['--version'])).toMatchObject({ status: 0, stdout: `${version}\n` });
    });
  });

  describe.skipIf(noWine)(`the one for Windows${whyNoWine}`, () => {
    let windows: Windows;
    let folder: string;
    beforeAll(() => {
      windows = Windows.open();
      folder = join(windows.drive, 'my rig');
      mkdirSync(folder);
      execFileSync('unzip', ['-q', join(made, `pickaxe-${version}-windows-x64.zip`), '-d', folder]);
    }, PATIENCE_MS);
    afterAll(() => windows?.close());
    const pickaxe = (...args: string[]) =>
      windows.run('cmd', ['/c', 'pickaxe.cmd', ...args], { cwd: join(folder, 'pickaxe') });

    test('has what mines there, and nothing else, with the line ends of Windows', () => {
      expectFiles(filesIn(folder), 'win32-x64', ['pickaxe.cmd', 'README.txt']);
      for (const name of ['pickaxe.cmd', 'README.txt']) {
        expect(readFileSync(join(folder, 'pickaxe', name), 'utf8')).toMatch(/^([^\r\n]*\r\n)+$/);
      }
    });

    test('passes on what is typed, and the exit code', async () => {
      expect(await pickaxe('--version')).toMatchObject({ code: 0, stdout: `${version}\n` });
      expect(await pickaxe('nonsense')).toMatchObject({ code: 2, stderr: expect.stringContaining('nonsense') });
    });

    test('mines', async () => {
      const { code, stdout, stderr } = await pickaxe(...MINE);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
      expectMined(stdout);
    });
  });

  describe.skipIf(given !== undefined)('are built', () => {
    /** A folder with the minimum of files that the script needs. */
    function little(name: string): string {
      const folder = join(home, name);
      const app = join(folder, 'linux-x64/app');
      cpSync(addonsFolder(), join(app, 'native/addons'), { recursive: true });
      for (const file of [
        'app/node_modules/webgpu/dist/linux-x64/dawn.node',
        'app/b.js',
        'app/a.js',
        'node/LICENSE',
        'node/node',
      ]) {
        mkdirSync(dirname(join(folder, 'linux-x64', file)), { recursive: true });
        writeFileSync(join(folder, 'linux-x64', file), file);
      }
      return folder;
    }
    const build = (from: string, ...only: string[]) =>
      buildArchives('--staged', from, '--out', `${from}-made`, ...only.flatMap((name) => ['--only', name]));

    test('from the same files as the same bytes, whatever their times and modes', () => {
      const [one, other] = [little('one'), little('other')];
      chmodSync(join(other, 'linux-x64/app/a.js'), 0o600);
      utimesSync(join(other, 'linux-x64/app/b.js'), 1, 1);
      cpSync(join(one, 'linux-x64'), join(one, 'win32-x64'), { recursive: true });
      cpSync(join(other, 'linux-x64'), join(other, 'win32-x64'), { recursive: true, preserveTimestamps: true });
      for (const each of [one, other]) {
        expect(build(each, 'linux-x64', 'windows-x64')).toMatchObject({ status: 0, stderr: '' });
      }
      const sums = [one, other].map((each) => readFileSync(join(`${each}-made`, `pickaxe-${version}.sha256`), 'utf8'));
      expect(sums[0]).toBe(sums[1]);
      expect(sums[0]).toMatch(/^[\da-f]{64} {2}\S+\.tar\.gz\n[\da-f]{64} {2}\S+\.zip\n$/);
    });

    test('not with another Node.js than its makers publish, if that is at hand', () => {
      const folder = little('compared');
      const sums = mkdtempSync(join(home, 'dist-'));
      writeFileSync(join(sums, 'SHASUMS256.txt'), '');
      expect(build(folder, 'linux-x64').stdout).toContain('was not compared with what its makers publish: --node-dist');
      const refused = buildArchives(
        '--staged',
        folder,
        '--out',
        `${folder}-2`,
        '--only',
        'linux-x64',
        '--node-dist',
        sums,
      );
      expect(refused).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/^Error: .*linux-x64\.tar\.gz is missing/),
      });
      expect(readdirSync(`${folder}-2`)).toEqual([]);
    });

    test('not without the native addons, not with links, and not under other names', () => {
      const without = little('without');
      rmSync(join(without, 'linux-x64/app/native/addons/linux-x64-glibc.node'));
      const refused = build(without, 'linux-x64');
      expect(refused.stderr).toMatch(/^Error: .*linux-x64-glibc\.node is missing\. .*scripts\/release\.mjs/);
      expect(refused.status).toBe(1);
      const linked = little('linked');
      symlinkSync('a.js', join(linked, 'linux-x64/app/c.js'));
      expect(build(linked, 'linux-x64')).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('c.js is no file'),
      });
      const named = build(linked, 'beos');
      expect(named).toMatchObject({ status: 2, stderr: expect.stringContaining('there is no archive beos') });
      for (const each of [without, linked]) expect(readdirSync(`${each}-made`)).toEqual([]);
    });
  });
});
