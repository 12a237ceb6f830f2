import { expect, test } from 'vitest';
import { chooseKernels } from '#pickaxe/miner/engine/cpu/kernels/choose.js';
import { isNative } from '#pickaxe/miner/engine/cpu/kernels/native-kernels.js';
import { loadableKernels } from './loadable-kernels.ts';

test('who is in a hurry gets the usually fastest kernel for each kind of cores, without a measurement', async () => {
  const groups = [
    { kind: 'performance', places: [[]] },
    { kind: 'efficiency', places: [[]] },
  ] as const;
  const choices = await chooseKernels({ groups, hurried: true });
  expect(choices.map(({ name }) => name)).toEqual([loadableKernels[0], loadableKernels[0]]);
  for (const { name, why, detail } of choices) {
    expect(why).toMatch(/^usually the fastest, not measured/);
    expect(detail).toMatch(/^usually the fastest, not measured/);
    expect(/built here|prebuilt/.test(why)).toBe(isNative(name));
  }
});
