import { describe, expect, test } from 'vitest';
import { formatCpuList, parseCpuList } from '#pickaxe/base/text/quantities.js';

describe('a list of CPUs', () => {
  test.each([
    ['0', [0]],
    ['0-3\n', [0, 1, 2, 3]],
    ['0,2-5', [0, 2, 3, 4, 5]],
    ['10,8-9,8', [8, 9, 10]],
    ['1023', [1023]],
  ])('can be %j', (text, cpus) => {
    expect(parseCpuList(text)).toEqual(cpus);
  });

  test.each(['', ' ', 'x', '3-1', '0,', ',0', '0--1', '-1', '0 1', '1.5', '0-1024', '99999999999', '0-3:1/2'])(
    'cannot be %j',
    (text) => {
      expect(parseCpuList(text)).toBeUndefined();
    },
  );

  test.each(['0', '0-3', '0,2-5,7', '1,3,5'])('is written as it was read: %s', (text) => {
    expect(formatCpuList(parseCpuList(text)!)).toBe(text);
  });
});
