import { describe, expect, test } from 'vitest';
import { evaluate, fastestOf } from '#pickaxe/miner/engine/cpu/kernels/measure-kernels.js';
import type { KernelName } from '#pickaxe/miner/engine/device.js';

const verdictOn = (turns: Partial<Record<KernelName, number[]>>) =>
  evaluate(new Map(Object.entries(turns) as [KernelName, number[]][]));
/** This number of turns of the same rate. */
const turns = (count: number, rate: number) => new Array<number>(count).fill(rate);

describe('a verdict', () => {
  test('is the best rate that several turns confirm', () => {
    const { speeds, doubt } = verdictOn({ avx2: [...turns(10, 30), ...turns(8, 50), 49.5] });
    expect(speeds).toEqual({ avx2: 50_000 });
    expect(doubt).toBeUndefined();
  });

  test('does not believe single turns that are too fast, as a coarse clock gives them', () => {
    const { speeds, fastest, doubt } = verdictOn({
      avx2x2: [90, 80, ...turns(20, 36.8)],
      avx2: turns(22, 45),
    });
    expect(speeds.avx2x2).toBe(36_800);
    expect(fastest).toBe('avx2');
    // The best turns show that it may be the fastest, but the turns that agree are enough.
    expect(doubt).toBeUndefined();
  });

  test('is the second best of turns that confirm each other, because the best may be a little too fast', () => {
    expect(verdictOn({ avx2: [50.9, ...turns(20, 50)] }).speeds).toEqual({ avx2: 50_000 });
  });

  test('is exact for a kernel that is slower than a hash per ms', () => {
    expect(verdictOn({ wasm: turns(5, 0.5) }).speeds).toEqual({ wasm: 500 });
    expect(verdictOn({ wasm: [0.5] }).speeds).toEqual({ wasm: 500 });
  });

  test('is in doubt when turns spread, and says so', () => {
    const spread = Array.from({ length: 25 }, (_, i) => 50 / (1 + i / 20));
    expect(verdictOn({ avx2: spread }).doubt).toBe('only 1 of 25 turns of avx2 agree within 2 %');
    expect(verdictOn({ avx2: [50, 40, 30] }).doubt).toBe('only 1 of 3 turns of avx2 agree within 2 %');
    expect(verdictOn({ avx2: [50] }).doubt).toBe('only 1 of 1 turns of avx2 agree within 2 %');
  });

  test('is not in doubt because of kernels that are far behind', () => {
    const { doubt } = verdictOn({ avx2: turns(25, 50), wasm: [8, 5, 3, 2, 1] });
    expect(doubt).toBeUndefined();
  });

  test.each([
    [49, true],
    [47.6, true],
    [47.4, false],
  ])(
    'is in doubt because of a kernel that may be the fastest: beside one of 50, one of %d is: %s',
    (best, isDoubtful) => {
      const { doubt } = verdictOn({ avx2x2: turns(25, 50), avx2: [best, 40, 30, 20] });
      expect(doubt).toBe(isDoubtful ? 'only 1 of 4 turns of avx2 agree within 2 %' : undefined);
    },
  );

  test.each<[string, Record<string, number[]>, string | undefined]>([
    ['turns that differ by 2 %', { avx2: [50, 49, 49] }, undefined],
    ['turns that differ by more', { avx2: [50, 49, 48.9] }, 'only 1 of 3 turns of avx2 agree within 2 %'],
    ['a fifth of 20 turns', { avx2: [...turns(4, 50), ...turns(16, 30)] }, undefined],
    [
      'less than a fifth of 20 turns',
      { avx2: [...turns(3, 50), ...Array.from({ length: 17 }, (_, i) => 30 - i)] },
      'only 3 of 20 turns of avx2 agree within 2 %',
    ],
    [
      'a kernel that is exactly 5 % behind',
      { avx2x2: turns(25, 50), avx2: [47.5, 40, 30, 20] },
      'only 1 of 4 turns of avx2 agree within 2 %',
    ],
  ])('at its bounds: %s', (_, rates, doubt) => {
    expect(verdictOn(rates).doubt).toBe(doubt);
  });

  test('has no fastest kernel without turns', () => {
    expect(evaluate(new Map())).toEqual({ speeds: {} });
    expect(verdictOn({ avx2: [] })).toEqual({ speeds: {} });
    expect(fastestOf({})).toBeUndefined();
  });
});

describe('the fastest kernel', () => {
  test.each([
    ['is the fastest, in whatever order they are named', { wasm: 1, avx2: 50, avx512x2: 40, avx512: 60 }, 'avx512'],
    ['is the first in the list of two that differ by 1 %', { avx512: 99, wasm: 100 }, 'avx512'],
    ['is not one that is slower by more', { avx512: 98.9, wasm: 100 }, 'wasm'],
    ['may be the last in the list', { avx512: 6, wasm: 7 }, 'wasm'],
    ['is the first in the list among equals', { avx2: 99.5, avx512: 99.1, avx512x2: 98.9, 'wasm-simd': 100 }, 'avx512'],
  ] as const)('%s', (_, speeds, expected) => {
    expect(fastestOf(speeds)).toBe(expected);
  });
});
