/**
 * `npm start` in a fresh checkout, typed into Windows' command line. Only the installation of the packages is replaced.
 */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { npmCommand } from '../../scripts/npm.mjs';
import { windowsNode, windowsTypeScript } from '../foreign/programs.mjs';
import { ROOT } from '../scripts/run.ts';
import { build, noCompiler, whyNoCompiler } from './mingw.ts';
import { noWine, Windows, why } from './wine.ts';

const [, npmProgram] = npmCommand();
const noNpm = npmProgram === undefined;
if (noNpm && process.env.CI) throw new Error('CI must try npm start: run this by npm, or put npm beside Node.js');
const whyNoNpm = noNpm ? ' (skipped: it is not known where npm is)' : '';
const CHECKOUT = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.web.json',
  'src',
  'scripts',
  'native',
  'shaders',
];

/** Runs npm itself, except for `npm ci`, which would need a package registry. It only notes that it was asked for. */
const NPM_CLI = `
  if (process.argv[2] === 'ci') require('node:fs').appendFileSync('asked', process.argv.slice(2).join(' ') + '\\n');
  else require('../lib/cli.js')(process);
`;

describe.skipIf(noWine || noCompiler || noNpm)(`on Windows${why}${whyNoCompiler}${whyNoNpm}`, () => {
  let windows: Windows;
  let checkout: string;
  beforeAll(async () => {
    windows = Windows.open();
    build('bcryptprimitives.c', join(windows.drive, 'windows/system32/bcryptprimitives.dll'), '-shared', '-ladvapi32');

    const nodejs = join(windows.drive, 'nodejs');
    const npm = dirname(dirname(npmProgram));
    mkdirSync(join(nodejs, 'node_modules/npm'), { recursive: true });
    symlinkSync(windowsNode, join(nodejs, 'node.exe'));
    cpSync(join(npm, 'bin/npm.cmd'), join(nodejs, 'npm.cmd'));
    const copy = join(nodejs, 'node_modules/npm');
    cpSync(join(npm, 'bin'), join(copy, 'bin'), { recursive: true });
    for (const name of ['lib', 'node_modules', 'package.json']) symlinkSync(join(npm, name), join(copy, name));
    writeFileSync(join(copy, 'bin/npm-cli.js'), NPM_CLI);

    checkout = join(windows.drive, 'pick äxe');
    const filter = (path: string) => !/native[/\\](build|addons)/.test(path);
    for (const name of CHECKOUT) cpSync(join(ROOT, name), join(checkout, name), { recursive: true, filter });
    const packages = join(checkout, 'node_modules');
    mkdirSync(join(packages, '@typescript'), { recursive: true });
    for (const name of readdirSync(join(ROOT, 'node_modules')).filter((each) => !/^(\.|@typescript$)/.test(each))) {
      symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
    }
    symlinkSync(windowsTypeScript, join(packages, '@typescript/typescript-win32-x64'));
  });
  afterAll(() => windows?.close());

  const start = () => {
    const line = 'set PATH=C:\\nodejs;%PATH%&& npm start -- --devices cpu --blocks 1';
    return windows.run('cmd', ['/c', line], { cwd: checkout });
  };

  const asked = () => readFileSync(join(checkout, 'asked'), 'utf8');

  test('it installs, builds, and mines', async () => {
    const first = await start();
    expect(first).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/installing dependencies\npickaxe: building\n/),
    });
    expect(first.stderr).toMatch(/miner [1-9] accepted, 0 rejected/);
    expect(asked()).toBe('ci --include=dev --ignore-scripts --global=false --dry-run=false --loglevel=error\n');
    for (const file of ['cli/main.js', 'rig/page/index.html', 'rig/page/main.js']) {
      expect(existsSync(join(checkout, 'dist', file)), file).toBe(true);
    }
  });

  test('a second time it only mines', async () => {
    const second = await start();
    expect(second.stderr).not.toMatch(/installing|building/);
    expect(second.stderr).toMatch(/miner [1-9] accepted, 0 rejected/);
    expect(asked()).toMatch(/^ci.*\n$/);
  });
});
