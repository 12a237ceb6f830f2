/**
 * The natives `parse-time` and `time`: read a time from a text. The format has codes such as `%Y` for the fields of the
 * time. If the format has no code for a field, the field is taken from 1970-01-01T00:00:00Z, a Thursday.
 */

import type { Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import { daysOfDate, daysOfIsoWeek, daysOfMondayWeek, daysOfOrdinal, daysOfSundayWeek } from './calendar.ts';
import { Time } from './time.ts';
import { DAY_HALVES, MONTHS, type Part, partsOf, SHORT_MONTHS, SHORT_WEEKDAYS, WEEKDAYS } from './time-format.ts';

/** The format of the native `time`. */
export const ISO_FORMAT = '%Y-%m-%dT%H:%M:%SZ';
/** `ISO_FORMAT` with microseconds. */
const PRECISE_FORMAT = '%Y-%m-%dT%H:%M:%S.%vZ';

/**
 * Maximum length of a format and of the text of a time, each in UTF-16 code units. Parsing may try each pair of a place
 * in the format and a place in the text: up to a million pairs.
 */
export const MAX_TIME_TEXT = 1000;
/** If a text gives no century, its years from 69 to 99 are 1969 … 1999, and its years from 0 to 68 are 2000 … 2068. */
const FIRST_YEAR_OF_1900 = 69;

/** The fields of a time, as they are in a text. Their numbers can be out of range, such as 99 for the hour. */
interface Fields {
  century?: number;
  yearOfCentury?: number;
  month?: number;
  day?: number;
  ordinal?: number;
  week?: number;
  /** 0 or 7 is Sunday. */
  weekday?: number;
  hour?: number;
  /** Whether the hour counts from 1 to 12 in each half of the day. */
  isTwelveHours?: boolean;
  isAfternoon?: boolean;
  minute?: number;
  second?: number;
  micros?: number;
  /** Seconds since 1970-01-01 in UTC. If present, all other fields are ignored. */
  epochSeconds?: bigint;
  /** Minutes by which the time is ahead of UTC. */
  zoneMinutes?: number;
  /** The rule by which `week` counts, if the format has a code that belongs to a rule. */
  weeks?: 'iso' | 'sunday' | 'monday';
}

/** One way to read the beginning of a text, and the fields that result. */
interface Reading {
  /** Number of UTF-16 code units that are read. */
  readonly length: number;
  readonly fields: Fields;
}

/** @returns all ways to read the beginning of the text, the preferred one first */
type Reader = (text: string) => readonly Reading[];

const READERS: Readonly<Record<string, Reader>> = {
  H: fixed(2, (hour) => ({ hour, isTwelveHours: false })),
  I: fixed(2, (hour) => ({ hour, isTwelveHours: true })),
  k: spaced((hour) => ({ hour, isTwelveHours: false })),
  l: spaced((hour) => ({ hour, isTwelveHours: true })),
  M: fixed(2, (minute) => ({ minute })),
  S: fixed(2, (second) => ({ second })),
  p: named(DAY_HALVES, (half) => ({ isAfternoon: half === 1, isTwelveHours: true })),
  P: named(DAY_HALVES, (half) => ({ isAfternoon: half === 1, isTwelveHours: true })),
  v: pattern(/^\d+/, ([digits]) => ({ micros: microsOf(digits) })),
  q: pattern(/^\d+/, ([digits]) => ({ micros: microsOf(digits) })),
  Q: (text) => [
    ...pattern(/^\.(\d+)/, ([, digits]) => ({ micros: microsOf(digits) }))(text),
    { length: 0, fields: { micros: 0 } },
  ],
  s: pattern(/^-?\d{1,18}/, ([digits]) => ({ epochSeconds: BigInt(digits) })),
  Y: year({}),
  y: fixed(2, (yearOfCentury) => ({ yearOfCentury })),
  C: fixed(2, (century) => ({ century })),
  B: named(MONTHS, (index) => ({ month: index + 1 })),
  b: named(SHORT_MONTHS, (index) => ({ month: index + 1 })),
  h: named(SHORT_MONTHS, (index) => ({ month: index + 1 })),
  m: fixed(2, (month) => ({ month })),
  d: fixed(2, (day) => ({ day })),
  e: spaced((day) => ({ day })),
  j: fixed(3, (ordinal) => ({ ordinal })),
  G: year({ weeks: 'iso' }),
  g: fixed(2, (yearOfCentury) => ({ yearOfCentury, weeks: 'iso' })),
  f: fixed(2, (century) => ({ century, weeks: 'iso' })),
  V: fixed(2, (week) => ({ week, weeks: 'iso' })),
  U: fixed(2, (week) => ({ week, weeks: 'sunday' })),
  W: fixed(2, (week) => ({ week, weeks: 'monday' })),
  w: fixed(1, (weekday) => ({ weekday })),
  u: fixed(1, (weekday) => ({ weekday })),
  A: named(WEEKDAYS, (weekday) => ({ weekday })),
  a: named(SHORT_WEEKDAYS, (weekday) => ({ weekday })),
  z: zoneOffset,
  N: zoneOffset,
  Z: (text) => [...zoneOffset(text), ...zoneName(text)],
};

/** @throws ContractError for a text of more than 1000 UTF-16 code units */
export function checkLength(text: string): void {
  if (text.length <= MAX_TIME_TEXT) return;
  throw new ContractError('eval', `A time and its format may have at most ${MAX_TIME_TEXT} characters`);
}

/**
 * Ignores white space around the text.
 * @returns undefined if the text does not have the format, or if the time is out of the range of 64 bits
 * @throws ContractError if the format or the text has more than 1000 UTF-16 code units
 */
function readTime(format: string, text: string): Time | undefined {
  checkLength(format);
  checkLength(text);
  const readings = match(partsOf(format), text.trim());
  if (!readings) return undefined;
  const all: Fields = {};
  for (const { fields } of readings) Object.assign(all, fields);
  return timeOf(all);
}

/** The native `parse-time`. @throws ContractError as `readTime`, or where `readTime` returns undefined */
export function parseTime(format: string, text: string, dialect: Dialect): Time {
  const time = readTime(format, text);
  if (time) return time;
  throw new ContractError(
    'eval',
    dialect === 4
      ? `Failed to parse time '${text}' with format: ${format}`
      : 'native execution failure, parse-time failed with message: parse-time parse failure',
  );
}

/** The native `time`. @param text in the format `2016-07-22T12:00:00Z` @throws ContractError for any other text */
export function timeOfText(text: string, dialect: Dialect): Time {
  const time = readTime(ISO_FORMAT, text);
  if (time) return time;
  throw new ContractError(
    'eval',
    dialect === 4
      ? `Invalid time, expecting '${ISO_FORMAT}': ${text}`
      : 'native execution failure, time failed with message: time default format parse failure',
  );
}

/**
 * @param text in the format `2016-07-22T12:00:00Z`
 * @param isPrecise whether the format also has microseconds: `2016-07-22T12:00:00.000001Z`
 * @returns the time; undefined for any other text
 */
export function timeOfJsonText(text: string, isPrecise: boolean): Time | undefined {
  return text.length > MAX_TIME_TEXT ? undefined : readTime(isPrecise ? PRECISE_FORMAT : ISO_FORMAT, text);
}

/**
 * Tries all combinations of readings of the parts until one combination reads the whole text.
 * @returns this combination: one reading for each part, in order; undefined if no combination reads the whole text
 */
function match(parts: readonly Part[], text: string): Reading[] | undefined {
  const chosen: Reading[] = [];
  /**
   * Pairs of a part and an offset in the text, as `place` numbers them. The parts from this part on cannot read the
   * text from this offset on.
   */
  const failed = new Set<number>();

  const matchFrom = (part: number, at: number): boolean => {
    if (part === parts.length) return at === text.length;
    const place = part * (text.length + 1) + at;
    if (failed.has(place)) return false;
    const found = readingsOf(parts[part], text.slice(at)).some((reading) => {
      chosen.push(reading);
      if (matchFrom(part + 1, at + reading.length)) return true;
      chosen.pop();
      return false;
    });
    if (!found) failed.add(place);
    return found;
  };

  return matchFrom(0, 0) ? chosen : undefined;
}

function readingsOf(part: Part, text: string): readonly Reading[] {
  if ('code' in part) return Object.hasOwn(READERS, part.code) ? READERS[part.code](text) : [];
  // A white-space character of the format reads all white space that is next in the text. There may be none.
  if (/^\s$/.test(part.text)) return [{ length: text.length - text.trimStart().length, fields: {} }];
  return text.startsWith(part.text) ? [{ length: part.text.length, fields: {} }] : [];
}

function pattern(wanted: RegExp, fieldsOf: (found: RegExpExecArray) => Fields): Reader {
  return (text) => {
    const found = wanted.exec(text);
    return found ? [{ length: found[0].length, fields: fieldsOf(found) }] : [];
  };
}

/**
 * Reads a number of exactly `length` characters. As in the reference implementation, only the first character must be a
 * digit: `1:` is read as 1.
 */
function fixed(length: number, fieldsOf: (number: number) => Fields): Reader {
  return (text) => {
    const [digits] = /^\d+/.exec(text.slice(0, length)) ?? [];
    return digits === undefined || text.length < length ? [] : [{ length, fields: fieldsOf(Number(digits)) }];
  };
}

/**
 * Reads a number. The ways to read it, in order of preference: a space and a digit; two characters, like `fixed`; one
 * digit.
 */
function spaced(fieldsOf: (number: number) => Fields): Reader {
  const ofOne = fixed(1, fieldsOf);
  const ofTwo = fixed(2, fieldsOf);
  return (text) => {
    const blanks = /^ \d/.test(text) ? ofOne(text.slice(1)).map((each) => ({ ...each, length: 2 })) : [];
    return [...blanks, ...ofTwo(text), ...ofOne(text)];
  };
}

/** Reads one of the names, without regard to case. @param fieldsOf gets the index of the name */
function named(names: readonly string[], fieldsOf: (index: number) => Fields): Reader {
  return (text) => {
    const index = names.findIndex((name) => text.slice(0, name.length).toLowerCase() === name.toLowerCase());
    return index < 0 ? [] : [{ length: names[index].length, fields: fieldsOf(index) }];
  };
}

/**
 * Reads a year: all digits that are next, at most nine, perhaps after a minus sign. The second way to read it is four
 * characters, like `fixed`.
 * @param moreFields are added to the century and the year of the century
 */
function year(moreFields: Fields): Reader {
  const fieldsOf = (number: number) => {
    const century = Math.floor(number / 100);
    return { ...moreFields, century, yearOfCentury: number - 100 * century };
  };
  const ofFour = fixed(4, fieldsOf);
  return (text) => [...pattern(/^-?\d{1,9}(?!\d)/, ([digits]) => fieldsOf(Number(digits)))(text), ...ofFour(text)];
}

/** @param digits of the fraction of a second @returns the microseconds, rounded by the seventh digit */
function microsOf(digits: string): number {
  return Math.floor((Number(digits.slice(0, 7).padEnd(7, '0')) + 5) / 10);
}

function zoneOffset(text: string): readonly Reading[] {
  return pattern(/^([+-])(\d\d):?(\d\d)/, ([, sign, hours, minutes]) => {
    const total = Number(hours) * 60 + Number(minutes);
    return { zoneMinutes: sign === '-' ? -total : total };
  })(text);
}

/**
 * Hours by which named time zones are ahead of UTC. The first name with which the text begins is read. Therefore, a
 * longer name is before each name with which it begins: `UTC` is before `UT`.
 */
const ZONES: Readonly<Record<string, number>> = {
  ZULU: 0,
  UTC: 0,
  GMT: 0,
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
  WET: 0,
  CET: 1,
  CEST: 2,
  EET: 2,
  UT: 0,
  Z: 0,
};

function zoneName(text: string): readonly Reading[] {
  const name = Object.keys(ZONES).find((each) => text.startsWith(each));
  return name === undefined ? [] : [{ length: name.length, fields: { zoneMinutes: 60 * ZONES[name] } }];
}

/** @returns the time of the fields; undefined for a year whose days JavaScript's numbers cannot count */
function timeOf(fields: Fields): Time | undefined {
  const { epochSeconds, minute = 0, second = 0, micros = 0, zoneMinutes = 0 } = fields;
  if (epochSeconds !== undefined) return new Time(epochSeconds * 1_000_000n);
  const days = daysOf(fields);
  if (!Number.isSafeInteger(days)) return undefined;
  const minutes = 60 * hourOf(fields) + minute - zoneMinutes;
  const seconds = 86_400n * BigInt(days) + BigInt(60 * minutes + second);
  return new Time(seconds * 1_000_000n + BigInt(micros));
}

function hourOf({ hour = 0, isTwelveHours = false, isAfternoon = false }: Fields): number {
  if (!isTwelveHours) return hour;
  if (isAfternoon) return hour < 12 ? hour + 12 : hour;
  return hour % 12;
}

/**
 * A date can be given by several fields. The day of the year takes precedence over the month and its day, and these
 * take precedence over the week.
 * @returns the number of days from 1970-01-01 to the date
 */
function daysOf(fields: Fields): number {
  const { month, day, ordinal, week = 1, weekday = 4 } = fields;
  const year = yearOf(fields);
  if (ordinal !== undefined) return daysOfOrdinal(year, ordinal);
  if (month !== undefined || day !== undefined) return daysOfDate(year, month ?? 1, day ?? 1);
  switch (fields.weeks) {
    case 'iso':
      return daysOfIsoWeek(year, week, weekday || 7);
    case 'sunday':
      return daysOfSundayWeek(year, week, weekday % 7);
    case 'monday':
      return daysOfMondayWeek(year, week, weekday || 7);
    default:
      return daysOfOrdinal(year, 1);
  }
}

function yearOf({ century, yearOfCentury = 70 }: Fields): number {
  return yearOfCentury + 100 * (century ?? (yearOfCentury < FIRST_YEAR_OF_1900 ? 20 : 19));
}
