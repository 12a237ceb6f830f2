/** Tests the checks of the prebuilt addons. kernels.test.ts tests their kernels. */

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { readSharedLibrary } from '../../scripts/elf.mjs';
import { readWindowsLibrary } from '../../scripts/pe.mjs';
import { nativeIsBuilt } from '../miner/engine/cpu/loadable-kernels.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'pickaxe-addons-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const buildAddons = (...args: string[]) =>
  spawnSync(process.execPath, ['scripts/build-addons.mjs', ...args], { cwd: root, encoding: 'utf8', timeout: 300_000 });

const addons = join(temporary, 'addons');
const built = buildAddons(addons);
const skipped = built.status !== 0 && !process.env.CI;
const takes = 'the Debian packages clang lld gcc libc6-dev libc6-dev-arm64-cross gcc-mingw-w64-x86-64';

describe.skipIf(skipped)(`the prebuilt addons${skipped ? `, not tried: they take ${takes}` : ''}`, () => {
  const x64 = join(addons, 'linux-x64-glibc.node');
  const arm64 = join(addons, 'linux-arm64-glibc.node');
  const windows = join(addons, 'win32-x64.node');

  test('are built and pass their checks', () => {
    expect(built.stderr).toMatch(
      /^linux-x64-glibc: \d+ bytes, needs no library .*\nlinux-arm64-glibc: \d+ bytes, needs no library .*\nwin32-x64: \d+ bytes, needs kernel32\.dll and msvcrt\.dll\n$/,
    );
    expect(built.status).toBe(0);
  });

  test('are the same bytes when they are built again', () => {
    const again = join(temporary, 'again');
    expect(buildAddons(again)).toMatchObject({ status: 0 });
    for (const file of [x64, arm64, windows])
      expect(readFileSync(file.replace(addons, again))).toEqual(readFileSync(file));
  });

  test('must all be there', () => {
    const fewer = join(temporary, 'fewer');
    cpSync(addons, fewer, { recursive: true });
    rmSync(join(fewer, 'win32-x64.node'));
    const { status, stderr } = buildAddons('--check', fewer);
    expect(stderr).toContain('win32-x64.node is missing');
    expect(status).toBe(1);
  });

  test('are not confused with one another', () => {
    const mixed = join(temporary, 'mixed');
    cpSync(addons, mixed, { recursive: true });
    cpSync(arm64, join(mixed, 'linux-x64-glibc.node'));
    const { status, stderr } = buildAddons('--check', mixed);
    expect(stderr).toContain('linux-x64-glibc.node is for arm64');
    expect(status).toBe(1);
  });

  test.runIf(nativeIsBuilt && process.platform === 'linux' && process.arch === 'x64')(
    'must not need a library, as an addon does that was built for this machine only',
    () => {
      const own = join(temporary, 'own');
      cpSync(addons, own, { recursive: true });
      cpSync(join(root, 'native/build/pickaxe.node'), join(own, 'linux-x64-glibc.node'));
      const { status, stderr } = buildAddons('--check', own);
      expect(stderr).toMatch(
        /linux-x64-glibc\.node needs libc\.so\.6, and needs symbols of certain versions, and takes /,
      );
      expect(status).toBe(1);
    },
  );

  test('must not be missing', () => {
    const { status, stderr } = buildAddons('--check', join(temporary, 'nowhere'));
    expect(stderr).toMatch(/^Error: .*linux-x64-glibc\.node is missing\. .*scripts\/release\.mjs --make/);
    expect(status).toBe(1);
    expect(existsSync(join(temporary, 'nowhere'))).toBe(false);
  });

  test('for Windows is identified by its PE headers, and takes nothing from node.exe', () => {
    const library = readWindowsLibrary(readFileSync(windows));
    expect(library).toMatchObject({ arch: 'x64', needed: ['kernel32.dll', 'msvcrt.dll'], hardened: true });
    expect(library.exports).toContain('napi_register_module_v1');
    expect(library.imports).toContain('SetThreadGroupAffinity');
    expect(library.imports.filter((name: string) => name.startsWith('napi_'))).toEqual([]);
  });

  test('for Windows must need no library that is not part of Windows', () => {
    const foreign = join(temporary, 'foreign');
    cpSync(addons, foreign, { recursive: true });
    const bytes = readFileSync(windows);
    const at = bytes.indexOf('msvcrt.dll\0', 0, 'latin1');
    expect(at).toBeGreaterThan(0);
    bytes.write('foreig.dll', at, 'latin1');
    writeFileSync(join(foreign, 'win32-x64.node'), bytes);
    const { status, stderr } = buildAddons('--check', foreign);
    expect(stderr).toContain('win32-x64.node needs foreig.dll');
    expect(status).toBe(1);
  });

  test('are identified by their ELF headers', () => {
    expect(readSharedLibrary(readFileSync(arm64))).toMatchObject({
      arch: 'arm64',
      needed: [],
      versions: false,
      exports: expect.arrayContaining(['napi_register_module_v1']),
      executableStack: false,
    });
  });
});

describe('a file that is not a shared library', () => {
  test.each([
    ['a text', Buffer.from('#!/bin/sh\n'.repeat(20)), 'not an ELF file'],
    ['nothing', Buffer.alloc(0), 'not an ELF file'],
    ['an ELF file cut short', Buffer.from('\x7fELF\x02\x01', 'latin1'), 'not an ELF file'],
    ['another kind of ELF file', Buffer.from(`\x7fELF\x02\x01${'\0'.repeat(80)}`, 'latin1'), 'not a shared library'],
  ])('%s', (_, bytes, message) => {
    expect(() => readSharedLibrary(bytes)).toThrow(message);
  });

  test.each([
    ['a text', Buffer.from('MZ, but not a program\n'.repeat(20)), 'not a PE file'],
    ['nothing', Buffer.alloc(0), 'not a PE file'],
    ['a PE file cut short', Buffer.from(`MZ${'\0'.repeat(58)}\x40\0\0\0PE\0\0`, 'latin1'), 'not a PE file'],
  ])('for Windows: %s', (_, bytes, message) => {
    expect(() => readWindowsLibrary(bytes)).toThrow(message);
  });

  test('is an error that names the file', () => {
    const folder = mkdtempSync(join(temporary, 'text-'));
    writeFileSync(join(folder, 'linux-x64-glibc.node'), 'text');
    const { status, stderr } = buildAddons('--check', folder);
    expect(stderr).toMatch(/^Error: .*linux-x64-glibc\.node: not an ELF file/);
    expect(status).toBe(1);
  });
});
