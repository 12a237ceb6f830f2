/** Names of zones, hours of each half of a day, fractions of seconds, and the longest texts of times. */

import { describe, expect, it } from 'vitest';
import { Time } from '#pickaxe/contract/values/time.js';
import { formatTime } from '#pickaxe/contract/values/time-format.js';
import { MAX_TIME_TEXT, parseTime, timeOfJsonText } from '#pickaxe/contract/values/time-parsing.js';

const read = (format: string, text: string) => parseTime(format, text, 4).toPreciseString();

describe('a named zone is ahead of UTC by', () => {
  it.each([
    ['ZULU', 0],
    ['UTC', 0],
    ['GMT', 0],
    ['EST', -5],
    ['EDT', -4],
    ['CST', -6],
    ['CDT', -5],
    ['MST', -7],
    ['MDT', -6],
    ['PST', -8],
    ['PDT', -7],
    ['WET', 0],
    ['CET', 1],
    ['CEST', 2],
    ['EET', 2],
    ['UT', 0],
    ['Z', 0],
    ['+03:30', 3.5],
    ['-0330', -3.5],
  ])('%s: %d hours', (zone, hours) => {
    expect(parseTime('%F %T %Z', `1970-01-02 00:00:00 ${zone}`, 4).micros).toBe(BigInt((24 - hours) * 3_600_000_000));
  });
});

describe('hours', () => {
  const halves = Array.from({ length: 24 }, (_, hour) => [hour, hour % 12 || 12, hour < 12 ? 'AM' : 'PM'] as const);

  it.each(halves)('%i is %i %s', (hour, twelve, half) => {
    const time = parseTime('%H', `${hour}`.padStart(2, '0'), 4);
    expect(formatTime('%I %p', time)).toBe(`${`${twelve}`.padStart(2, '0')} ${half}`);
    expect(formatTime('%l%P', time)).toBe(`${`${twelve}`.padStart(2)}${half.toLowerCase()}`);
    expect(parseTime('%I %p', formatTime('%I %p', time), 4).micros).toBe(time.micros);
    expect(parseTime('%l%P', formatTime('%l%P', time), 4).micros).toBe(time.micros);
    expect(formatTime('%k', time)).toBe(`${hour}`.padStart(2));
  });

  it('above 12 keep their half of the day, and are in the morning without one', () => {
    expect(read('%I %p', '13 PM')).toBe('1970-01-01T13:00:00.000000Z');
    expect(read('%I %p', '13 AM')).toBe('1970-01-01T01:00:00.000000Z');
    expect(read('%I', '12')).toBe('1970-01-01T00:00:00.000000Z');
    expect(read('%I %H', '01 15')).toBe('1970-01-01T15:00:00.000000Z');
  });
});

describe('fractions of a second', () => {
  it.each([
    [0n, '', '000000', '000000000000'],
    [1n, '.000001', '000001', '000001000000'],
    [100_000n, '.1', '100000', '100000000000'],
    [123_450n, '.12345', '123450', '123450000000'],
    [999_999n, '.999999', '999999', '999999000000'],
  ])('%i microseconds', (micros, fraction, six, twelve) => {
    const time = new Time(micros);
    expect(formatTime('%Q|%v|%q|%s', time)).toBe(`${fraction}|${six}|${twelve}|0`);
    expect(parseTime('%S%Q', `00${fraction}`, 4).micros).toBe(micros);
    expect(parseTime('%S.%v', `00.${six}`, 4).micros).toBe(micros);
    expect(parseTime('%S.%q', `00.${twelve}`, 4).micros).toBe(micros);
  });

  it.each([
    ['1234564', 123_456n],
    ['1234565', 123_457n],
    ['12345649', 123_456n],
    ['9999995', 1_000_000n],
  ])('.%s are rounded by the seventh digit', (digits, micros) => {
    expect(parseTime('%S.%v', `00.${digits}`, 4).micros).toBe(micros);
  });

  it('are parts of the seconds before 1970, too', () => {
    expect(formatTime('%F %T %v', new Time(-1n))).toBe('1969-12-31 23:59:59 999999');
    expect(formatTime('%T %s', new Time(-1_000_000n))).toBe('23:59:59 -1');
  });
});

describe('numbers of several lengths', () => {
  it.each([
    ['%j', '366', '1970-12-31'],
    ['%Y %j', '2016 366', '2016-12-31'],
    ['%Y %j', '2016 000', '2016-01-01'],
    ['%e', '9', '1970-01-09'],
    ['%e', ' 9', '1970-01-09'],
    ['%e', '09', '1970-01-09'],
    ['%Y', '12345', '12345-01-01'],
    ['%Y', '7', '0007-01-01'],
    ['%y', '00', '2000-01-01'],
    ['%C', '19', '1970-01-01'],
    ['%C', '20', '2070-01-01'],
    ['%Y %U', '2021 00', '2020-12-31'],
    ['%Y %W %w', '2021 01 0', '2021-01-10'],
    ['%G %V %w', '2021 01 0', '2021-01-10'],
    ['%G %V %a', '2021 01 wed', '2021-01-06'],
    ['%G %V %w', '2025 53 1', '2025-12-22'],
    ['%G %V %w', '2026 53 1', '2026-12-28'],
    ['%G', '2021', '2021-01-07'],
    ['%m %d', '13 99', '1970-12-31'],
  ])('%s of %s', (format, text, date) => {
    expect(formatTime('%F', parseTime(format, text, 4))).toBe(date);
  });
});

it('a text of a time may have the maximum of characters, and no more', () => {
  const time = '2016-07-22T12:00:00Z';
  const longest = time.padEnd(MAX_TIME_TEXT);
  expect(parseTime('%FT%TZ', longest, 4).micros).toBe(parseTime('%FT%TZ', time, 4).micros);
  expect(() => parseTime('%FT%TZ', `${longest} `, 4)).toThrow(/at most 1000 characters/);
  expect(parseTime(`%FT%TZ${' '.repeat(MAX_TIME_TEXT - '%FT%TZ'.length)}`, time, 4)).toBeDefined();
  expect(() => parseTime(`%FT%TZ${' '.repeat(MAX_TIME_TEXT - '%FT%T'.length)}`, time, 4)).toThrow(
    /at most 1000 characters/,
  );
  expect(timeOfJsonText(longest, false)).toBeDefined();
  expect(timeOfJsonText(`${longest} `, false)).toBeUndefined();
});
