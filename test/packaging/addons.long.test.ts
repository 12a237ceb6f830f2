/** Tests the packed npm package with the prebuilt addons that a release carries, also on an emulated ARM chip. */

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isolated } from '../cli/pickaxe.ts';
import { armNode } from '../foreign/programs.mjs';
import { addonsFolder } from '../native/driver.ts';
import { DEMO, MINE_MS, mine, native, newCopy } from './packed.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const { copy, main } = newCopy(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));

function whyNoAddons(): string | undefined {
  if (process.platform !== 'linux') return 'they are made for Linux';
  try {
    cpSync(addonsFolder(), join(copy, 'carried'), { recursive: true });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const why = whyNoAddons();
const skipped = why !== undefined && !process.env.CI;

/** The emulator, with the C library that Debian's cross compiler brings. */
const EMULATOR = ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu'];

function whyNoArm(): string | undefined {
  if (spawnSync(EMULATOR[0], ['--version']).error)
    return 'there is no qemu-aarch64-static (on Debian: qemu-user-static)';
  if (!existsSync(armNode)) return 'there is no Node.js for ARM (node test/foreign/programs.mjs downloads it)';
  return undefined;
}

const whyNot = why ?? whyNoArm();
const noArm = whyNot !== undefined && !process.env.CI;

describe.skipIf(noArm)(`on ARM, emulated${noArm ? `, not tried: ${whyNot}` : ''}`, () => {
  beforeAll(() => cpSync(join(copy, 'carried'), join(copy, 'native/addons'), { recursive: true }));
  afterAll(() => rmSync(join(copy, 'native/addons'), { recursive: true }));

  /** Runs pickaxe by Node.js for ARM. @returns the JSON objects that it printed */
  function onArm(...args: string[]) {
    const [command, ...rest] = [...EMULATOR, armNode, main, ...args, '--json'];
    const { status, stdout, stderr } = spawnSync(command, rest, { ...isolated, encoding: 'utf8', timeout: MINE_MS });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) });
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  test('it lists the NEON kernels of the prebuilt addon', () => {
    const [{ cpu }] = onArm('devices');
    expect(cpu.native).toBe('prebuilt');
    const usable = cpu.kernels
      .filter((each: { usable: boolean }) => each.usable)
      .map(({ name }: { name: string }) => name);
    expect(usable).toEqual(expect.arrayContaining(['neonx2', 'neon', 'portable']));
  });

  test('it mines with them', () => {
    const [summary] = onArm(...DEMO, '--devices', 'cpu', '--kernel', 'neon').filter(({ type }) => type === 'summary');
    expect(summary.accepted).toBeGreaterThan(0);
    expect(summary.hardwareErrors).toBe(0);
  });
});

describe.skipIf(skipped)(`with the addons that a release carries${skipped ? `, not tried: ${why}` : ''}`, () => {
  beforeAll(() => cpSync(join(copy, 'carried'), join(copy, 'native/addons'), { recursive: true }));

  test('it mines with the prebuilt one, and says so', async () => {
    const cpu = await mine(main);
    expect(cpu).not.toMatch(/kernel wasm/);
    expect(cpu).toContain('; prebuilt');
    expect(await native(main)).toBe('prebuilt');
  });

  test('an addon that cannot be loaded is not used, and it mines on WebAssembly', async () => {
    writeFileSync(join(copy, `native/addons/linux-${process.arch}-glibc.node`), 'not an addon');
    const cpu = await mine(main);
    expect(cpu).toMatch(/kernel wasm\S*, /);
    expect(cpu).toMatch(/prebuilt, but cannot be loaded \(.+\): run `node .*build-native\.mjs`/);
  });
});
