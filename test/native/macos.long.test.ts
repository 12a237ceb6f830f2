/**
 * The addon for macOS is compiled and linked by clang and lld, without Apple's SDK. The tests check that the sources
 * and the assembly are accepted for both kinds of chip, and that all missing functions are in macOS or Node.js. The
 * addon cannot be run here.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { addonSources, compileAddon, nodeApiHeaders } from '../../scripts/compile-addon.mjs';
import { MACOS_HEADERS } from './macos-headers.ts';

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-macos-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const headers = join(folder, 'headers');
for (const [name, text] of Object.entries(MACOS_HEADERS)) {
  mkdirSync(dirname(join(headers, name)), { recursive: true });
  writeFileSync(join(headers, name), `#pragma once\n${text}\n`);
}

/** The functions that the addon takes from macOS. */
const SYSTEM = [
  '__error',
  'clock_gettime',
  'pthread_set_qos_class_self_np',
  'snprintf',
  'strerror',
  'sysctlbyname',
  '__stack_chk_fail',
  '__stack_chk_guard',
];
/** The functions that it takes from Node.js. */
const NODE = readFileSync(new URL('../../native/node-api-windows.c', import.meta.url), 'utf8').match(/\bnapi_\w+/g)!;
/** On x64, Apple's clang links its own library, which detects the features of the chip. */
const CLANG_LIBRARY = ['__cpu_model', '__cpu_indicator_init'];

/** The numbers of a Mach-O file (mach-o/loader.h). */
const MAGIC_64 = 0xfeedfacf;
const SHARED_LIBRARY = 6;

const targets = [
  { target: 'arm64-apple-macos11', cpu: 0x0100000c, symbols: [...SYSTEM, ...NODE] },
  { target: 'x86_64-apple-macos11', cpu: 0x01000007, symbols: [...SYSTEM, ...NODE, ...CLANG_LIBRARY] },
];

const build = async (target: string, symbols: readonly string[], output: string) => {
  const objects = mkdtempSync(join(folder, 'objects-'));
  return compileAddon({
    compiler: `clang --target=${target} -nostdlibinc -isystem ${headers} -Werror -Qunused-arguments`,
    platform: 'darwin',
    sources: await addonSources(),
    include: nodeApiHeaders(),
    linkFlags: [
      ...[
        '-fuse-ld=lld',
        '-nostdlib',
        '-Wl,-platform_version,macos,11.0,11.0',
        '-Wl,-undefined,error',
        '-Wl,-U,dyld_stub_binder',
      ],
      ...symbols.map((symbol) => `-Wl,-U,_${symbol}`),
    ],
    folder: objects,
    output,
  });
};

const missing = ['clang', 'ld.lld'].filter((program) => spawnSync(program, ['--version']).status !== 0);
const skipped = missing.length > 0 && !process.env.CI;

describe.skipIf(skipped)(
  `the addon for macOS${skipped ? `, not tried: there is no ${missing.join(' and ')}` : ''}`,
  () => {
    test.each(targets)('is compiled and linked for $target', async ({ target, cpu, symbols }) => {
      const output = join(folder, `${target}.node`);
      expect(await build(target, symbols, output)).toBeUndefined();
      const bytes = readFileSync(output);
      expect([0, 4, 12].map((at) => bytes.readUInt32LE(at))).toEqual([MAGIC_64, cpu, SHARED_LIBRARY]);
      expect(bytes.includes('_napi_register_module_v1')).toBe(true);
    });

    test('would not be linked if it needed a function that macOS does not have', async () => {
      const [{ target, symbols }] = targets;
      const without = symbols.filter((symbol) => symbol !== 'sysctlbyname');
      const failure = await build(target, without, join(folder, 'incomplete.node'));
      expect(failure).toContain('undefined symbol: _sysctlbyname');
    });
  },
);
