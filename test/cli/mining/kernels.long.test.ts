import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KernelRow } from '#pickaxe/app/composition/choose-engines.js';
import { DevicesReport } from '#pickaxe/cli/measuring/devices.js';
import { KERNEL_NAMES } from '#pickaxe/miner/engine/device.js';
import { expectShape } from '../../expect-shape.ts';
import { loadableKernels } from '../../miner/engine/cpu/loadable-kernels.ts';
import { MAIN, start } from '../pickaxe.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'pickaxe-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Runs a command to its end, with a cache of its own. */
async function pickaxe(args: string[], env: Record<string, string> = {}, main?: string) {
  const run = start(args, { XDG_CACHE_HOME: home, ...env }, main);
  const code = await run.code;
  return { code, stdout: run.lines.join('\n'), stderr: run.stderr };
}

/** The only file in the cache. */
const memory = () => join(home, 'pickaxe', readdirSync(join(home, 'pickaxe'))[0]);

/** Remembers what an idle machine would have remembered, because a busy one may remember nothing. */
function remember(main = MAIN, threads?: number): void {
  const script = fileURLToPath(new URL('../remember-speeds.mjs', import.meta.url));
  const args = [
    script,
    dirname(dirname(main)),
    join(home, 'pickaxe'),
    ...(threads === undefined ? [] : [`${threads}`]),
  ];
  expect(spawnSync(process.execPath, args, { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
}

describe('pickaxe devices', () => {
  it('says how fast every kernel is, or why it cannot be used', async () => {
    const { code, stdout } = await pickaxe(['devices', '--json']);
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as DevicesReport;
    expectShape(DevicesReport, report);
    const { cpu } = report;
    expect(cpu.kernels.map(({ name }) => name)).toEqual(KERNEL_NAMES);
    for (const { name, usable, hashesPerSecond, chosen, why } of cpu.kernels) {
      expect(usable).toBe(loadableKernels.includes(name));
      if (usable) expect(hashesPerSecond).toBeGreaterThan(0);
      else expect(hashesPerSecond).toBeUndefined();
      expect(chosen).toBe(name === cpu.kernel);
      expect(why).toMatch(
        chosen ? /^chosen: the fastest here/ : usable ? /^(slower here: \d+ % of|as fast here as) / : /./,
      );
    }
    const fastest = Math.max(...cpu.kernels.map(({ hashesPerSecond }) => hashesPerSecond ?? 0));
    expect(cpu.kernels.find(({ chosen }) => chosen)!.hashesPerSecond).toBeGreaterThanOrEqual(0.99 * fastest);
  });

  it('measures nothing that is remembered, and shows the same figures', async () => {
    remember();
    const first = await pickaxe(['devices']);
    expect(first.stdout).toMatch(/^ {6}\* \S+ +[\d.]+ MH\/s {3}chosen: the fastest here$/m);
    expect(first.stdout).toMatch(/^ {6}- .*: made for another kind of chip$/m);
    expect((await pickaxe(['devices'])).stdout).toBe(first.stdout);
  });
});

describe('pickaxe devices with --threads', () => {
  it('says what the miner will do with as many threads', async () => {
    remember(MAIN, 1);
    const { code, stdout } = await pickaxe(['devices', '--json', '--threads', '1', '--cpu-affinity', 'none']);
    expect(code).toBe(0);
    const { cpu } = JSON.parse(stdout);
    expect(cpu).toMatchObject({ threads: 1, why: expect.stringMatching(/^asked for; placed by the system, as asked/) });
    const demo = ['demo', '--devices', 'cpu', '--threads', '1', '--blocks', '1', '--duration', '60'];
    const { stderr } = await pickaxe([...demo, '--log-level', 'debug']);
    expect(stderr).toMatch(new RegExp(`INFO: cpu +.*kernel ${cpu.kernel}, 1 thread \\(`));
    expect(stderr).toMatch(new RegExp(`DEBUG: cpu +kernel ${cpu.kernel}: .*MH/s.*; 1 thread: asked for; placed`));
  });
});

describe('pickaxe bench --tune', () => {
  it('measures every kernel again and remembers it', async () => {
    remember();
    const before = readFileSync(memory(), 'utf8');
    const { code, stdout, stderr } = await pickaxe(['bench', '--tune', '--json']);
    expect(code).toBe(0);
    const isRemembered = !stderr.includes('these speeds are not remembered: only');
    expect(readFileSync(memory(), 'utf8') !== before).toBe(isRemembered);
    const { kernel, kernels, threads } = JSON.parse(stdout) as {
      kernel: string;
      kernels: KernelRow[];
      threads: number;
    };
    expect(kernels.filter(({ usable }) => usable).map(({ name }) => name)).toEqual(loadableKernels);
    expect(kernels.filter(({ chosen }) => chosen).map(({ name }) => name)).toEqual([kernel]);
    const { cpu } = JSON.parse((await pickaxe(['devices', '--json'])).stdout);
    if (isRemembered) expect(cpu).toMatchObject({ kernel, kernels, threads });
  });

  it('says when its figures cannot be remembered, and why', async () => {
    const file = join(home, 'file');
    writeFileSync(file, '');
    const { code, stdout, stderr } = await pickaxe(['bench', '--tune'], { XDG_CACHE_HOME: file });
    expect(code).toBe(0);
    expect(stdout).toContain('the fastest here');
    expect(stderr).toContain('these speeds are not remembered: ');
    // A busy machine gives another reason.
    if (!stderr.includes('agree within')) expect(stderr).toContain(file);
  });

  it('refuses --kernel', async () => {
    const { code, stderr } = await pickaxe(['bench', '--tune', '--kernel', 'wasm']);
    expect(code).toBe(2);
    expect(stderr).toContain('--kernel');
  });
});

describe('where native kernels are not built', () => {
  /** A copy of the package, without the build. */
  function unbuilt(): string {
    const root = fileURLToPath(new URL('../../../', import.meta.url));
    const copy = join(home, 'package');
    for (const part of ['dist', 'native/prebuilt', 'shaders', 'package.json']) {
      mkdirSync(dirname(join(copy, part)), { recursive: true });
      cpSync(join(root, part), join(copy, part), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
    return join(copy, 'dist/cli/main.js');
  }

  const others = /^(wasm-simdx2|wasm-simd|wasm)$/;

  it('the other kernels are used, and pickaxe says what would make it faster', async () => {
    const { code, stdout } = await pickaxe(['devices', '--json'], {}, unbuilt());
    expect(code).toBe(0);
    const { cpu } = JSON.parse(stdout) as { cpu: { kernel: string; kernels: KernelRow[] } };
    expect(cpu.kernels.filter(({ usable }) => usable).map(({ name }) => name)).toEqual(
      KERNEL_NAMES.filter((name) => others.test(name)),
    );
    expect(cpu.kernel).toMatch(others);
    expect(cpu.kernels.find(({ name }) => name === 'portable')!.why).toMatch(/^not built: .*build-native\.mjs/);
  });

  it('the other kernels are also used if the addon is there and cannot be loaded', async () => {
    const main = unbuilt();
    mkdirSync(join(home, 'package/native/build/pickaxe.node'), { recursive: true });
    for (const _ of ['measured', 'remembered']) {
      const { code, stdout } = await pickaxe(['devices', '--json'], {}, main);
      expect(code).toBe(0);
      const { cpu } = JSON.parse(stdout) as { cpu: { kernel: string; kernels: KernelRow[] } };
      expect(cpu.kernel).toMatch(others);
      expect(cpu.kernels.find(({ name }) => name === 'portable')!.why).toMatch(/^built, but cannot be loaded \(/);
    }
  });

  it('measurements do not replace those made where native kernels are built', async () => {
    remember();
    const here = await pickaxe(['devices']);
    const main = unbuilt();
    remember(main);
    const there = await pickaxe(['devices'], {}, main);
    expect((await pickaxe(['devices'])).stdout).toBe(here.stdout);
    expect((await pickaxe(['devices'], {}, main)).stdout).toBe(there.stdout);
  });

  it('the miner says what is missing at every start', async () => {
    const main = unbuilt();
    for (const start of ['first', 'second']) {
      if (start === 'second') remember(main, 1);
      const demo = ['demo', '--devices', 'cpu', '--threads', '1', '--blocks', '1', '--duration', '60'];
      const { code, stderr } = await pickaxe([...demo, '--log-format', 'text'], {}, main);
      expect(code).toBe(0);
      expect(stderr).toMatch(/kernel wasm\S*, 1 thread \(the fastest of 3 here/);
      expect(stderr.includes('as measured before')).toBe(start === 'second');
      expect(stderr).toMatch(/not built: .*build-native\.mjs/);
    }
  });
});
