/** Numbers, times, sizes, hashrates and temperatures. */

import {
  formatHashrate,
  formatSize,
  HASHRATE,
  parseHashrate,
  parseSize,
  parseTime,
  TIME,
} from '../../text/quantities.ts';
import { parsed, type SettingType } from './setting-type.ts';

export interface NumberType extends SettingType<number> {
  readonly least: number;
  readonly most: number;
  readonly whole: boolean;
}

export function integer(least: number, most: number, says?: string): NumberType {
  return {
    form: 'number',
    says: says ?? `Give a whole number from ${least} to ${most}.`,
    schema: (z) => z.int().min(least).max(most),
    least,
    most,
    whole: true,
  };
}

function decimal(least: number, most: number, says: string): NumberType {
  return { form: 'number', says, schema: (z) => z.number().min(least).max(most), least, most, whole: false };
}

/** A number of seconds, also as a text with units. */
export interface TimeType extends SettingType<number> {
  /** @returns seconds; undefined for a text that is not a time, or not one within the bounds */
  readonly parse: (text: string) => number | undefined;
}

/** @param least seconds @param most seconds */
export function time(least: number, most: number, says: string): TimeType {
  const parse = (text: string) => {
    const seconds = parseTime(text);
    return seconds === undefined || seconds < least || seconds > most ? undefined : seconds;
  };
  return {
    form: 'number',
    says,
    parse,
    schema: (z) => z.union([z.number().min(least).max(most), parsed({ says, pattern: TIME, parse }).schema(z)]),
  };
}

const SECONDS_IN_YEAR = 365 * 86_400;
export const duration = time(0.001, SECONDS_IN_YEAR, 'Give seconds, or a time like 90m, 1h30m or 2d, up to 365 days.');

/** A shorter batch can end unseen between two looks at it; a longer one makes a driver believe that the GPU hangs. */
export const batchSeconds = decimal(2, 1000, 'Give milliseconds from 2 to 1000.');

/** Pools count in units of their own, some below 1. */
export const poolDifficulty = decimal(1e-6, 1e15, 'Give a number from 0.000001 to 1000000000000000.');

/** Of a kilowatt-hour. Some currencies count in thousands. */
export const price = decimal(0, 1e6, 'Give the price of a kilowatt-hour as a number from 0 to 1000000, like 0.30.');

/** What a rig can draw. */
export const watts = decimal(1, 1e6, 'Give watts from 1 to 1000000.');

/** °C that chips can have. */
export const celsius = integer(30, 120, 'Give °C from 30 to 120.');
export const celsiusOrNone: SettingType<number | 'none'> = {
  ...celsius,
  says: 'Give °C from 30 to 120, or none.',
  schema: (z) => z.union([z.literal('none'), celsius.schema(z)]),
};

export const niceness = integer(0, 19, 'Give a niceness from 0 (normal) to 19 (all other programs go first).');

const MIN_FILE_BYTES = 1024;
const MAX_FILE_BYTES = 1024 ** 4;

/** Bytes. A smaller file would be rotated all the time; no editor opens a larger one. */
export const fileSize = parsed({
  says: 'Give a size like 500k, 10M or 1G, from 1k to 1024G.',
  parse: (text) => {
    const bytes = parseSize(text) ?? 0;
    return Number.isInteger(bytes) && bytes >= MIN_FILE_BYTES && bytes <= MAX_FILE_BYTES ? bytes : undefined;
  },
  print: formatSize,
});

/** The least hashrate of a device; without a device, of the rig. */
export interface LeastRate {
  readonly device?: string;
  /** H/s */
  readonly limit: number;
}

const LEAST_RATE = new RegExp(`^(?:(cpu|gpu\\d{1,3})=)?(${HASHRATE.source.slice(1, -1)})$`);

export const leastRate = parsed<LeastRate>({
  says: 'Write a hashrate above 0 like 800M, 20G or 20 GH/s, or gpu0=5G for one device.',
  pattern: LEAST_RATE,
  parse: (text) => {
    const [, device, rate = ''] = LEAST_RATE.exec(text) ?? [];
    const limit = parseHashrate(rate) ?? 0;
    return limit > 0 ? { ...(device !== undefined && { device }), limit } : undefined;
  },
  print: ({ device, limit }) => `${device === undefined ? '' : `${device}=`}${formatHashrate(limit)}`,
});
