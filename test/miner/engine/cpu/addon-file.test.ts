import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildCommand, findAddon, type System, whyNone } from '#pickaxe/miner/engine/cpu/kernels/native-kernels.js';

let folder: string;
let root: URL;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pickaxe addon-'));
  root = pathToFileURL(`${folder}/`);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
  return file;
}

const linux: System = { platform: 'linux', arch: 'arm64', glibc: () => '2.31' };
const alpine: System = { ...linux, glibc: () => undefined };

test('the addon that was built here comes first, and nothing else is looked at', () => {
  put('native/addons/linux-arm64-glibc.node');
  const path = put('native/build/pickaxe.node');
  const asked = { ...linux, glibc: () => expect.fail('asked for the C library') };
  expect(findAddon(root, asked)).toEqual({ path, origin: 'built-here' });
});

test('otherwise the package’s prebuilt addon for this system is used', () => {
  const path = put('native/addons/linux-arm64-glibc.node');
  expect(findAddon(root, linux)).toEqual({ path, origin: 'prebuilt' });
});

test.each([
  ['another chip', { ...linux, arch: 'x64' }, /^not built: install clang/],
  ['another system', { ...linux, platform: 'darwin' }, /^not built: install clang/],
  [
    'Windows',
    { ...linux, platform: 'win32', arch: 'x64' },
    /^not built: install gcc of MinGW-w64 and run `node "?.*build-native/,
  ],
  ['Windows for ARM', { ...linux, platform: 'win32' }, /^not built: there is no native build for Windows on arm64$/],
  ['another C library', alpine, /^not built: .* is for glibc, .*musl.*build-native\.mjs/],
])('no prebuilt addon is used on %s, and an error says what to do', (_, system, message) => {
  put('native/addons/linux-arm64-glibc.node');
  expect(findAddon(root, system)).toBeUndefined();
  expect(whyNone(root, system)).toMatch(message);
});

test('on Windows the prebuilt addon needs no certain C library', () => {
  const path = put('native/addons/win32-x64.node');
  const windows: System = { platform: 'win32', arch: 'x64', glibc: () => undefined };
  expect(findAddon(root, windows)).toEqual({ path, origin: 'prebuilt' });
});

test('a path with blanks is quoted in the command that builds the addon', () => {
  expect(buildCommand(root)).toMatch(/^node ".*pickaxe addon-.*build-native\.mjs"$/);
  expect(buildCommand(pathToFileURL('/opt/pickaxe/'))).toBe('node /opt/pickaxe/scripts/build-native.mjs');
});

test.runIf(process.platform === 'linux')('this system is recognized', () => {
  const path = put(`native/addons/linux-${process.arch}-glibc.node`);
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  const expected = header.glibcVersionRuntime === undefined ? undefined : { path, origin: 'prebuilt' };
  expect(findAddon(root)).toEqual(expected);
});
