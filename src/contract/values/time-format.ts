/** The native `format-time`, whose format has codes such as `%Y`. Each code stands for a part of the time. */

import { type CalendarDay, calendarDay, isoWeek, mondayWeek, sundayWeek } from './calendar.ts';
import { type ClockTime, padded, type Time, yearText } from './time.ts';

export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
export const SHORT_WEEKDAYS = WEEKDAYS.map((name) => name.slice(0, 3));
export const SHORT_MONTHS = MONTHS.map((name) => name.slice(0, 3));
export const DAY_HALVES = ['AM', 'PM'];

/** The codes that stand for several parts of a time, each with the format for which it stands. */
const COMBINED: Readonly<Record<string, string>> = {
  c: '%a %b %e %H:%M:%S %Z %Y',
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  R: '%H:%M',
  r: '%I:%M:%S %p',
  T: '%H:%M:%S',
  X: '%H:%M:%S',
  x: '%m/%d/%y',
};

/** A part of a format: a code without the `%`, or one literal character. */
export type Part = { readonly code: string } | { readonly text: string };

/** Splits a format into its parts. Flags between `%` and a code are dropped, and `%%` becomes a literal `%`. */
export function partsOf(format: string): Part[] {
  const parts: Part[] = [];
  for (const [, code, text] of format.matchAll(/%[-_0^#]*([^-_0^#])|(.)/gsu)) {
    if (code === undefined || code === '%') parts.push({ text: text ?? '%' });
    else if (Object.hasOwn(COMBINED, code)) parts.push(...partsOf(COMBINED[code]));
    else parts.push({ code });
  }
  return parts;
}

/* Formatting. */

/** The time to format, as the number of its microseconds, as a time of the day and as a date. */
interface Shown {
  readonly time: Time;
  readonly clock: ClockTime;
  readonly date: CalendarDay;
}

const FORMATS: Readonly<Record<string, (shown: Shown) => string>> = {
  // The clock.
  H: ({ clock }) => padded(clock.hour, 2),
  I: ({ clock }) => padded(twelveHours(clock), 2),
  k: ({ clock }) => padded(clock.hour, 2, ' '),
  l: ({ clock }) => padded(twelveHours(clock), 2, ' '),
  M: ({ clock }) => padded(clock.minute, 2),
  S: ({ clock }) => padded(clock.second, 2),
  p: ({ clock }) => dayHalf(clock),
  P: ({ clock }) => dayHalf(clock).toLowerCase(),
  v: ({ clock }) => padded(clock.micros, 6),
  q: ({ clock }) => `${padded(clock.micros, 6)}000000`,
  Q: ({ clock }) => (clock.micros === 0 ? '' : `.${padded(clock.micros, 6).replace(/0+$/, '')}`),
  s: ({ time }) => `${time.micros / 1_000_000n}`,
  // The date.
  Y: ({ date }) => yearText(date.year),
  y: ({ date }) => yearOfCentury(date.year),
  C: ({ date }) => century(date.year),
  B: ({ date }) => MONTHS[date.month - 1],
  b: ({ date }) => SHORT_MONTHS[date.month - 1],
  h: ({ date }) => SHORT_MONTHS[date.month - 1],
  m: ({ date }) => padded(date.month, 2),
  d: ({ date }) => padded(date.day, 2),
  e: ({ date }) => padded(date.day, 2, ' '),
  j: ({ date }) => padded(date.ordinal, 3),
  // Weeks.
  G: ({ clock }) => yearText(isoWeek(clock.days).year),
  g: ({ clock }) => yearOfCentury(isoWeek(clock.days).year),
  f: ({ clock }) => century(isoWeek(clock.days).year),
  V: ({ clock }) => padded(isoWeek(clock.days).week, 2),
  U: ({ date }) => padded(sundayWeek(date), 2),
  W: ({ date }) => padded(mondayWeek(date), 2),
  A: ({ date }) => WEEKDAYS[date.weekday],
  a: ({ date }) => SHORT_WEEKDAYS[date.weekday],
  u: ({ date }) => `${date.weekday || 7}`,
  w: ({ date }) => `${date.weekday}`,
  // The zone is always UTC.
  z: () => '+0000',
  N: () => '+00:00',
  Z: () => 'UTC',
};

/** @returns the format, with each code replaced by its part of the time. An unknown code stays, but loses its flags */
export function formatTime(format: string, time: Time): string {
  const clock = time.clock();
  const shown = { time, clock, date: calendarDay(clock.days) };
  return partsOf(format)
    .map((part) => {
      if ('text' in part) return part.text;
      return Object.hasOwn(FORMATS, part.code) ? FORMATS[part.code](shown) : `%${part.code}`;
    })
    .join('');
}

function twelveHours({ hour }: ClockTime): number {
  return hour % 12 || 12;
}

function dayHalf({ hour }: ClockTime): string {
  return DAY_HALVES[hour < 12 ? 0 : 1];
}

function yearOfCentury(year: number): string {
  return padded(year - 100 * Math.floor(year / 100), 2);
}

function century(year: number): string {
  return padded(Math.floor(year / 100), 2);
}
