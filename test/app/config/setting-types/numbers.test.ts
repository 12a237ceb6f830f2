import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  duration,
  leastRate,
  type NumberType,
  printed,
  type SettingType,
} from '#pickaxe/app/config/setting-types/basic.js';
import { ENTRIES } from '#pickaxe/app/config/settings.js';

/** Whether a setting accepts a value from a file. */
const takes = (type: SettingType<unknown>, value: unknown) => type.schema(z).safeParse(value).success;

const isNumberType = (type: SettingType<unknown>): type is NumberType => 'least' in type;

describe('a number', () => {
  const numbers = ENTRIES.flatMap(({ path, setting: { type } }) => (isNumberType(type) ? [[path, type] as const] : []));

  it.each(numbers)('of %s has the limits that its error states', (_, type) => {
    const [, least, most] = /from ([\d.]+) .*\bto (\d+)\b/.exec(type.hint)!.map(Number);
    expect([least, most].map((value) => takes(type, value))).toEqual([true, true]);
    expect([least - 0.5, least - 1, most + 0.5, most + 1].filter((value) => takes(type, value))).toEqual([]);
    expect(takes(type, least + 0.5)).toBe(!type.whole);
  });

  it('of seconds is at most a year', () => {
    const year = 365 * 86_400;
    expect([`${year}`, year, '365d'].map((value) => takes(duration, value))).toEqual([true, true, true]);
    expect([`${year + 1}`, year + 1, '366d'].map((value) => takes(duration, value))).toEqual([false, false, false]);
  });
});

describe('a minimum hashrate', () => {
  it.each([
    ['20G', { limit: 20e9 }, '20G'],
    ['20GH/s', { limit: 20e9 }, '20G'],
    ['gpu0=1500 MH/s', { device: 'gpu0', limit: 1.5e9 }, '1.5G'],
    ['cpu=100', { device: 'cpu', limit: 100 }, '100'],
  ])('%s is read as %j', (text, value, rate) => {
    expect(leastRate.schema(z).parse(text)).toEqual(value);
    expect(printed(leastRate, value)).toBe('device' in value ? `${value.device}=${rate}` : rate);
  });

  it.each(['0', 'gpu=1G', 'gpu0=', '=1G', 'gpu0=0k', '20 G H/s', '20 '])('cannot be %j', (text) => {
    expect(takes(leastRate, text)).toBe(false);
  });
});
