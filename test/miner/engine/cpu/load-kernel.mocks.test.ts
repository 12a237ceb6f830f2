/** Which kernels may mine: only those that load and give the known answers. */

import { expect, test, vi } from 'vitest';
import type { Kernel } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { answersRight, loadKernel, loadKernels } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { loadWasm } from '#pickaxe/miner/engine/cpu/kernels/wasm-kernels.js';
import type { KernelName } from '#pickaxe/miner/engine/device.js';

vi.mock('#pickaxe/miner/engine/cpu/kernels/wasm-kernels.js', async (load) => {
  const real = await load<typeof import('#pickaxe/miner/engine/cpu/kernels/wasm-kernels.js')>();
  return { ...real, loadWasm: vi.fn(real.loadWasm) };
});

/** A kernel for another kind of chip. */
const foreign: KernelName = process.arch === 'arm64' ? 'avx2' : 'neon';

const right = loadWasm('wasm');

/** A kernel whose hits or rows are changed. The first element of `hits` is their number, the others are offsets. */
const changed = (change: (hits: Uint32Array, rows: number) => number): Kernel => ({
  name: 'wasm',
  search: (search, currentRun, hits) => change(hits, right.search(search, currentRun, hits)),
});

/** Changes only rows that have at least this number of hits. */
const inRowsWith = (least: number, change: (hits: Uint32Array) => void) =>
  changed((hits, rows) => {
    if (hits[0] >= least) change(hits);
    return rows;
  });

const wrong: Readonly<Record<string, Kernel>> = {
  'searches nothing': changed(() => 0),
  'finds nothing': inRowsWith(1, (hits) => {
    hits[0] = 0;
  }),
  'finds a nonce beside the right one': inRowsWith(1, (hits) => {
    hits[1]++;
  }),
  'leaves out the last hit of a row with several': inRowsWith(2, (hits) => {
    hits[0]--;
  }),
  'leaves out the first hit of a row with several': inRowsWith(2, (hits) => {
    hits.copyWithin(1, 2);
    hits[0]--;
  }),
  'finds a hit twice': inRowsWith(1, (hits) => {
    hits[hits[0] + 1] = hits[hits[0]];
    hits[0]++;
  }),
};

test('a kernel that computes right gives the known answers', () => {
  expect(answersRight(right)).toBe(true);
  expect(answersRight(changed((_, rows) => rows))).toBe(true);
});

test.each(Object.entries(wrong))('a kernel that %s may not mine', (_, kernel) => {
  expect(answersRight(kernel)).toBe(false);
  vi.mocked(loadWasm).mockReturnValueOnce(kernel);
  const fault = { fault: 'wrong-hashes', message: 'computed wrong hashes' };
  expect(() => loadKernel('wasm')).toThrow(expect.objectContaining(fault));
});

test('a kernel that does not load is missing, with the reason', () => {
  const cause = new Error('no such file');
  vi.mocked(loadWasm).mockImplementationOnce(() => {
    throw cause;
  });
  expect(() => loadKernel('wasm')).toThrow(
    expect.objectContaining({ fault: 'missing', message: 'no such file', cause }),
  );
});

test('of several kernels those are loaded that can be used, with the reasons of the others', () => {
  vi.mocked(loadWasm).mockReturnValueOnce(wrong['finds nothing']);
  const { kernels, unusable } = loadKernels(['wasm', foreign, 'wasm-simd']);
  expect(kernels.map(({ name }) => name)).toEqual(['wasm-simd']);
  expect([...unusable]).toEqual([
    ['wasm', 'computed wrong hashes'],
    [foreign, 'made for another kind of chip'],
  ]);
});
