/** `pickaxe devices` on a pretended machine. */

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DevicesReport, kernelLines, usedKernel } from '#pickaxe/cli/measuring/devices.js';
import type { Survey } from '#pickaxe/miner/engine/cpu/kernels/choose.js';
import { FOREIGN } from '#pickaxe/miner/engine/cpu/kernels/native-kernels.js';
import { KERNEL_NAMES, type KernelName } from '#pickaxe/miner/engine/device.js';
import type { Gpu } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import { pickaxe } from '../in-process.ts';

const machine = vi.hoisted(() => ({
  surveys: [] as Survey[],
  gpus: [] as Gpu[],
  noGpu: undefined as Error | undefined,
  origin: undefined as string | undefined,
  softwareGpu: undefined as boolean | undefined,
  again: undefined as boolean | undefined,
}));

vi.mock('#pickaxe/miner/engine/cpu/kernels/choose.js', async (load) => ({
  ...(await load<object>()),
  surveyKernels: async (_: unknown, again?: boolean) => {
    machine.again = again;
    return machine.surveys;
  },
}));
vi.mock('#pickaxe/miner/engine/cpu/kernels/native-kernels.js', async (load) => ({
  ...(await load<object>()),
  nativeOrigin: () => machine.origin,
}));
vi.mock('#pickaxe/miner/engine/cpu/cpu-sensors.js', async (load) => ({
  ...(await load<object>()),
  openCpuSensors: async ({ threads }: { threads: number }) => ({ what: `temperature from ${threads} thread` }),
}));
vi.mock('../pretended-io.ts', async (load) => {
  const real = await load<typeof import('../pretended-io.ts')>();
  const listGpus = async ({ softwareGpu }: { softwareGpu?: boolean } = {}) => {
    machine.softwareGpu = softwareGpu;
    if (machine.noGpu) throw machine.noGpu;
    return machine.gpus;
  };
  return { ...real, pretendedIo: (given: object) => Object.assign(real.pretendedIo(given), { listGpus }) };
});
// The legend of the kernels tells how many threads were busy.
vi.mock('node:os', async (load) => ({ ...(await load<object>()), availableParallelism: () => 3 }));

/** Only these kernels can be used here, and the first of them is the fastest. */
const survey = (speeds: Partial<Record<KernelName, number>>, changes: Partial<Survey> = {}): Survey => {
  const names = Object.keys(speeds) as KernelName[];
  const others = KERNEL_NAMES.filter((name) => !names.includes(name));
  const [fastest] = names;
  return {
    threads: 1,
    speeds,
    unusable: new Map(others.map((name) => [name, FOREIGN])),
    ...(fastest !== undefined && { fastest }),
    ...changes,
  };
};

const card = (name: string, usable: boolean, changes: Partial<Gpu> = {}): Gpu => ({
  name,
  model: 'a card',
  backend: 'vulkan',
  vendor: 'nvidia',
  driver: 'a driver',
  software: false,
  usable,
  why: usable ? 'a GPU' : 'a software renderer',
  ...changes,
});

beforeEach(() => {
  Object.assign(machine, { surveys: [survey({ 'wasm-simd': 4e6, wasm: 2e6 })], gpus: [], noGpu: undefined });
  machine.origin = undefined;
});

const devices = (...args: string[]) => pickaxe('devices', '--threads', '1', ...args);

async function devicesJson(...args: string[]) {
  const { code, stdout, stderr } = await devices('--json', ...args);
  expect(stderr).toBe('');
  return { code, json: DevicesReport.parse(JSON.parse(stdout)) };
}

describe('pickaxe devices', () => {
  it('lists the CPU’s kernels and the GPUs', async () => {
    machine.gpus = [card('gpu0', true, { bus: '0000:01:00.0' }), card('gpu1', false, { software: true })];
    machine.origin = 'built-here';
    const { code, json } = await devicesJson();
    expect(code).toBe(0);
    expect(machine.again).toBeUndefined();
    expect(json.cpu).toMatchObject({ name: 'cpu', model: json.machine.cpu, kernel: 'wasm-simd', native: 'built-here' });
    expect(json.cpu).toMatchObject({ threads: 1, sensors: 'temperature from 1 thread' });
    expect(json.cpu.kernels.filter(({ usable }) => usable)).toEqual([
      { name: 'wasm-simd', usable: true, chosen: true, hashesPerSecond: 4e6, why: 'chosen: the fastest here' },
      { name: 'wasm', usable: true, chosen: false, hashesPerSecond: 2e6, why: 'slower here: 50 % of wasm-simd' },
    ]);
    expect(json.gpus).toEqual(machine.gpus);
    expect('noGpu' in json).toBe(false);
  });

  it('shows them to people', async () => {
    machine.gpus = [card('gpu0', true, { bus: '0000:01:00.0' }), card('gpu1', false)];
    machine.origin = 'built-here';
    const { code, stdout } = await devices();
    expect(code).toBe(0);
    const [model, kernel, ...lines] = stdout.split('\n');
    expect(model).toMatch(/^cpu {3}\S/);
    expect(kernel).toMatch(/^ {6}kernel wasm-simd, 1 thread \(.+\)$/);
    const foreign = KERNEL_NAMES.filter((name) => !['wasm-simd', 'wasm'].includes(name)).join(', ');
    expect(lines).toEqual([
      '      native kernels: built here',
      '      sensors: temperature from 1 thread',
      '      * wasm-simd      4.0 MH/s   chosen: the fastest here',
      '      + wasm           2.0 MH/s   slower here: 50 % of wasm-simd',
      `      - ${foreign}: ${FOREIGN}`,
      '      MH/s of one thread; * is used, + can be used (--kernel NAME), - cannot be used here',
      'gpu0  a card',
      '      vulkan, a driver, bus 0000:01:00.0',
      '      + used: a GPU',
      'gpu1  a card',
      '      vulkan, a driver, bus not known',
      '      - not used: a software renderer',
    ]);
  });

  it('says why there is no GPU, and that there are no native kernels', async () => {
    const { json } = await devicesJson();
    expect(json).toMatchObject({ noGpu: 'no adapter found', gpus: [], cpu: { native: 'none' } });
    machine.noGpu = new Error('there is no driver');
    expect((await devicesJson()).json.noGpu).toBe('there is no driver');
    const { stdout } = await devices();
    expect(stdout).toMatch(/\ngpu {3}none: there is no driver$/);
    expect(stdout).toContain('native kernels: none\n');
  });

  it('uses the kernel that was asked for, and software renderers only if they were', async () => {
    const { json } = await devicesJson('--kernel', 'wasm', '--software-gpu');
    expect(json.cpu.kernel).toBe('wasm');
    expect(machine.softwareGpu).toBe(true);
    await devicesJson();
    expect(machine.softwareGpu).toBe(false);
  });

  it('ends with exit code 3 if no device can be used', async () => {
    machine.surveys = [survey({})];
    machine.gpus = [card('gpu0', false)];
    const { code, json } = await devicesJson();
    expect(code).toBe(3);
    expect('kernel' in json.cpu).toBe(false);
    expect((await devices()).stdout).toContain('      kernel none, 1 thread');
    machine.gpus = [card('gpu0', false), card('gpu1', true)];
    expect((await devicesJson()).code).toBe(0);
  });
});

describe('the lines of the kernels', () => {
  const row = { usable: true, chosen: false, why: 'a reason' };

  it('are grouped by the kinds of cores, and tell how many threads were busy', () => {
    const rows = [
      { ...row, name: 'wasm', cores: 'performance', chosen: true } as const,
      { ...row, name: 'wasm', cores: 'efficiency', usable: false } as const,
    ];
    const surveys = [
      { kind: 'performance', threads: 2 },
      { kind: 'efficiency', threads: 4 },
    ] as const;
    expect(kernelLines(rows, surveys)).toEqual([
      'performance cores, 2 threads:',
      `* wasm        ${' '.repeat(11)}   a reason`,
      'efficiency cores, 4 threads:',
      `- wasm        ${' '.repeat(11)}   a reason`,
      // There are six threads, but only three run at a time.
      expect.stringContaining('MH/s of one thread while 3 are busy; * is used'),
    ]);
    const foreign = { ...row, name: 'neon', usable: false, why: FOREIGN } as const;
    expect(kernelLines([foreign], [{ threads: 1 }])).toEqual([`- neon: ${FOREIGN}`, expect.any(String)]);
    expect(kernelLines([], [{ threads: 2 }])).toEqual([expect.stringContaining('while 2 are busy')]);
  });

  it('name the kernels in use, each once', () => {
    expect(usedKernel([])).toBeUndefined();
    expect(usedKernel([{ ...row, name: 'wasm' }])).toBeUndefined();
    const [first, second] = (['wasm', 'wasm-simd'] as const).map((name) => ({ ...row, name, chosen: true }));
    expect(usedKernel([first, first])).toBe('wasm');
    expect(usedKernel([first, second])).toBe('wasm+wasm-simd');
  });
});
