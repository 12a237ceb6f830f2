/** Tests the packed npm package: its files, and that it mines with nothing but its dependencies. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runNpm } from '../scripts/npm.mjs';
import { isolated, start } from './cli/pickaxe.ts';
import { makeFreshCopy } from './native/fresh-copy.ts';
import { DEMO, MINE_MS, mine, native, newCopy } from './packaging/packed.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });

/**
 * The maximum size of the unpacked package in bytes: a twentieth more than its 6.7 MB, so that one large file too many
 * shows.
 */
const MAX_BYTES = 7_000_000;

/** The files that may be in the package. */
const ALLOWED = [
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
  /^docs\/((README|[a-z-]+)\.md|images\/[a-z-]+\.png)$/,
  /^examples\/(README\.md|[a-z-]+\.mjs)$/,
  /^dist\/.+\.(js|d\.ts)$/,
  /^dist\/(rig\/page(\/style)?|fleet\/page)\/[a-z]+\.(html|css|svg)$/,
  /^dist\/mock-node\/contracts\/[a-z0-9-]+\.pact$/,
  /^shaders\/(README\.md|[a-z-]+\.wgsl)$/,
  /^native\/(README\.md|[a-z0-9-]+(\.generated)?\.[ch])$/,
  /^native\/build\/[a-z0-9]+\.S$/,
  /^native\/prebuilt\/(scan[a-z0-9-]*\.wasm|sources\.sha256)$/,
  /^native\/addons\/(linux-(x64|arm64)-glibc|win32-x64)\.node$/,
  /^packaging\/systemd\/[a-z./-]+\.service$/,
  /^packaging\/logrotate\/pickaxe$/,
  /^scripts\/(build-native|compile-addon|native-sources)\.mjs$/,
];

/**
 * Some files that must be in the package. Without them, an installed pickaxe could not mine or not build its kernels.
 */
const NEEDED = [
  'dist/cli/main.js',
  'dist/miner/engine/cpu/worker-thread.js',
  'dist/miner/engine/gpu/child/child-main.js',
  'dist/rig/page/index.html',
  'dist/mock-node/contracts/coin.pact',
  'dist/rig/page/main.js',
  'native/prebuilt/scan-simd.wasm',
  'native/addon.c',
  'native/build/avx2x2.S',
  'shaders/scan.wgsl',
  'scripts/build-native.mjs',
  'docs/devices.md',
];

describe('the npm package', () => {
  const packed = runNpm(['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root });
  const [{ files, unpackedSize }] = JSON.parse(packed) as [
    { files: { path: string; mode: number }[]; unpackedSize: number },
  ];
  const paths = files.map(({ path }) => path);

  test('contains the expected files and nothing else', () => {
    expect(paths.filter((path) => !ALLOWED.some((allowed) => allowed.test(path)))).toEqual([]);
    expect(paths).toEqual(expect.arrayContaining(NEEDED));
    expect(unpackedSize).toBeLessThan(MAX_BYTES);
  });

  test('has a command that can be run', () => {
    expect(manifest.bin).toEqual({ pickaxe: 'dist/cli/main.js' });
    expect(files.find(({ path }) => path === manifest.bin.pickaxe)!.mode & 0o111).not.toBe(0);
    expect(readFileSync(join(root, manifest.bin.pickaxe), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test('runs no script when it is installed', () => {
    // npm runs `prepare` for checkouts alone.
    const isRun = /^((pre|post)?install|dependencies)$/;
    expect(Object.keys(manifest.scripts).filter((name) => isRun.test(name))).toEqual([]);
  });
});

const { main } = newCopy(dependencies);

test('unpacked beside its dependencies, it mines on WebAssembly, and says so', async () => {
  const cpu = await mine(main);
  expect(cpu).toMatch(/^.*kernel wasm\S*, /);
  expect(cpu).toContain('not built');
  expect(await native(main)).toBe('none');
});

describe('installed without its optional packages', () => {
  // The test must not run in the other copy, whose packages Node.js would find.
  const home = mkdtempSync(join(tmpdir(), 'pickaxe-without-'));
  const folder = join(home, 'node_modules');
  const program = join(folder, 'pickaxe/dist/cli/main.js');
  const missing =
    /the package webgpu, through which GPUs mine, is not installed: install .*\(not with --omit=optional\)/;
  beforeAll(() => makeFreshCopy(join(folder, 'pickaxe'), Object.keys(manifest.dependencies)));
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  /** @returns the printed JSON */
  async function report(...args: string[]) {
    const run = start([...args, '--json'], {}, program);
    const code = await run.code;
    return { code, stderr: run.stderr, ...JSON.parse(run.lines.join('')) };
  }

  test('the packages that it lacks are those without which it mines on the CPU', () => {
    expect(Object.keys(manifest.optionalDependencies)).toEqual(['koffi', 'webgpu']);
    for (const name of ['koffi', 'webgpu']) expect(existsSync(join(folder, 'pickaxe/node_modules', name))).toBe(false);
  });

  test('devices and doctor say why there is no GPU, and what to install', async () => {
    expect(await report('devices')).toMatchObject({ code: 0, gpus: [], noGpu: expect.stringMatching(missing) });
    const { findings } = await report('doctor');
    const aboutGpu = findings.filter(({ about }: { about: string }) => about === 'GPU');
    expect(aboutGpu.length).toBeGreaterThan(0);
    for (const { what, remedy = '' } of aboutGpu) expect(`${what}: ${remedy}`).toMatch(missing);
  });

  test('the CPU mines and is measured; the GPU that was asked for is not, with the reason', async () => {
    const mined = start([...DEMO, '--devices', 'cpu', '--json'], {}, program);
    expect({ code: await mined.code, stderr: mined.stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    expect(mined.events('summary')[0].accepted).toBeGreaterThan(0);
    // The default number of nonces takes this kernel half a minute on an idle machine, and far longer on a busy one.
    const quick = ['bench', '--seconds', '0.1', '--threads', '1', '--kernel', 'wasm', '--count', '65536'];
    const { devices } = await report(...quick);
    expect(devices).toMatchObject([{ name: 'cpu', runs: [{ errors: [] }] }]);
    const asked = start([...DEMO, '--devices', 'gpu'], {}, program);
    expect(await asked.code).toBe(3);
    expect(asked.stderr).toMatch(missing);
  });

  test('the library lists no GPU, mines on the CPU, and its types need nothing more', () => {
    writeFileSync(
      join(home, 'use.mts'),
      `import { CpuEngine, DeviceError, listGpus } from 'pickaxe';
      const none = await listGpus().catch((error: unknown) => error);
      if (none instanceof DeviceError) console.log(none.fault, none.message);
      const cpu = new CpuEngine({ threads: 1, kernel: 'wasm' });
      await cpu.open();
      await cpu.close();`,
    );
    const typescript = join(root, 'node_modules/typescript/bin/tsc');
    symlinkSync(join(root, 'node_modules/@types'), join(folder, '@types'));
    const flags = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', 'use.mts'];
    const options = { ...isolated, cwd: home, encoding: 'utf8', timeout: MINE_MS } as const;
    expect(spawnSync(process.execPath, [typescript, ...flags], options).stdout).toBe('');
    const { status, stdout, stderr } = spawnSync(process.execPath, ['use.mjs'], options);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(missing);
    expect(stdout).toMatch(/^missing /);
  });
});
