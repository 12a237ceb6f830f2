import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Cache } from '#pickaxe/base/system/cache.js';
import {
  chooseKernels,
  recallTuning,
  rememberTuning,
  surveyKernels,
} from '#pickaxe/miner/engine/cpu/kernels/choose.js';
import { measureKernels, type Turns } from '#pickaxe/miner/engine/cpu/kernels/measure-kernels.js';
import { loadableKernels } from './loadable-kernels.ts';

vi.mock('#pickaxe/miner/engine/cpu/kernels/measure-kernels.js', async (original) => ({
  ...(await original<object>()),
  measureKernels: vi.fn(),
}));

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pickaxe-choose-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const groups = [{ places: [[]] }];
const choose = async () => (await chooseKernels({ groups, cacheDirectory: directory }))[0];
const recalled = () => recallTuning(new Cache(directory), groups, 0);
/** This number of turns of the same rate, in hashes per ms. */
const turns = (count: number, rate: number) => new Array<number>(count).fill(rate);
const measured = (found: Turns) => vi.mocked(measureKernels).mockResolvedValue([found]);

test('speeds that are in doubt are used now, and measured again at the next start', async () => {
  measured(new Map([['wasm', [5_000, 4_000, 3_000]]]));
  const { name, detail } = await choose();
  expect(name).toBe('wasm');
  expect(detail).toContain('not remembered: only 1 of 3 turns of wasm agree within 2 %');
  expect(recalled()).toBeUndefined();
});

test('speeds without a doubt are remembered', async () => {
  measured(new Map([['wasm', turns(20, 2_000)]]).set('wasm-simd', turns(20, 5_000)) as Turns);
  expect(await choose()).toMatchObject({ name: 'wasm-simd' });
  expect(recalled()).toEqual({ speeds: { wasm: 2e6, 'wasm-simd': 5e6 }, fastest: 'wasm-simd' });
});

test('speeds that are remembered are not measured again, unless there is a new kernel or none may be used', async () => {
  measured(new Map([['wasm', turns(20, 2_000)]]).set('wasm-simd', turns(20, 5_000)) as Turns);
  await choose();
  vi.mocked(measureKernels).mockClear();
  const { name, why, detail } = await choose();
  expect(name).toBe('wasm-simd');
  expect(why).toMatch(/^the fastest of 2 here, as measured before/);
  expect(detail).toMatch(/^the fastest here \(MH\/s per thread: wasm-simd 5\.0, wasm 2\.0\), as measured before/);
  expect(measureKernels).not.toHaveBeenCalled();

  const foreign = process.arch === 'arm64' ? 'avx2' : 'neon';
  const cache = new Cache(directory);
  expect(rememberTuning(cache, groups, 0, { speeds: { [foreign]: 9e9 }, fastest: foreign })).toBeUndefined();
  expect((await choose()).name).toBe('wasm-simd');
  expect(measureKernels).toHaveBeenCalledTimes(1);
});

test('a survey uses what is remembered if it has every kernel, unless a new measurement is asked for', async () => {
  const speeds = Object.fromEntries(loadableKernels.map((name, i) => [name, 1e6 * (i + 1)]));
  const fastest = loadableKernels.at(-1)!;
  const remember = (some: typeof speeds) => rememberTuning(new Cache(directory), groups, 0, { speeds: some, fastest });
  measured(new Map([['wasm', turns(20, 2_000)]]));
  vi.mocked(measureKernels).mockClear();
  const here = { groups, cacheDirectory: directory };

  expect(remember(speeds)).toBeUndefined();
  expect(await surveyKernels(here)).toMatchObject([{ threads: 1, speeds, fastest }]);
  expect(measureKernels).not.toHaveBeenCalled();
  const { [loadableKernels[0]]: _, ...old } = speeds;
  for (const [remembered, again] of [
    [speeds, true],
    [old, false],
  ] as const) {
    remember(remembered);
    const [survey] = await surveyKernels(here, again);
    expect(survey).toMatchObject({ speeds: { wasm: 2e6 }, fastest: 'wasm' });
  }
  expect(measureKernels).toHaveBeenCalledTimes(2);
});
