/** The native addon on pretended systems: whether it loads, and which of its kernels run. */

import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { KernelName } from '#pickaxe/miner/engine/device.js';

const system = vi.hoisted(() => ({
  arch: 'x64',
  /** Whether there is a file: the addon that was built here, or a prebuilt one. */
  exists: (_path: string): boolean => false,
  /** @returns what the addon exports */
  load: (_path: string): unknown => ({}),
  bytes: (_path: string): Uint8Array => new Uint8Array(),
}));

vi.mock('node:process', async (load) => ({
  ...(await load<object>()),
  platform: 'darwin',
  get arch() {
    return system.arch;
  },
}));
vi.mock('node:fs', async (load) => {
  const real = await load<typeof import('node:fs')>();
  return {
    ...real,
    existsSync: (path: string) => system.exists(path),
    readFileSync: (path: string, ...more: [never]) =>
      String(path).endsWith('.node') ? system.bytes(path) : real.readFileSync(path, ...more),
  };
});
vi.mock('node:module', async (load) => ({
  ...(await load<object>()),
  createRequire: () => (path: string) => system.load(path),
}));

const BUILT = /native\/build\/pickaxe\.node$/;
const PREBUILT = /native\/addons\/darwin-x64\.node$/;

beforeEach(() => {
  vi.resetModules();
  Object.assign(system, { arch: 'x64', exists: () => false, load: () => ({}), bytes: () => new Uint8Array() });
});

const addon = () => import('#pickaxe/miner/engine/cpu/kernels/native-kernels.js');
const pretend = (file: RegExp, exports?: unknown) => {
  system.exists = (path) => file.test(path);
  if (exports !== undefined) system.load = () => exports;
};
const failsWith = (message: string) => {
  system.load = () => {
    throw new Error(message);
  };
};

test('without an addon there are no native kernels, cores or clocks, and the error says what to do', async () => {
  const { addonCores, loadAddon, loadNative, nativeBuild, nativeOrigin, threadClock, threadCpuMs } = await addon();
  for (const load of [loadAddon, () => loadNative('portable'), () => loadNative('avx2')]) {
    expect(load).toThrow(
      /^not built: install clang \(or gcc\) and run `node .*build-native\.mjs"?`, for two to six times/,
    );
  }
  expect([nativeOrigin(), nativeBuild(), addonCores(), threadCpuMs()]).toEqual([undefined, undefined, [], undefined]);
  const nowMs = threadClock();
  expect(Math.abs(nowMs() - performance.now())).toBeLessThan(60_000);
});

test.each([
  [BUILT, 'built-here'],
  [PREBUILT, 'prebuilt'],
])('the addon %s has the origin %s, and its bytes tell its builds apart', async (file, origin) => {
  pretend(file, { kernels: [], cores: () => [{ cpus: [0], efficiencyClass: 1 }], threadCpuMs: () => 7 });
  const paths: string[] = [];
  system.bytes = (path) => {
    paths.push(path);
    return Uint8Array.of(1, 2);
  };
  const { addonCores, nativeBuild, nativeOrigin, threadClock, threadCpuMs } = await addon();
  expect(nativeOrigin()).toBe(origin);
  expect(nativeBuild()).toEqual(Uint8Array.of(1, 2));
  expect(paths).toEqual([expect.stringMatching(file)]);
  expect(addonCores()).toEqual([{ cpus: [0], efficiencyClass: 1 }]);
  expect([threadCpuMs(), threadClock()()]).toEqual([7, 7]);
});

test('an addon that cannot be read has no bytes', async () => {
  pretend(BUILT);
  system.bytes = () => {
    throw new Error('EACCES');
  };
  expect((await addon()).nativeBuild()).toBeUndefined();
});

test.each([
  [BUILT, /^built, but cannot be loaded \(bad magic\): delete \/.*pickaxe\.node and run `node .*build-native\.mjs"?`$/],
  [PREBUILT, /^prebuilt, but cannot be loaded \(bad magic\): run `node .*build-native\.mjs"?`$/],
])('an addon %s that cannot be loaded is an error that says what to do', async (file, message) => {
  pretend(file);
  failsWith('bad magic\nTried:\n- it');
  const { addonCores, loadAddon, threadCpuMs } = await addon();
  expect(loadAddon).toThrow(message);
  expect([addonCores(), threadCpuMs()]).toEqual([[], undefined]);
});

test('the processor time is not known where the system does not report it', async () => {
  const threadCpuMs = () => {
    throw new Error('not in Wine');
  };
  pretend(BUILT, { threadCpuMs });
  expect((await addon()).threadCpuMs()).toBeUndefined();
});

describe('a native kernel', () => {
  const supported = (...names: readonly string[]) => names.map((name) => ({ name, supported: true }));

  test('searches with the addon’s kernel of its name', async () => {
    const search = vi.fn(() => 3);
    pretend(BUILT, { kernels: supported('avx512', 'portable', 'avx2'), search });
    const kernel = (await addon()).loadNative('avx2');
    const args = [new Uint32Array(31), new Int32Array(1), new Uint32Array(513)] as const;
    expect(kernel.name).toBe('avx2');
    expect(kernel.search(...args)).toBe(3);
    expect(search.mock.calls).toEqual([[2, ...args]]);
  });

  test.each<[KernelName, string, string]>([
    ['avx512x2', 'x64', 'AVX-512F'],
    ['avx512', 'x64', 'AVX-512F'],
    ['avx512vlx2', 'x64', 'AVX-512VL'],
    ['avx512vl', 'x64', 'AVX-512VL'],
    ['avx2x2long', 'x64', 'AVX2'],
    ['avx2', 'x64', 'AVX2'],
    ['sse41', 'x64', 'SSE4.1'],
    ['neonx2', 'arm64', 'NEON'],
    ['neon', 'arm64', 'NEON'],
  ])('%s is for %s with %s: elsewhere it cannot be used, and the error says why', async (name, arch, feature) => {
    const other = arch === 'x64' ? 'arm64' : 'x64';
    pretend(BUILT, { kernels: [{ name, supported: false }] });
    system.arch = arch;
    const { FOREIGN, loadNative } = await addon();
    const needs = `needs ${feature}, which this CPU (or its hypervisor or system) does not offer`;
    expect(() => loadNative(name)).toThrow(new Error(needs));
    system.arch = other;
    expect(() => loadNative(name)).toThrow(new Error(FOREIGN));
    // The reason does not depend on the addon.
    failsWith('bad magic');
    expect(() => loadNative(name)).toThrow(new Error(FOREIGN));
  });

  test('runs on every chip if it is portable', async () => {
    pretend(BUILT, { kernels: supported('portable') });
    for (const arch of ['x64', 'arm64', 'riscv64']) {
      system.arch = arch;
      expect((await addon()).loadNative('portable').name).toBe('portable');
    }
  });

  test('that is not in this build is an error that says how to build it', async () => {
    pretend(BUILT, { kernels: supported('portable') });
    const { loadNative } = await addon();
    expect(() => loadNative('avx2')).toThrow(/^not in this build: run `node .*build-native\.mjs"?`$/);
  });
});
