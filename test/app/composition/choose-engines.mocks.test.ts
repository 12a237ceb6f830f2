/** Which devices are asked for, which there are, and which engines that makes. */

import { describe, expect, it, vi } from 'vitest';
import { chooseEngines, chooseInTurn } from '#pickaxe/app/composition/choose-engines.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { type Gpu, listGpus } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import { listeningLog } from '../../rig/pauses/fakes.ts';

vi.mock('#pickaxe/miner/engine/gpu/list-gpus.js');

const gpu = (name: string, usable: boolean): Gpu =>
  ({ name, model: `model of ${name}`, vendor: 0x1002, usable, why: usable ? 'it is new' : 'it is old' }) as never;
const TWO = [gpu('gpu0', true), gpu('gpu1', false)];

const settings = (use: Config['devices']['use'], gpu: Partial<Config['gpu']> = {}) => ({
  ...DEFAULTS,
  devices: { ...DEFAULTS.devices, use },
  gpu: { ...DEFAULTS.gpu, ...gpu },
});

async function chosen(use: Config['devices']['use'], gpus: Gpu[] | Error) {
  vi.mocked(listGpus).mockReset();
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
