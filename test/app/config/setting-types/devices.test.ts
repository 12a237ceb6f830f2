import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { printed } from '#pickaxe/app/config/setting-types/basic.js';
import { cpuList, devices, threadCount } from '#pickaxe/app/config/setting-types/rig.js';

describe('devices', () => {
  const schema = devices.schema(z);

  it('are a list of 1 to 256 names, without duplicates', () => {
    const names = Array.from({ length: 257 }, (_, index) => `gpu${index}`);
    const taken = [0, 1, 256, 257].map((length) => schema.safeParse(names.slice(0, length)).success);
    expect(taken).toEqual([false, true, true, false]);
    expect(schema.parse(['gpu1', 'cpu', 'gpu1'])).toEqual(['gpu1', 'cpu']);
  });

  it('may be the numbers of GPUs, or all', () => {
    expect(schema.parse(['0', '1', 'gpu1'])).toEqual(['gpu0', 'gpu1']);
    expect(schema.parse(['all'])).toBe('all');
    expect(schema.parse(['cpu', 'all'])).toBe('all');
  });

  it('may be one text instead of a list', () => {
    expect(schema.parse('gpu1')).toEqual(['gpu1']);
    expect(schema.parse('all')).toBe('all');
    expect(schema.safeParse('').success).toBe(false);
  });

  it.each(['tpu', 'gpu-1', 'gpu1234', 'ALL', ''])('cannot be %j', (name) => {
    expect(schema.safeParse([name]).success).toBe(false);
  });
});

it('CPUs are numbers, printed as Linux writes them', () => {
  const parse = (text: string) => cpuList.schema(z).parse(text);
  expect([parse('5,0,2-4'), parse('none')]).toEqual([[0, 2, 3, 4, 5], 'none']);
  expect([printed(cpuList, parse('5,0,2-4')), printed(cpuList, parse('none'))]).toEqual(['0,2-5', 'none']);
});

describe('a number of threads', () => {
  const schema = threadCount.schema(z);

  it.each([1, 1024, '1%', '50%', '100%'])('may be %j', (threads) => {
    expect(schema.parse(threads)).toBe(threads);
  });

  it.each([0, 1025, 1.5, '0%', '101%', '050%', '50', '50 %', '1.5%', '%'])('cannot be %j', (threads) => {
    expect(schema.safeParse(threads).success).toBe(false);
  });
});
