/** `pickaxe bench --tune` with pretended measurements of the CPU, and GPUs that are opened by the test. */

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { TuneReport, tuneGpus } from '#pickaxe/cli/measuring/tune.js';
import type { Survey } from '#pickaxe/miner/engine/cpu/kernels/choose.js';
import type { DeviceFault, KernelName } from '#pickaxe/miner/engine/device.js';
import { DeviceError, type Engine, type EngineListener } from '#pickaxe/miner/engine/engine.js';
import { GpuEngine, type GpuInfo } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { makeLog } from '#pickaxe/rig/terminal/log.js';
import { FakeEngine } from '../../fakes.ts';
import { pickaxe } from '../in-process.ts';

const machine = vi.hoisted(() => ({
  engines: [] as Engine[],
  surveys: [] as Survey[],
  /** What the engines and the surveys were asked for. */
  asked: [] as unknown[],
  log: [] as string[],
}));

vi.mock('#pickaxe/app/composition/choose-engines.js', async (load) => ({
  ...(await load<object>()),
  chooseEngines: async (_: unknown, __: unknown, options: unknown) => {
    machine.asked.push(options);
    return machine.engines;
  },
}));
vi.mock('#pickaxe/miner/engine/cpu/kernels/choose.js', async (load) => ({
  ...(await load<object>()),
  surveyKernels: async ({ groups }: { groups: readonly { places: readonly unknown[] }[] }, again: boolean) => {
    machine.asked.push({ threads: groups.flatMap(({ places }) => places).length, again });
    return machine.surveys;
  },
}));
vi.mock('#pickaxe/rig/terminal/screen.js', async (load) => ({
  ...(await load<object>()),
  terminalKind: () => ({ escapes: false, colours: false }),
  writeLine: (_: unknown, line: string) => machine.log.push(line),
}));
// The legend of the kernels tells how many threads were busy.
vi.mock('node:os', async (load) => ({ ...(await load<object>()), availableParallelism: () => 3 }));

const survey = (fastest?: KernelName, changes: Partial<Survey> = {}): Survey => ({
  threads: 1,
  speeds: fastest === undefined ? {} : { [fastest]: 5e6 },
  unusable: new Map(),
  ...(fastest !== undefined && { fastest }),
  ...changes,
});

const variantOf = (trips: number) => ({ shader: 'wgsl', workgroupSize: 128, trips }) as const;
const INFO: GpuInfo = {
  model: 'a card',
  kernel: 'wgsl',
  why: 'the fastest of 3',
  sensors: 'none',
  gpu: { driver: 'a driver', variant: 'wgsl 128×8', workgroupSize: 128, noncesPerInvocation: 8, batchMs: 8 },
  tuning: {
    variant: variantOf(8),
    batchMs: 8,
    hashesPerSecond: 2e9,
    variants: [
      { variant: variantOf(8), hashesPerSecond: 2e9 },
      { variant: variantOf(16), hashesPerSecond: 1.5e9 },
      { variant: variantOf(32), fault: 'it computed wrong hashes' },
    ],
    batches: [
      { batchMs: 4, hashesPerSecond: 1.9e9, score: 1.8e9, busy: 0.25 },
      { batchMs: 8, hashesPerSecond: 2e9, score: 1.9e9, busy: 0.125 },
    ],
  },
};

/** A GPU whose openings fail with these faults, one after the other, and then succeed. */
class PretendedGpu extends GpuEngine {
  opened = 0;
  closed = 0;
  readonly #faults: Error[];

  constructor(name: string, ...faults: Error[]) {
    super({ name });
    this.#faults = faults;
  }

  override async open(listener: EngineListener = {}): Promise<GpuInfo> {
    this.opened++;
    listener.progress?.('measuring wgsl 128×8', 0.5);
    const fault = this.#faults.shift();
    if (fault) throw fault;
    return INFO;
  }

  override async close(): Promise<void> {
    this.closed++;
  }
}

const fault = (kind: DeviceFault) => new DeviceError(kind, `a fault: ${kind}`);

beforeEach(() => {
  Object.assign(machine, { engines: [new FakeEngine()], surveys: [survey('wasm')], asked: [], log: [] });
});

const tune = (...args: string[]) =>
  pickaxe('bench', '--tune', '--devices', 'cpu', '--threads', '1', '--log-format', 'json', ...args);

async function tuneJson() {
  const { code, stdout, stderr } = await tune('--json');
  expect(stderr).toBe('');
  return { code, json: TuneReport.parse(JSON.parse(stdout)) };
}

const logged = () =>
  machine.log.map((line) => {
    const { level, tag, message } = JSON.parse(line);
    return `${level} ${tag}: ${message}`;
  });

describe('pickaxe bench --tune', () => {
  it('measures the CPU’s kernels again, and reports which is used', async () => {
    const { code, json } = await tuneJson();
    expect(code).toBe(0);
    expect(machine.asked).toEqual([{ tuneAgain: true }, { threads: 1, again: true }]);
    expect(json).toMatchObject({ type: 'tune', kernel: 'wasm', threads: 1, gpus: [] });
    expect(json.machine.node).toBe(process.version);
    expect(Date.parse(json.date)).toBeGreaterThan(0);
    expect(json.kernels).toContainEqual({
      name: 'wasm',
      usable: true,
      chosen: true,
      hashesPerSecond: 5e6,
      why: 'chosen: the fastest here',
    });
    expect(machine.log).toEqual([]);
  });

  it('measures GPUs', async () => {
    const gpu = new PretendedGpu('gpu0');
    machine.engines = [gpu];
    const { code, json } = await tuneJson();
    expect(code).toBe(0);
    expect(machine.asked).toEqual([{ tuneAgain: true }]);
    expect(Object.keys(json)).toEqual(['type', 'date', 'machine', 'gpus']);
    const row = (trips: number) => ({
      name: `wgsl 128×${trips}`,
      shader: 'wgsl',
      workgroupSize: 128,
      noncesPerInvocation: trips,
    });
    expect(json.gpus).toEqual([
      {
        name: 'gpu0',
        model: 'a card',
        driver: 'a driver',
        why: 'the fastest of 3',
        variants: [
          { ...row(8), chosen: true, hashesPerSecond: 2e9 },
          { ...row(16), chosen: false, hashesPerSecond: 1.5e9 },
          { ...row(32), chosen: false, why: 'it computed wrong hashes' },
        ],
        batches: [
          { batchSeconds: 0.004, chosen: false, hashesPerSecond: 1.9e9, worthHashesPerSecond: 1.8e9, busyRatio: 0.25 },
          { batchSeconds: 0.008, chosen: true, hashesPerSecond: 2e9, worthHashesPerSecond: 1.9e9, busyRatio: 0.125 },
        ],
      },
    ]);
    expect([gpu.opened, gpu.closed]).toEqual([1, 1]);
    expect(logged()).toEqual(['info gpu0: measuring wgsl 128×8']);
  });

  it('shows people a table of each device', async () => {
    const cpu = new FakeEngine();
    machine.engines = [cpu, new PretendedGpu('gpu0')];
    const { code, stdout } = await tune();
    // Its kernels are measured without it.
    expect(cpu.opened).toBe(0);
    expect(code).toBe(0);
    const lines = stdout.split('\n');
    expect(lines).toContainEqual(expect.stringMatching(/^\* wasm {11}5\.0 MH\/s {3}chosen: the fastest here$/));
    const at = lines.indexOf('gpu0  a card; a driver');
    expect(lines[at - 1]).toMatch(/^MH\/s of one thread; \* is used/);
    expect(lines.slice(at + 1)).toEqual([
      'the fastest of 3',
      `* ${'wgsl 128×8'.padEnd(28)}   2.000 GH/s  100.0 %`,
      `+ ${'wgsl 128×16'.padEnd(28)}   1.500 GH/s  75.0 %`,
      `- ${'wgsl 128×32'.padEnd(28)} it computed wrong hashes`,
      'workgroup size × nonces per invocation; * is used',
      `+ ${'4 ms'.padEnd(28)}   1.900 GH/s  worth 1.800 GH/s, 25.0 % of a core`,
      `* ${'8 ms'.padEnd(28)}   2.000 GH/s  worth 1.900 GH/s, 12.5 % of a core`,
      expect.stringMatching(/^length of a batch \(--gpu-batch-ms\), \* is the best; worth: /),
    ]);
  });

  it('shows only what it has measured', async () => {
    machine.engines = [new PretendedGpu('gpu0')];
    expect((await tune()).stdout).toMatch(/^gpu0 {2}a card; a driver\n/);
  });

  it('warns of speeds that are not remembered', async () => {
    machine.surveys = [
      survey('wasm', { kind: 'performance', notRemembered: 'the disk is full' }),
      survey('wasm-simd', { kind: 'efficiency' }),
    ];
    const { json } = await tuneJson();
    expect(json.kernel).toBe('wasm+wasm-simd');
    expect(logged()).toEqual(['warn cpu: the speeds on performance cores are not remembered: the disk is full']);
    Object.assign(machine, { surveys: [survey('wasm', { notRemembered: 'the disk is full' })], log: [] });
    await tuneJson();
    expect(logged()).toEqual(['warn cpu: these speeds are not remembered: the disk is full']);
  });
});

describe('the exit code', () => {
  it('is 3 if no device can be used', async () => {
    const unusable = new Map([['wasm', 'it is broken'] as const]);
    machine.surveys = [survey(undefined, { unusable })];
    const { code, json } = await tuneJson();
    expect(code).toBe(3);
    expect('kernel' in json).toBe(false);
    machine.engines = [new PretendedGpu('gpu0', fault('missing'))];
    expect((await tuneJson()).code).toBe(3);
    expect(logged()).toContain('error gpu0: a fault: missing');
  });

  it('is 0 if only one of two devices can be used', async () => {
    machine.engines = [new FakeEngine(), new PretendedGpu('gpu0', fault('missing'))];
    expect((await tuneJson()).code).toBe(0);
    machine.engines = [new PretendedGpu('gpu0', fault('missing')), new PretendedGpu('gpu1')];
    expect((await tuneJson()).code).toBe(0);
  });

  it('is 6 if a GPU computes wrong hashes, whatever the others do', async () => {
    machine.engines = [new PretendedGpu('gpu0', fault('wrong-hashes')), new PretendedGpu('gpu1')];
    const { code, json } = await tuneJson();
    expect(code).toBe(6);
    expect(json.gpus.map(({ name }) => name)).toEqual(['gpu1']);
  });
});

describe('a GPU that is lost while it is measured', () => {
  const log = makeLog('trace', 'json');

  it('is opened again, up to six times', async () => {
    const once = new PretendedGpu('gpu0', fault('lost'));
    expect((await tuneGpus([once], log)).gpus).toHaveLength(1);
    expect([once.opened, once.closed]).toEqual([2, 1]);
    expect(logged()).toEqual(['info gpu0: measuring wgsl 128×8', 'warn gpu0: trying again: a fault: lost']);
    const five = new PretendedGpu('gpu0', ...Array.from({ length: 5 }, () => fault('lost')));
    expect((await tuneGpus([five], log)).gpus).toHaveLength(1);
    expect(five.opened).toBe(6);
    const six = new PretendedGpu('gpu0', ...Array.from({ length: 6 }, () => fault('lost')));
    expect(await tuneGpus([six], log)).toEqual({ gpus: [], wrongHashes: false });
    expect([six.opened, six.closed]).toEqual([6, 1]);
  });

  it.each(['missing', 'wrong-hashes'] as const)('is not opened again after the fault %s', async (kind) => {
    const gpu = new PretendedGpu('gpu0', fault(kind));
    expect(await tuneGpus([gpu], log)).toEqual({ gpus: [], wrongHashes: kind === 'wrong-hashes' });
    expect([gpu.opened, gpu.closed]).toEqual([1, 1]);
  });

  it('does not disturb others, and wrong hashes decide the result whatever fails after them', async () => {
    const engines = ['wrong-hashes', 'missing'].map((kind) => {
      const engine = new FakeEngine('gpu0');
      engine.openFaults.push(fault(kind as DeviceFault));
      return engine;
    });
    expect(await tuneGpus(engines, log)).toEqual({ gpus: [], wrongHashes: true });
    expect(engines.map(({ closed }) => closed)).toEqual([1, 1]);
  });

  it('leaves faults of the program to the caller, and is closed', async () => {
    const gpu = new PretendedGpu('gpu0', new RangeError('a fault of the program'));
    await expect(tuneGpus([gpu], log)).rejects.toThrow('a fault of the program');
    expect([gpu.opened, gpu.closed]).toEqual([1, 1]);
  });
});
