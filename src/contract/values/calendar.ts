/**
 * The Gregorian calendar, extended to all years. The year before 1 is 0, and years before that are negative. Parameters
 * and results named `days` are numbers of days since 1970-01-01.
 */

const DAYS_IN_400_YEARS = 146_097;
/** Number of days from 0000-03-01 to 1970-01-01. */
const DAYS_TO_EPOCH = 719_468;

export interface CalendarDay {
  readonly year: number;
  /** 1 … 12. */
  readonly month: number;
  /** 1 … 31. */
  readonly day: number;
  /** The number of the day in its year: 1 … 366. */
  readonly ordinal: number;
  /** 0 is Sunday, and 6 Saturday. */
  readonly weekday: number;
}

/** A week of ISO 8601, which begins on Monday. */
interface WeekDay {
  /** The year to which the week belongs: the year of its Thursday. */
  readonly year: number;
  /** 1 … 53. */
  readonly week: number;
}

export function calendarDay(days: number): CalendarDay {
  // The years counted here begin in March. Their last day is the leap day, if there is one. So each month begins on the
  // same day of every such year.
  const shifted = days + DAYS_TO_EPOCH;
  const period = Math.floor(shifted / DAYS_IN_400_YEARS);
  const inPeriod = shifted - period * DAYS_IN_400_YEARS;
  const yearInPeriod = Math.floor(
    (inPeriod - Math.floor(inPeriod / 1460) + Math.floor(inPeriod / 36_524) - Math.floor(inPeriod / 146_096)) / 365,
  );
  const inYear = inPeriod - (365 * yearInPeriod + Math.floor(yearInPeriod / 4) - Math.floor(yearInPeriod / 100));
  const monthFromMarch = Math.floor((5 * inYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = 400 * period + yearInPeriod + (month <= 2 ? 1 : 0);
  const day = inYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  return { year, month, day, ordinal: days - firstOfYear(year) + 1, weekday: weekdayOf(days) };
}

/**
 * @param month 1 … 12. A month out of this range becomes the first or the last one
 * @param day of the month, from 1. A day that the month does not have becomes its first or last day
 * @returns the number of days from 1970-01-01 to this date
 */
export function daysOfDate(year: number, month: number, day: number): number {
  const realMonth = clip(month, 1, 12);
  const realDay = clip(day, 1, daysInMonth(year, realMonth));
  const fromMarch = realMonth > 2 ? realMonth - 3 : realMonth + 9;
  const marchYear = realMonth > 2 ? year : year - 1;
  const period = Math.floor(marchYear / 400);
  const yearInPeriod = marchYear - 400 * period;
  const inYear = Math.floor((153 * fromMarch + 2) / 5) + realDay - 1;
  const inPeriod = 365 * yearInPeriod + Math.floor(yearInPeriod / 4) - Math.floor(yearInPeriod / 100) + inYear;
  return period * DAYS_IN_400_YEARS + inPeriod - DAYS_TO_EPOCH;
}

/**
 * @param ordinal number of the day in the year, from 1. A day that the year does not have becomes its first or last day
 * @returns the number of days from 1970-01-01 to this day
 */
export function daysOfOrdinal(year: number, ordinal: number): number {
  return firstOfYear(year) + clip(ordinal, 1, isLeap(year) ? 366 : 365) - 1;
}

/** @returns the week of ISO 8601 that contains the day */
export function isoWeek(days: number): WeekDay {
  const thursday = days - mondayBased(weekdayOf(days)) + 3;
  const { year, ordinal } = calendarDay(thursday);
  return { year, week: Math.floor((ordinal - 1) / 7) + 1 };
}

/**
 * @param year to which the week belongs in ISO 8601
 * @param week from 1. A week that the year does not have becomes its first or last week
 * @param weekday 1 is Monday, and 7 Sunday. A number out of this range becomes 1 or 7
 * @returns the number of days from 1970-01-01 to this day
 */
export function daysOfIsoWeek(year: number, week: number, weekday: number): number {
  const fourth = firstOfYear(year) + 3;
  const firstMonday = fourth - mondayBased(weekdayOf(fourth));
  // December 28 is always in the last week.
  const weeks = isoWeek(daysOfDate(year, 12, 28)).week;
  return firstMonday + 7 * (clip(week, 1, weeks) - 1) + clip(weekday, 1, 7) - 1;
}

/** @returns the number of the week in the year. Week 1 begins on the first Sunday. The days before it are in week 0 */
export function sundayWeek({ ordinal, weekday }: CalendarDay): number {
  return Math.floor((ordinal + 6 - weekday) / 7);
}

/** @returns the number of the week in the year. Week 1 begins on the first Monday. The days before it are in week 0 */
export function mondayWeek({ ordinal, weekday }: CalendarDay): number {
  return Math.floor((ordinal + 6 - mondayBased(weekday)) / 7);
}

/**
 * @param week as `sundayWeek` counts
 * @param weekday 0 is Sunday, and 6 Saturday
 * @returns the number of days from 1970-01-01 to this day
 */
export function daysOfSundayWeek(year: number, week: number, weekday: number): number {
  const first = firstOfYear(year);
  return first + ((7 - weekdayOf(first)) % 7) + 7 * (week - 1) + weekday;
}

/**
 * @param week as `mondayWeek` counts
 * @param weekday 1 is Monday, and 7 Sunday
 * @returns the number of days from 1970-01-01 to this day
 */
export function daysOfMondayWeek(year: number, week: number, weekday: number): number {
  const first = firstOfYear(year);
  return first + ((8 - weekdayOf(first)) % 7) + 7 * (week - 1) + weekday - 1;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function firstOfYear(year: number): number {
  return daysOfDate(year, 1, 1);
}

/** @returns the day of the week: 0 is Sunday, and 6 Saturday */
function weekdayOf(days: number): number {
  // 1970-01-01 was a Thursday.
  return (((days + 4) % 7) + 7) % 7;
}

/** @param weekday 0 is Sunday @returns the day of the week as a number for which 0 is Monday, and 6 Sunday */
function mondayBased(weekday: number): number {
  return (weekday + 6) % 7;
}

function clip(number: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, number));
}
