/** The description of pretended machines. */

import { beforeEach, expect, it, vi } from 'vitest';
import { Machine, thisMachine } from '#pickaxe/base/system/machine.js';
import { version } from '#pickaxe/base/system/version.js';

const pretended = vi.hoisted(() => ({
  model: undefined as string | undefined,
  platform: 'linux',
  /** The contents of /etc/os-release; undefined if there is no such file. */
  release: undefined as string | undefined,
}));

vi.mock('node:os', async (load) => ({
  ...(await load<object>()),
  cpus: () => (pretended.model === undefined ? [] : [{ model: pretended.model }]),
  arch: () => 'riscv64',
  availableParallelism: () => 12,
  platform: () => pretended.platform,
  release: () => '6.1.0',
  version: () => 'Windows 11 Pro',
}));
vi.mock('node:fs', async (load) => {
  const real = await load<typeof import('node:fs')>();
  const readFileSync = (...given: Parameters<typeof real.readFileSync>) => {
    if (given[0] !== '/etc/os-release') return real.readFileSync(...given);
    if (pretended.release === undefined) throw new Error('ENOENT');
    return pretended.release;
  };
  return { ...real, readFileSync };
});

beforeEach(() =>
  Object.assign(pretended, { model: ' Model 7 ', platform: 'linux', release: 'PRETTY_NAME="Linux 9"\n' }),
);

it('has the names of the chip and of the system', () => {
  const machine = thisMachine();
  expect(machine).toEqual({
    cpu: 'Model 7',
    cores: 12,
    os: 'linux 6.1.0 riscv64',
    osName: 'Linux 9',
    node: process.version,
    pickaxe: version,
  });
  expect(Machine.parse(machine)).toEqual(machine);
});

it.each([undefined, '', '  '])('has the architecture if the chip is called %j', (model) => {
  pretended.model = model;
  expect(thisMachine().cpu).toBe('riscv64');
});

it('has no name of a system that tells none', () => {
  pretended.release = undefined;
  expect(thisMachine().osName).toBeNull();
  pretended.release = 'NAME=x\n';
  expect(thisMachine().osName).toBeNull();
});

it('has the name that Windows tells', () => {
  Object.assign(pretended, { platform: 'win32', release: undefined });
  expect(thisMachine()).toMatchObject({ os: 'win32 6.1.0 riscv64', osName: 'Windows 11 Pro' });
});
