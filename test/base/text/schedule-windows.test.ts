import fc from 'fast-check';
import { afterEach, describe, expect, it, test } from 'vitest';
import { formatMoment, formatWindows, isOpen, nextChange, parseWindows } from '#pickaxe/base/text/schedule-windows.js';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const zone = process.env.TZ;

/** A time zone with summer time. */
function goTo(place: string): void {
  process.env.TZ = place;
}

afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

const at = (text: string) => new Date(text).getTime();
const plain = (text: string) =>
  parseWindows(text).map(({ days, from, to }) => [
    [...days]
      .sort()
      .map((day) => DAYS[day])
      .join(' '),
    from / 60,
    to / 60,
  ]);
const every = 'sun mon tue wed thu fri sat';
const week = 'mon tue wed thu fri';

describe('windows as people write them', () => {
  it('are 64 at most', () => {
    const windows = (count: number) => Array(count).fill('mon 10:00-12:00').join(', ');
    expect(parseWindows(windows(64))).toHaveLength(64);
    expect(() => parseWindows(windows(65))).toThrow('a schedule has at most 64 windows');
  });

  it.each([
    ['22:00-07:00', [[every, 22, 7]]],
    ['8:30-12:00', [[every, 8.5, 12]]],
    ['00:00-24:00', [[every, 0, 24]]],
    [
      'mon-fri 22:00-07:00, sat,sun',
      [
        [week, 22, 7],
        ['sun sat', 0, 24],
      ],
    ],
    ['sat,sun 10:00-18:00', [['sun sat', 10, 18]]],
    [
      'MON, wed 10:00-18:00 ,fri',
      [
        ['mon wed', 10, 18],
        ['fri', 0, 24],
      ],
    ],
    [
      'mon 10:00-12:00, 22:00-24:00',
      [
        ['mon', 10, 12],
        [every, 22, 24],
      ],
    ],
    [
      '12:00-13:00, sat',
      [
        [every, 12, 13],
        ['sat', 0, 24],
      ],
    ],
    ['sat, 12:00-13:00', [['sat', 12, 13]]],
    ['fri-mon', [['sun mon fri sat', 0, 24]]],
  ])('are read from %s', (text, windows) => {
    expect(plain(text)).toEqual(windows);
  });

  it.each([
    ['', 'nothing between two commas'],
    ['mon,', 'nothing between two commas'],
    ['monday', '"monday" is not a day: days are sun, mon'],
    ['mon-tue-wed', 'is not a day'],
    ['mon-', 'is not a day'],
    ['at night', '"at" is not a day'],
    ['mon 22-7', '"22-7" is not a time'],
    ['22:00', '"22:00" is not a time'],
    ['22:00 - 07:00', '"22:00 - 07:00" is not a time window: put a comma between two'],
    ['mon 10:00-12:00 14:00-16:00', 'put a comma between two'],
    ['24:00-07:00', 'hours go from 00:00 to 24:00'],
    ['22:60-07:00', 'hours go from 00:00 to 24:00'],
    ['22:00-24:01', 'hours go from 00:00 to 24:00'],
    ['07:00-07:00', 'a whole day is 00:00-24:00'],
    [Array(65).fill('mon 10:00-11:00').join(','), 'at most 64 windows'],
  ])('%j is refused: %s', (text, why) => {
    expect(() => parseWindows(text)).toThrow(RangeError);
    expect(() => parseWindows(text)).toThrow(why);
  });

  test('are 64 at most', () => {
    expect(parseWindows(Array(64).fill('mon 10:00-11:00').join(','))).toHaveLength(64);
  });

  test('any other text is a RangeError', () => {
    const pieces = fc.constantFrom('mon', 'sun', '-', ',', ' ', '22:00', '07:00', ':', '9', 'x', '\n', '-1');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces).map((all) => all.join('')),
        ),
        (text) => {
          try {
            expect(parseWindows(text).length).toBeGreaterThan(0);
          } catch (fault) {
            expect(fault).toBeInstanceOf(RangeError);
          }
        },
      ),
    );
  });
});

const minute = fc.integer({ min: 0, max: 1439 });
const window = fc
  .record({ days: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1 }), from: minute, to: minute })
  .filter(({ from, to }) => from !== to);
const instant = fc.integer({ min: at('2024-01-01T00:00Z'), max: at('2030-01-01T00:00Z') });
const clockTime = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

describe('windows as text', () => {
  it.each([
    ['22:00-07:00', '22:00-07:00'],
    ['mon-fri 22:00-7:00, sat,sun', 'mon-fri 22:00-07:00, sat,sun'],
    ['SAT , mon,tue,wed 08:30-12:00', 'mon-wed,sat 08:30-12:00'],
    ['fri-mon', 'mon,fri-sun'],
    ['sun-sat', '00:00-24:00'],
    ['sat 00:00-24:00, sun 10:00-18:00', 'sat 00:00-24:00, sun 10:00-18:00'],
  ])('%s is printed as %s', (text, printed) => {
    expect(formatWindows(parseWindows(text))).toBe(printed);
    expect(parseWindows(printed)).toEqual(parseWindows(text));
  });

  it('can be parsed to the same windows', () => {
    const windows = fc.array(
      window.map(({ days, ...times }) => ({ days: new Set(days), ...times })),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(windows, (all) => {
        expect(parseWindows(formatWindows(all))).toEqual(all);
      }),
    );
  });
});

test('isOpen agrees with a list of all minutes of a week', () => {
  goTo('UTC');
  fc.assert(
    fc.property(fc.array(window, { minLength: 1, maxLength: 4 }), instant, (wishes, now) => {
      const open = new Set<number>();
      for (const { days, from, to } of wishes) {
        const minutes = (to - from + 1440) % 1440;
        for (const day of days) for (let i = 0; i < minutes; i++) open.add((day * 1440 + from + i) % 10_080);
      }
      const text = wishes
        .map(({ days, from, to }) => `${days.map((day) => DAYS[day]).join(',')} ${clockTime(from)}-${clockTime(to)}`)
        .join(', ');
      // The UNIX epoch was a Thursday.
      const minuteOfWeek = (Math.floor(now / 60_000) + 4 * 1440) % 10_080;
      expect(isOpen(parseWindows(text), now)).toBe(open.has(minuteOfWeek));
    }),
  );
});

test.each(['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'])(
  'nextChange in %s finds the first minute that differs from now',
  (place) => {
    goTo(place);
    const windows = fc.array(window, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(windows, instant, fc.array(fc.float({ min: 0, max: 1, noNaN: true })), (wishes, now, parts) => {
        const all = wishes.map(({ days, ...times }) => ({ days: new Set(days), ...times }));
        const change = nextChange(all, now);
        const open = isOpen(all, now);
        const end = change ?? now + 7 * 86_400_000;
        for (const part of parts) expect(isOpen(all, Math.min(end - 1, now + part * (end - now)))).toBe(open);
        if (change === undefined) return;
        expect(isOpen(all, change - 1)).toBe(open);
        expect(isOpen(all, change)).toBe(!open);
      }),
      { numRuns: 50 },
    );
  },
);

describe('when the clocks change', () => {
  const night = parseWindows('22:00-07:00');
  it('in spring, the night is an hour shorter', () => {
    goTo('Europe/Berlin');
    expect(nextChange(night, at('2026-03-28T21:00Z'))).toBe(at('2026-03-29T05:00Z'));
  });
  it('in autumn, it is an hour longer', () => {
    goTo('Europe/Berlin');
    expect(nextChange(night, at('2026-10-24T20:00Z'))).toBe(at('2026-10-25T06:00Z'));
  });
  it('a window in the hour that comes twice opens twice', () => {
    goTo('Europe/Berlin');
    const windows = parseWindows('02:10-02:20');
    expect(nextChange(windows, at('2026-10-25T00:00Z'))).toBe(at('2026-10-25T00:10Z'));
    expect(nextChange(windows, at('2026-10-25T00:10Z'))).toBe(at('2026-10-25T00:20Z'));
    expect(nextChange(windows, at('2026-10-25T00:20Z'))).toBe(at('2026-10-25T01:10Z'));
  });
  it('a window in the hour that is skipped opens on the next day', () => {
    goTo('Europe/Berlin');
    expect(nextChange(parseWindows('02:10-02:20'), at('2026-03-29T00:30Z'))).toBe(at('2026-03-30T00:10Z'));
  });
});

test('a schedule that never closes has no next change', () => {
  expect(nextChange(parseWindows('00:00-24:00'), Date.now())).toBeUndefined();
  expect(nextChange(parseWindows('sun-sat'), Date.now())).toBeUndefined();
});

test('a time is written with its weekday unless it is today', () => {
  goTo('Europe/Berlin');
  const now = at('2026-06-01T12:00Z'); // a Monday, 14:00 in Berlin
  expect(formatMoment(at('2026-06-01T20:00Z'), now)).toBe('22:00');
  expect(formatMoment(at('2026-06-01T22:05Z'), now)).toBe('tue 00:05');
});
