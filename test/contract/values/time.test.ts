import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContractError } from '#pickaxe/contract/errors.js';
import { Decimal } from '#pickaxe/contract/values/decimal.js';
import { Time } from '#pickaxe/contract/values/time.js';
import { formatTime } from '#pickaxe/contract/values/time-format.js';
import { MAX_TIME_TEXT, parseTime, timeOfText } from '#pickaxe/contract/values/time-parsing.js';
import { times } from '../arbitraries.ts';

const winter = timeOfText('2010-12-21T13:23:45Z', 4).add(new Decimal(1002n, 6));
const seconds = (text: string) => Decimal.parse(text)!;

describe('formatted times', () => {
  it.each([
    ['%%', '%'],
    ['%H %I %k %l', '13 01 13  1'],
    ['%M:%S', '23:45'],
    ['%p %P', 'PM pm'],
    ['%v %q %Q', '001002 001002000000 .001002'],
    ['%s', '1292937825'],
    ['%D %F %x', '12/21/10 2010-12-21 12/21/10'],
    ['%T %X %R %r', '13:23:45 13:23:45 13:23 01:23:45 PM'],
    ['%c', 'Tue Dec 21 13:23:45 UTC 2010'],
    ['%Y %y %C', '2010 10 20'],
    ['%B %b %h %m', 'December Dec Dec 12'],
    ['%d %e %j', '21 21 355'],
    ['%G %g %f %V', '2010 10 20 51'],
    ['%u %w %a %A', '2 2 Tue Tuesday'],
    ['%U %W', '51 51'],
    ['%z %N %Z', '+0000 +00:00 UTC'],
    ['%-d %_d %0d %^a %#a %_-0^#H', '21 21 21 Tue Tue 13'],
    ['%L %n %', '%L %n %'],
    ['100 % größer', '100 % größer'],
  ])('%s is %s', (format, text) => {
    expect(formatTime(format, winter)).toBe(text);
  });

  it.each([
    ['0000-01-01T00:00:00Z', '%Y %y %C %j %I %l %k %a', '0000 00 00 001 12 12  0 Sat'],
    ['1969-12-31T23:59:59Z', '%F %j %s %G-%V-%u', '1969-12-31 365 -1 1970-01-3'],
    ['2021-01-03T12:00:00Z', '%G-%V-%u %U %W %w %p', '2020-53-7 01 00 0 PM'],
    ['2024-12-30T00:00:00Z', '%G-%V-%u %U %W %j', '2025-01-1 52 53 365'],
    ['2000-02-29T00:00:00Z', '%F %j %e', '2000-02-29 060 29'],
    ['1900-03-01T00:00:00Z', '%F %j %e', '1900-03-01 060  1'],
  ])('of %s as %s', (iso, format, text) => {
    expect(formatTime(format, timeOfText(iso, 4))).toBe(text);
  });

  it('agree with the calendar of ECMAScript', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(-1), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
        const time = new Time(BigInt(date.getTime()) * 1000n);
        expect(formatTime('%Y-%m-%dT%H:%M:%S.%v', time)).toBe(`${date.toISOString().slice(0, -1)}000`);
        expect(formatTime('%w', time)).toBe(`${date.getUTCDay()}`);
        expect(`${time}`).toBe(`${date.toISOString().slice(0, 19)}Z`);
      }),
    );
  });
});

describe('read times', () => {
  it.each([
    ['%Y-%m-%d', '2016-07-22', '2016-07-22T00:00:00.000000Z'],
    ['%F', '2016-09-12', '2016-09-12T00:00:00.000000Z'],
    ['%T', '16:00:00', '1970-01-01T16:00:00.000000Z'],
    ['%Y%m%d', '20160722', '2016-07-22T00:00:00.000000Z'],
    ['%y', '69', '1969-01-01T00:00:00.000000Z'],
    ['%y', '68', '2068-01-01T00:00:00.000000Z'],
    ['%C%y', '1868', '1868-01-01T00:00:00.000000Z'],
    ['%Y-%j', '2016-060', '2016-02-29T00:00:00.000000Z'],
    ['%G-W%V-%u', '2020-W53-7', '2021-01-03T00:00:00.000000Z'],
    ['%f%g %V', '2010 01', '2010-01-07T00:00:00.000000Z'],
    ['%Y %U %w', '2021 01 0', '2021-01-03T00:00:00.000000Z'],
    ['%Y %W %u', '2021 00 7', '2021-01-03T00:00:00.000000Z'],
    ['%d %B %Y', '1 mArch 2020', '2020-03-01T00:00:00.000000Z'],
    ['%d. %b %Y', '01. may 2020', '2020-05-01T00:00:00.000000Z'],
    ['%h %Y', 'dec 2020', '2020-12-01T00:00:00.000000Z'],
    ['%e.%m.%Y', ' 1.12.2020', '2020-12-01T00:00:00.000000Z'],
    ['%e%m', '2112', '1970-12-21T00:00:00.000000Z'],
    ['%d', '05', '1970-01-05T00:00:00.000000Z'],
    ['%m', '05', '1970-05-01T00:00:00.000000Z'],
    ['%c', 'Tue Dec  1 13:23:45 UTC 2020', '2020-12-01T13:23:45.000000Z'],
    ['%e/%m/%Y', '1/12/2020', '2020-12-01T00:00:00.000000Z'],
    ['%k:%M', ' 9:05', '1970-01-01T09:05:00.000000Z'],
    ['%I %p', '12 am', '1970-01-01T00:00:00.000000Z'],
    ['%I %P', '12 PM', '1970-01-01T12:00:00.000000Z'],
    ['%l%p', '1pm', '1970-01-01T13:00:00.000000Z'],
    ['%S.%v', '01.5', '1970-01-01T00:00:01.500000Z'],
    ['%S%Q', '01.1234565', '1970-01-01T00:00:01.123457Z'],
    ['%S%QZ', '01Z', '1970-01-01T00:00:01.000000Z'],
    ['%s', '-1', '1969-12-31T23:59:59.000000Z'],
    ['%T%z', '12:00:00+0130', '1970-01-01T10:30:00.000000Z'],
    ['%T%N', '12:00:00-01:30', '1970-01-01T13:30:00.000000Z'],
    ['%T %Z', '12:00:00 EST', '1970-01-01T17:00:00.000000Z'],
    ['%T %Z', '12:00:00 ZULU', '1970-01-01T12:00:00.000000Z'],
    ['%H   %M', ' 12 30 ', '1970-01-01T12:30:00.000000Z'],
    ['%Y-%m-%d', '2023-13-45', '2023-12-31T00:00:00.000000Z'],
    ['%Y-%m-%d', '-0044-03-15', '-0044-03-15T00:00:00.000000Z'],
  ])('%s of %s', (format, text, iso) => {
    expect(parseTime(format, text, 4).toPreciseString()).toBe(iso);
  });

  it.each([
    ['%F', '2016-07'],
    ['%F', '2016-07-22x'],
    ['%L', '1'],
    ['%H', 'xx'],
    ['%B', 'Mär'],
    ['%Z', 'XYZ'],
    ['%Y', '9999999999999999999999'],
    ['%s', '-'],
    ['', 'x'],
  ])('%s refuses %s', (format, text) => {
    expect(() => parseTime(format, text, 4)).toThrow(
      new ContractError('eval', `Failed to parse time '${text}' with format: ${format}`),
    );
  });

  it('say which format the native time has', () => {
    expect(() => timeOfText('2016-07-22', 4)).toThrow("Invalid time, expecting '%Y-%m-%dT%H:%M:%SZ': 2016-07-22");
  });

  it.each([
    '%Y-%m-%dT%H:%M:%S%N',
    '%a, %_d %b %Y %H:%M:%S %Z',
    '%G-%V-%u %T',
    '%Y %j %r',
    '%Y %U %w %T',
    '%Y %W %A %X',
    '%s',
  ])('are those that were formatted with %s', (format) => {
    fc.assert(
      fc.property(fc.integer({ min: -(10 ** 10), max: 10 ** 11 }), (second) => {
        const time = new Time(BigInt(second) * 1_000_000n);
        expect(parseTime(format, formatTime(format, time), 4).micros).toBe(time.micros);
      }),
    );
  });

  it('keep the microseconds in all 64 bits', () => {
    fc.assert(
      fc.property(times, (time) => {
        const text = time.toPreciseString();
        expect(parseTime('%Y-%m-%dT%H:%M:%S.%vZ', text, 4).micros).toBe(time.micros);
        expect(parseTime('%FT%T%QZ', formatTime('%FT%T%QZ', time), 4).micros).toBe(time.micros);
      }),
    );
  });

  it('end soon for hostile formats', () => {
    const error = `A time and its format may have at most ${MAX_TIME_TEXT} characters`;
    expect(() => parseTime('%k'.repeat(450), '1'.repeat(901), 4)).toThrow('Failed to parse time');
    expect(() => parseTime(`${'%Y'.repeat(250)}x`, '1'.repeat(1000), 4)).toThrow('Failed to parse time');
    expect(() => parseTime('%Q'.repeat(500), '.'.repeat(1000), 4)).toThrow('Failed to parse time');
    expect(() => parseTime('%c'.repeat(500), 'x', 4)).toThrow('Failed to parse time');
    expect(() => parseTime('x'.repeat(1001), 'x', 4)).toThrow(error);
    expect(() => parseTime('x', 'x'.repeat(1001), 4)).toThrow(error);
  });
});

describe('sums and differences', () => {
  it('of times and seconds', () => {
    const noon = timeOfText('2016-07-22T12:00:00Z', 4);
    expect(`${noon.add(15n)}`).toBe('2016-07-22T12:00:15Z');
    expect(noon.add(seconds('0.0000005')).micros).toBe(noon.micros);
    expect(noon.add(seconds('0.0000015')).micros).toBe(noon.micros + 2n);
    expect(noon.add(seconds('-0.5')).toPreciseString()).toBe('2016-07-22T11:59:59.500000Z');
    expect(`${noon.subtract(noon.add(seconds('-1.50')))}`).toBe('1.5');
    expect(`${noon.subtract(noon)}`).toBe('0');
  });

  it('agree with each other', () => {
    fc.assert(
      fc.property(times, times, (a, b) => {
        expect(b.add(a.subtract(b)).micros).toBe(a.micros);
      }),
    );
  });

  it('stay within 64 bits, from 1858-11-17 on: after the last time comes the first one', () => {
    const last = new Time(2n ** 63n - 1n - 40_587n * 86_400_000_000n);
    expect(last.toPreciseString()).toBe('294135-11-26T04:00:54.775807Z');
    const first = last.add(seconds('0.000001'));
    expect(first.toPreciseString()).toBe('-290419-11-07T19:59:05.224192Z');
    expect(first.add(seconds('-0.000001')).micros).toBe(last.micros);
    expect(`${first.subtract(last)} ${last.subtract(first)}`).toBe('0.000001 -0.000001');
  });
});
