import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Cache } from '#pickaxe/base/system/cache.js';
import { chooseKernels, recallTuning } from '#pickaxe/miner/engine/cpu/kernels/choose.js';
import { measureKernels, type Turns } from '#pickaxe/miner/engine/cpu/kernels/measure-kernels.js';

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
