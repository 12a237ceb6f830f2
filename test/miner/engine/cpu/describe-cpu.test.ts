import { expect, test } from 'vitest';
import { describeCpu } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import type { KernelChoice } from '#pickaxe/miner/engine/cpu/kernels/choose.js';
import type { KernelName } from '#pickaxe/miner/engine/device.js';

const choiceOf = (name: KernelName): KernelChoice => ({
  name,
  why: 'the fastest of 9 here; built here',
  detail: 'the fastest here (MH/s per thread: …); built here',
});

test('a hybrid chip is described by its kinds of cores, each with its kernel', () => {
  const groups = [
    { kind: 'performance', places: [[0], [1]] },
    { kind: 'efficiency', places: [[2]] },
  ] as const;
  const info = describeCpu(
    'Core',
    [choiceOf('avx2'), choiceOf('sse41')],
    { threads: 3, groups, why: 'asked for' },
    'none',
  );
  expect(info).toEqual({
    model: 'Core',
    kernel: 'avx2+sse41',
    threads: 3,
    cores: [
      { kind: 'performance', threads: 2, kernel: 'avx2' },
      { kind: 'efficiency', threads: 1, kernel: 'sse41' },
    ],
    why:
      'performance cores: avx2, the fastest of 9 here; built here; ' +
      'efficiency cores: sse41, the fastest of 9 here; built here',
    detail:
      'performance cores: kernel avx2: the fastest here (MH/s per thread: …); built here; ' +
      'efficiency cores: kernel sse41: the fastest here (MH/s per thread: …); built here; 3 threads: asked for; sensors: none',
  });
  expect(
    describeCpu('Core', [choiceOf('avx2'), choiceOf('avx2')], { threads: 3, groups, why: '' }, 'none').kernel,
  ).toBe('avx2');
});

test('a chip whose cores are alike is described without kinds', () => {
  const groups = [{ places: [[], []] }];
  const info = describeCpu('Core', [choiceOf('avx2')], { threads: 2, groups, why: 'asked for' }, 'none');
  expect(info).toEqual({
    model: 'Core',
    kernel: 'avx2',
    threads: 2,
    why: 'the fastest of 9 here; built here',
    detail: 'kernel avx2: the fastest here (MH/s per thread: …); built here; 2 threads: asked for; sensors: none',
  });
});
