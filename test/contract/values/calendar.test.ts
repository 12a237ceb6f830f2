/** Days, dates and weeks, beside the calendar of ECMAScript and beside each other. */

import { describe, expect, it } from 'vitest';
import {
  calendarDay,
  daysOfDate,
  daysOfIsoWeek,
  daysOfMondayWeek,
  daysOfOrdinal,
  daysOfSundayWeek,
  isoWeek,
  mondayWeek,
  sundayWeek,
} from '#pickaxe/contract/values/calendar.js';

const DAY_MS = 86_400_000;
const dayOf = (year: number, month: number, day: number) => Date.UTC(year, month - 1, day) / DAY_MS;

/** All days of years with and without a leap day, at the ends of centuries, and of years that begin on each weekday. */
const YEARS = [1600, 1899, 1900, 1901, 1969, 1970, 1999, 2000, 2001, 2015, 2016, 2017, 2018, 2019, 2020, 2021, 2100];
const DAYS = YEARS.flatMap((year) => {
  const first = dayOf(year, 1, 1);
  return Array.from({ length: dayOf(year + 1, 1, 1) - first }, (_, at) => first + at);
});

it('a day has the date and the weekday that ECMAScript gives it', () => {
  const wanted = DAYS.map((days) => {
    const date = new Date(days * DAY_MS);
    const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
    return { year, month, day, ordinal: days - dayOf(year, 1, 1) + 1, weekday: date.getUTCDay() };
  });
  expect(DAYS.map(calendarDay)).toEqual(wanted);
  expect(wanted.map(({ year, month, day }) => daysOfDate(year, month, day))).toEqual(DAYS);
  expect(wanted.map(({ year, ordinal }) => daysOfOrdinal(year, ordinal))).toEqual(DAYS);
});

it('the weeks of a year lead back to its days', () => {
  const all = DAYS.map((days) => ({ day: calendarDay(days), iso: isoWeek(days) }));
  const fromMonday = (weekday: number) => weekday || 7;
  expect(all.map(({ day, iso }) => daysOfIsoWeek(iso.year, iso.week, fromMonday(day.weekday)))).toEqual(DAYS);
  expect(all.map(({ day }) => daysOfMondayWeek(day.year, mondayWeek(day), fromMonday(day.weekday)))).toEqual(DAYS);
  expect(all.map(({ day }) => daysOfSundayWeek(day.year, sundayWeek(day), day.weekday))).toEqual(DAYS);
});

describe('weeks', () => {
  it.each([
    [dayOf(2021, 1, 1), { year: 2020, week: 53 }, 0, 0],
    [dayOf(2021, 1, 3), { year: 2020, week: 53 }, 1, 0],
    [dayOf(2021, 1, 4), { year: 2021, week: 1 }, 1, 1],
    [dayOf(2018, 12, 31), { year: 2019, week: 1 }, 52, 53],
    [dayOf(2017, 1, 1), { year: 2016, week: 52 }, 1, 0],
    [dayOf(2018, 1, 1), { year: 2018, week: 1 }, 0, 1],
  ])('of day %i', (days, iso, fromSunday, fromMonday) => {
    const day = calendarDay(days);
    expect([isoWeek(days), sundayWeek(day), mondayWeek(day)]).toEqual([iso, fromSunday, fromMonday]);
  });
});

describe('what a year does not have becomes what is nearest', () => {
  it.each([
    [daysOfDate(2021, 2, 29), dayOf(2021, 2, 28)],
    [daysOfDate(2020, 2, 30), dayOf(2020, 2, 29)],
    [daysOfDate(1900, 2, 29), dayOf(1900, 2, 28)],
    [daysOfDate(2000, 2, 31), dayOf(2000, 2, 29)],
    ...[1, 3, 5, 7, 8, 10, 12].map((month) => [daysOfDate(2021, month, 99), dayOf(2021, month, 31)]),
    ...[4, 6, 9, 11].map((month) => [daysOfDate(2021, month, 99), dayOf(2021, month, 30)]),
    [daysOfDate(2021, 13, 1), dayOf(2021, 12, 1)],
    [daysOfDate(2021, 0, 1), dayOf(2021, 1, 1)],
    [daysOfDate(2021, 5, 0), dayOf(2021, 5, 1)],
    [daysOfOrdinal(2021, 366), dayOf(2021, 12, 31)],
    [daysOfOrdinal(2020, 367), dayOf(2020, 12, 31)],
    [daysOfOrdinal(2021, 0), dayOf(2021, 1, 1)],
    [daysOfIsoWeek(2021, 53, 1), dayOf(2021, 12, 27)],
    [daysOfIsoWeek(2020, 53, 7), dayOf(2021, 1, 3)],
    [daysOfIsoWeek(2020, 99, 9), dayOf(2021, 1, 3)],
    [daysOfIsoWeek(2021, 0, 0), dayOf(2021, 1, 4)],
  ])('day %i', (days, wanted) => {
    expect(days).toBe(wanted);
  });
});
