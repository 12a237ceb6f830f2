/** Which devices are asked for, which there are, and which engines that makes. */

import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseEngines, chooseInTurn, threadChoice } from '#pickaxe/app/composition/choose-engines.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { forceKernel } from '#pickaxe/miner/engine/cpu/kernels/choose.js';
import { chooseThreads } from '#pickaxe/miner/engine/cpu/threads.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { type Gpu, listGpus } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import { listeningLog } from '../../rig/pauses/fakes.ts';

vi.mock('#pickaxe/miner/engine/cpu/cpu-engine.js');
vi.mock('#pickaxe/miner/engine/cpu/kernels/choose.js');
vi.mock('#pickaxe/miner/engine/cpu/threads.js');
vi.mock('#pickaxe/miner/engine/gpu/gpu-engine.js');
vi.mock('#pickaxe/miner/engine/gpu/list-gpus.js');

/** What stands in place of an engine: it only has a name. */
function engineNamed(name?: string) {
  return function engine(this: object, options: { name?: string }) {
    Object.assign(this, { name: name ?? options.name });
  } as never;
}

beforeEach(() => {
  vi.stubEnv('XDG_CACHE_HOME', '/cache');
  vi.mocked(listGpus).mockReset();
  vi.mocked(CpuEngine).mockReset().mockImplementation(engineNamed('cpu'));
  vi.mocked(GpuEngine).mockReset().mockImplementation(engineNamed());
  vi.mocked(chooseThreads).mockReset().mockReturnValue({ threads: 1, groups: [], why: '' });
  vi.mocked(forceKernel)
    .mockReset()
    .mockImplementation((name) => ({ name }) as never);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const gpu = (name: string, usable: boolean): Gpu =>
  ({ name, model: `model of ${name}`, vendor: 0x1002, usable, why: usable ? 'it is new' : 'it is old' }) as never;
const TWO = [gpu('gpu0', true), gpu('gpu1', false)];

const settings = (use: Config['devices']['use'], gpu: Partial<Config['gpu']> = {}) => ({
  ...DEFAULTS,
  devices: { ...DEFAULTS.devices, use },
  gpu: { ...DEFAULTS.gpu, ...gpu },
});

async function chosen(use: Config['devices']['use'], gpus: Gpu[] | Error) {
  if (gpus instanceof Error) vi.mocked(listGpus).mockRejectedValue(gpus);
  else vi.mocked(listGpus).mockResolvedValue(gpus);
  const { log, said } = listeningLog();
  const engines = await chooseEngines(settings(use), log, { mayBeNone: true });
  const opened = engines.map(async (engine) => {
    if (engine.constructor.name !== 'MissingEngine') return engine.name;
    return engine.open().then(
      () => 'opened',
      (fault) => `${engine.name} is missing: ${fault.message}`,
    );
  });
  const asked = vi.mocked(listGpus).mock.calls.length;
  return { engines: await Promise.all(opened), said: said.map(({ level, msg }) => `${level}: ${msg}`), asked };
}

describe('the engines', () => {
  it.each<[Config['devices']['use'], string[]]>([
    ['all', ['cpu', 'gpu0']],
    [['cpu'], ['cpu']],
    [['gpu0'], ['gpu0']],
    [['gpu'], ['gpu0']],
    [
      ['cpu', 'gpu'],
      ['cpu', 'gpu0'],
    ],
    [['gpu1'], ['gpu1 is missing: model of gpu1: it is old']],
    [
      ['gpu0', 'gpu7'],
      ['gpu0', 'gpu7 is missing: there is no gpu7; these exist: gpu0 (model of gpu0), gpu1 (model of gpu1)'],
    ],
    [[], []],
  ])('of %j are those that there are', async (use, expected) => {
    const { engines, asked } = await chosen(use, TWO);
    expect(engines).toEqual(expected);
    expect(asked).toBe(expected.some((name) => name.startsWith('gpu')) ? 1 : 0);
  });

  it('of a machine whose GPUs cannot be used are none', async () => {
    const { engines, said } = await chosen(['gpu'], [gpu('gpu0', false)]);
    expect(engines).toEqual(['gpu is missing: no GPU can be used: model of gpu0: it is old']);
    expect(said).toEqual([]);
  });

  it('say of a GPU that nobody asked for why it is not used', async () => {
    expect((await chosen('all', TWO)).said).toEqual(['info: model of gpu1 is not used: it is old']);
    expect((await chosen(['gpu'], TWO)).said).toEqual(['info: model of gpu1 is not used: it is old']);
    expect((await chosen(['gpu0'], TWO)).said).toEqual([]);
  });

  it.each<[string, Error, Config['devices']['use'], string[], RegExp | undefined]>([
    ['there is none', new DeviceError('missing', 'no GPU'), 'all', ['cpu'], /^info: no GPU is used: no GPU$/],
    ['there is none', new DeviceError('missing', 'no GPU'), ['gpu0'], ['gpu0 is missing: no GPU'], undefined],
    [
      'its driver fails',
      new DeviceError('lost', 'it broke'),
      'all',
      ['cpu'],
      /^warn: no GPU is used: it broke \(it failed twice\)/,
    ],
    ['something else fails', new Error('what?'), ['gpu'], ['gpu is missing: what?'], /^warn: no GPU is used: what\?/],
  ])('do without a GPU if %s (%s)', async (_, fault, use, engines, line) => {
    const result = await chosen(use, fault);
    expect(result.engines).toEqual(engines);
    expect(result.said).toEqual(line === undefined ? [] : [expect.stringMatching(line)]);
  });

  it('of the CPU do not wait for those of GPUs', async () => {
    vi.mocked(listGpus).mockReturnValue(new Promise(() => {}));
    const { log } = listeningLog();
    const inTurn = (use: Config['devices']['use']) =>
      chooseInTurn(settings(use), log).map((part) => (Array.isArray(part) ? part.map(({ name }) => name) : 'later'));
    expect(inTurn('all')).toEqual([['cpu'], 'later']);
    expect(inTurn(['gpu0'])).toEqual([[], 'later']);
    expect(inTurn(['cpu'])).toEqual([['cpu']]);
    expect(inTurn(['cpu', 'gpu0'])).toEqual([['cpu'], 'later']);
  });

  it.each([
    [undefined, 'name devices, like --devices cpu,gpu0.'],
    [false, 'or let another program hash (--external-worker).'],
  ])('cannot be none where nothing else hashes (%s)', (mayBeNone, says) => {
    const { log } = listeningLog();
    const choose = () => chooseInTurn(settings([]), log, mayBeNone === undefined ? {} : { mayBeNone });
    expect(choose).toThrow(`--devices none leaves nothing that hashes: `);
    expect(choose).toThrow(says);
  });

  it('warn of settings for a GPU that does not mine', async () => {
    vi.mocked(listGpus).mockResolvedValue(TWO);
    const { log, said } = listeningLog();
    const batchMs = [{ gpu: 'gpu0', value: 5 }, { gpu: 'gpu1', value: 6 }, { value: 7 }];
    await chooseEngines(settings('all', { batchMs } as never), log);
    expect(said.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).toEqual([
      '--gpu-batch-ms has a value for gpu1, which is not used',
    ]);
  });
});

/* The options of engines. */

const CACHE = join('/cache', 'pickaxe');
const GPUS = [
  { name: 'gpu0', model: 'a card', vendor: 0x1002, usable: true },
  { name: 'gpu1', model: 'another', vendor: 'intel', usable: true, bus: '0000:01:00.0', environment: { ONE: '1' } },
] as readonly Partial<Gpu>[] as Gpu[];

type Options = Parameters<typeof chooseEngines>[2];

async function made(part: { cpu?: Partial<Config['cpu']>; gpu?: Partial<Config['gpu']> }, options?: Options) {
  vi.mocked(listGpus).mockResolvedValue(GPUS);
  const { log, said } = listeningLog();
  const given = { ...DEFAULTS, cpu: { ...DEFAULTS.cpu, ...part.cpu }, gpu: { ...DEFAULTS.gpu, ...part.gpu } };
  await chooseEngines(given, log, options);
  const cpu = vi.mocked(CpuEngine).mock.calls.map(([wanted]) => wanted);
  return { cpu, gpus: vi.mocked(GpuEngine).mock.calls.map(([wanted]) => wanted), said };
}

const USUAL = { cacheDirectory: CACHE, cores: 'all' };
const GPU0 = { name: 'gpu0', adapter: 'a card', softwareGpu: false, card: { vendor: 'amd' }, cacheDirectory: CACHE };
const GPU1 = {
  ...{ name: 'gpu1', adapter: 'another', softwareGpu: false, cacheDirectory: CACHE },
  ...{ card: { vendor: 'intel', bus: '0000:01:00.0' }, environment: { ONE: '1' } },
};

it('engines get no option that no setting asks for', async () => {
  expect(await made({})).toEqual({ cpu: [USUAL], gpus: [GPU0, GPU1], said: [] });
  expect(vi.mocked(chooseThreads).mock.calls).toEqual([[{ cores: 'all' }]]);
  expect(vi.mocked(listGpus).mock.calls).toEqual([[{ softwareGpu: false }]]);
});

it.each<[part: Parameters<typeof made>[0], options: Options, cpu: object, gpu0: object, gpu1: object]>([
  [{ cpu: { threads: 3 } }, {}, { threads: 3 }, {}, {}],
  [{ cpu: { priority: 0 } }, {}, { niceness: 0 }, {}, {}],
  [{ cpu: { affinity: [0, 2] } }, {}, { affinity: [0, 2] }, {}, {}],
  [{ cpu: { affinity: 'none', cores: 'efficiency' } }, {}, { affinity: 'none', cores: 'efficiency' }, {}, {}],
  [{ cpu: { kernel: 'avx2' } }, {}, { kernel: 'avx2' }, {}, {}],
  [{ gpu: { software: true } }, {}, {}, { softwareGpu: true }, { softwareGpu: true }],
  [{ gpu: { batchMs: [{ gpu: 'gpu1', value: 9 }] } }, {}, {}, {}, { batchMs: 9 }],
  [{ gpu: { batchMs: [{ value: 8 }, { gpu: 'gpu1', value: 9 }] } }, {}, {}, { batchMs: 8 }, { batchMs: 9 }],
  [{}, { hurried: true }, { hurried: true }, { hurried: true }, { hurried: true }],
  [{}, { tuneAgain: true }, {}, { tuneAgain: true }, { tuneAgain: true }],
  [{}, { minesAtOnce: true }, {}, { minesAtOnce: true }, { minesAtOnce: true }],
])('engines get the options that are asked for: %j with %j', async (part, options, cpu, gpu0, gpu1) => {
  expect(await made(part, options)).toEqual({
    cpu: [{ ...USUAL, ...cpu }],
    gpus: [
      { ...GPU0, ...gpu0 },
      { ...GPU1, ...gpu1 },
    ],
    said: [],
  });
});

it('a drawback of the threads is a warning, and what cannot be fulfilled is refused', async () => {
  vi.mocked(chooseThreads).mockReturnValue({ threads: 1, groups: [], why: '', warning: 'that is too many' });
  expect((await made({})).said).toEqual([{ level: 'warn', msg: 'that is too many' }]);
  const refuse = (fault: Error) => () => {
    throw fault;
  };
  vi.mocked(chooseThreads).mockImplementation(refuse(new RangeError('there are 2 CPUs')));
  await expect(made({})).rejects.toThrow(new UsageError('there are 2 CPUs.'));
  expect(() => threadChoice(DEFAULTS.cpu)).toThrow(UsageError);
  const mistake = new TypeError('x is undefined');
  vi.mocked(chooseThreads).mockImplementation(refuse(mistake));
  await expect(made({})).rejects.toBe(mistake);
  vi.mocked(chooseThreads).mockReturnValue({ threads: 1, groups: [], why: '' });
  vi.mocked(forceKernel).mockImplementation(refuse(new Error('avx2 needs AVX2')));
  await expect(made({ cpu: { kernel: 'avx2' } })).rejects.toThrow(new UsageError('avx2 needs AVX2'));
  vi.mocked(CpuEngine).mockImplementation(function refused() {
    throw new RangeError('no such CPU');
  } as never);
  await expect(made({})).rejects.toThrow(new UsageError('no such CPU.'));
});
