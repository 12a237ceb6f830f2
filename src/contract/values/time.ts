/** Points in time, with a precision of microseconds. There are no leap seconds: every day has 86,400 seconds. */

import { type Numeric, toDecimal } from './arithmetic.ts';
import { calendarDay } from './calendar.ts';
import { Decimal } from './decimal.ts';
import { floorModulo } from './integers.ts';

const MICROS_IN_SECOND = 1_000_000n;
const SECONDS_IN_DAY = 86_400;
/**
 * From 1858-11-17, the first of the modified Julian days, to 1970-01-01. The language counts microseconds from the
 * former day, in 64 bits without a check: 292,000 years later follow the times of 292,000 years before.
 */
const MICROS_BEFORE_1970 = 40_587n * BigInt(SECONDS_IN_DAY) * MICROS_IN_SECOND;

/** A time, divided into the day and the time of the day in UTC. */
export interface ClockTime {
  /** Number of days since 1970-01-01; negative before that day. */
  readonly days: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Microseconds since the beginning of the second: 0 … 999,999. */
  readonly micros: number;
}

export class Time {
  /** Microseconds since 1970-01-01 in UTC. */
  readonly micros: bigint;

  /** @param micros the value of the field `micros`. If it does not fit, the time is another one, as in the language */
  constructor(micros: bigint) {
    this.micros = BigInt.asIntN(64, micros + MICROS_BEFORE_1970) - MICROS_BEFORE_1970;
  }

  /**
   * @param seconds are rounded half-even to microseconds
   * @returns the time that is this number of seconds later
   */
  add(seconds: Numeric): Time {
    const micros = toDecimal(seconds).multiply(Decimal.ofInteger(MICROS_IN_SECOND)).round('half-even');
    return new Time(this.micros + micros);
  }

  /** @returns the seconds from the other time to this time, without trailing zeros; negative if the other is later */
  subtract(other: Time): Decimal {
    return Decimal.ofInteger(BigInt.asIntN(64, this.micros - other.micros)).divide(Decimal.ofInteger(MICROS_IN_SECOND));
  }

  clock(): ClockTime {
    const micros = Number(floorModulo(this.micros, MICROS_IN_SECOND));
    const seconds = Number((this.micros - BigInt(micros)) / MICROS_IN_SECOND);
    const days = Math.floor(seconds / SECONDS_IN_DAY);
    const inDay = seconds - days * SECONDS_IN_DAY;
    return {
      days,
      hour: Math.floor(inDay / 3600),
      minute: Math.floor(inDay / 60) % 60,
      second: inDay % 60,
      micros,
    };
  }

  /** @returns `2016-07-22T12:00:00Z`, without the fraction of the second */
  toString(): string {
    return `${this.#dateAndTime()}Z`;
  }

  /** @returns `2016-07-22T12:00:00.000001Z`, always with six digits after the point */
  toPreciseString(): string {
    return `${this.#dateAndTime()}.${padded(this.clock().micros, 6)}Z`;
  }

  #dateAndTime(): string {
    const { days, hour, minute, second } = this.clock();
    const { year, month, day } = calendarDay(days);
    const date = `${yearText(year)}-${padded(month, 2)}-${padded(day, 2)}`;
    return `${date}T${padded(hour, 2)}:${padded(minute, 2)}:${padded(second, 2)}`;
  }
}

/** @param number at least 0 @param digits minimum number of characters @param filler the character before the number */
export function padded(number: number, digits: number, filler = '0'): string {
  return `${number}`.padStart(digits, filler);
}

/** @returns the year with at least four digits, after a minus sign if the year is negative */
export function yearText(year: number): string {
  return `${year < 0 ? '-' : ''}${padded(Math.abs(year), 4)}`;
}
