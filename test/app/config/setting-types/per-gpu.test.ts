import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  gpuBatch,
  gpuLimit,
  gpuResume,
  type PerGpu,
  printed,
  valueForGpu,
} from '#pickaxe/app/config/setting-types/basic.js';

const schema = gpuLimit.schema(z);

describe('a number for GPUs', () => {
  it.each<[unknown, PerGpu<number | 'none'>, unknown]>([
    [85, 85, 85],
    [['85'], 85, 85],
    ['none', 'none', 'none'],
    [
      ['85', 'gpu0=80'],
      [{ value: 85 }, { gpu: 'gpu0', value: 80 }],
      [85, 'gpu0=80'],
    ],
    [
      ['gpu0=80', 'gpu1=none'],
      [{ gpu: 'gpu0', value: 80 }, { gpu: 'gpu1', value: 'none' }, { value: 90 }],
      ['gpu0=80', 'gpu1=none', 90],
    ],
  ])('%j is read as %j', (written, values, shown) => {
    const read = schema.parse(written);
    expect(read).toEqual(values);
    expect(printed(gpuLimit, read)).toEqual(shown);
    expect(schema.parse(shown)).toEqual(values);
  });

  it.each([29, 121, '29', 'gpu0=121', 'gpu=80', 'gpu0=', 'cpu=80', 'gpu0=8e1', 80.5, '80.5', '', true, []])(
    'cannot be %j',
    (written) => {
      expect(schema.safeParse(written).success).toBe(false);
    },
  );

  it('of a temperature to resume at cannot be none, and that of a batch may have a fraction', () => {
    expect(gpuResume.schema(z).safeParse(['gpu0=none']).success).toBe(false);
    expect(gpuBatch.schema(z).parse(['20', 'gpu1=12.5'])).toEqual([{ value: 20 }, { gpu: 'gpu1', value: 12.5 }]);
  });

  it('holds for the GPU that it names, and otherwise the one for all does', () => {
    const values = schema.parse(['85', 'gpu0=80']);
    expect(['gpu0', 'gpu1', undefined].map((name) => valueForGpu(values, name))).toEqual([80, 85, 85]);
    expect([valueForGpu(85, 'gpu0'), valueForGpu(undefined, 'gpu0')]).toEqual([85, undefined]);
    expect(valueForGpu(gpuResume.schema(z).parse(['gpu0=70']), 'gpu1')).toBeUndefined();
  });
});
