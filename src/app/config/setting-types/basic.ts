/** The interface of setting types, and the basic types. */

import { resolve } from 'node:path';
import type { z } from 'zod';
import { oneLine } from '../../../base/text/plain-text.ts';
import {
  formatHashrate,
  formatSize,
  HASHRATE,
  parseHashrate,
  parseSize,
  parseTime,
  TIME,
} from '../../../base/text/quantities.ts';
import type { LeastRate } from '../../../rig/notify/notices.ts';

/** zod is passed in when something is checked, because loading it takes longer than all of `pickaxe --help`. */
type Zod = typeof z;

/** The values that a setting accepts, how they are written, and how they are parsed. */
export interface SettingType<T> {
  /** The form of a flag's or a variable's text, which is read before the schema checks it. */
  readonly form: 'text' | 'number' | 'switch' | 'list';
  /** One sentence about what to write. */
  readonly hint: string;
  readonly choices?: readonly string[];
  /** Checks a file's value and parses it into the program's. */
  readonly schema: (zod: Zod) => z.ZodType<T>;
  /** @returns the value as in a file. Absent where that is the value itself */
  print?(value: T): unknown;
  /** Resolves a path in the value against the folder of the configuration file that sets the value. */
  startAt?(folder: string, value: T): T;
}

/** @returns the value as in a file */
export function printed<T>(type: SettingType<T>, value: T): unknown {
  return type.print ? type.print(value) : value;
}

/** Maximum length of a text: far longer than any name, URL or path. */
export const MAX_CHARACTERS = 4096;
/** Maximum number of items in a list: far more nodes, keys or devices than anybody names. */
export const MAX_ITEMS = 256;

export function text(pattern: RegExp, hint: string): SettingType<string> {
  return { form: 'text', hint, schema: (z) => z.string().max(MAX_CHARACTERS).regex(pattern) };
}

interface ParsedText<T> {
  readonly hint: string;
  /** The pattern in the JSON Schema, for editors. `parse` must refuse each text that does not match it. */
  readonly pattern?: RegExp;
  /** @returns undefined when the text is not valid @throws RangeError with the reason, where there is one */
  readonly parse: (text: string) => T | undefined;
  readonly print?: (value: T) => string;
}

/** A text that stands for a value of another kind, or that has several spellings. */
export function parsed<T>({ hint, pattern, parse, print }: ParsedText<T>): SettingType<T> {
  return {
    form: 'text',
    hint,
    schema: (z) =>
      z
        .string()
        .max(MAX_CHARACTERS)
        .meta(pattern ? { pattern: pattern.source } : {})
        .transform((text, { issues }) => {
          const { value, why } = attempt(parse, text);
          if (value === undefined) issues.push({ code: 'custom', input: text, params: { why } });
          return value as T;
        }),
    ...(print && { print }),
  };
}

function attempt<T>(parse: ParsedText<T>['parse'], text: string): { value?: T | undefined; why?: string } {
  try {
    return { value: parse(text) };
  } catch (fault) {
    if (!(fault instanceof RangeError)) throw fault;
    return { why: fault.message };
  }
}

/** Maximum length of a reason, which may repeat a part of the text. */
const MAX_WHY = 200;

interface ZodIssue {
  readonly code?: string | undefined;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** @returns the reason for which `parsed` refused a text, if it gave one */
export function whyOf(issues: readonly ZodIssue[]): string | undefined {
  const why = issues.map(({ params }) => params?.why).find((one) => typeof one === 'string');
  return why === undefined ? undefined : oneLine(why, MAX_WHY);
}

export function choice<const T extends readonly [string, ...string[]]>(...choices: T): SettingType<T[number]> {
  return {
    form: 'text',
    hint: `Give one of: ${choices.join(', ')}.`,
    choices,
    schema: (z) => z.enum(choices) as z.ZodType<T[number]>,
  };
}

export const toggle: SettingType<boolean> = {
  form: 'switch',
  hint: 'Give true or false.',
  schema: (z) => z.boolean(),
};

/** Distinct values, in order. A file may have one value in place of a list; flags and variables use commas. */
export function list<T>(item: SettingType<T>): SettingType<readonly T[]> {
  return {
    form: 'list',
    hint: item.hint,
    schema: (z) =>
      z
        .union([z.array(item.schema(z)).min(1).max(MAX_ITEMS), item.schema(z).transform((one) => [one])])
        .transform((items) => distinct(item, items)),
    print: (items) => items.map((value) => printed(item, value)),
    startAt: (folder, items) => items.map((value) => item.startAt?.(folder, value) ?? value),
  };
}

function distinct<T>(item: SettingType<T>, items: readonly T[]): T[] {
  return [...new Map(items.map((value) => [printed(item, value), value])).values()];
}

/** The hint for a path such as `"C:\new"`, in which TOML reads a line break. */
const ESCAPED = 'it has a control character in it. In double quotes, \\ begins one: use single quotes';

/** A file. A relative path starts at the folder of the configuration file that sets it, or at the current folder. */
export const path: SettingType<string> = {
  form: 'text',
  hint: 'Give the path of a file.',
  schema: (z) =>
    z
      .string()
      .max(MAX_CHARACTERS)
      .regex(/^[^\0]+$/)
      .refine((text) => !/\p{Cc}/u.test(text), { params: { why: ESCAPED } }),
  startAt: resolve,
};

/* Numbers, times, sizes, hashrates and temperatures. */

export interface NumberType extends SettingType<number> {
  readonly least: number;
  readonly most: number;
  readonly whole: boolean;
}

export function integer(least: number, most: number, hint?: string): NumberType {
  return {
    form: 'number',
    hint: hint ?? `Give a whole number from ${least} to ${most}.`,
    schema: (z) => z.int().min(least).max(most),
    least,
    most,
    whole: true,
  };
}

function decimal(least: number, most: number, hint: string): NumberType {
  return { form: 'number', hint, schema: (z) => z.number().min(least).max(most), least, most, whole: false };
}

/** A time in seconds, which may also be written as a text with units. */
export interface TimeType extends SettingType<number> {
  /** @returns seconds; undefined for a text that is not a time within the bounds */
  readonly parse: (text: string) => number | undefined;
}

/** @param least seconds @param most seconds */
export function time(least: number, most: number, hint: string): TimeType {
  const parse = (text: string) => {
    const seconds = parseTime(text);
    return seconds === undefined || seconds < least || seconds > most ? undefined : seconds;
  };
  return {
    form: 'number',
    hint,
    parse,
    schema: (z) => z.union([z.number().min(least).max(most), parsed({ hint, pattern: TIME, parse }).schema(z)]),
  };
}

const SECONDS_IN_YEAR = 365 * 86_400;
export const duration = time(0.001, SECONDS_IN_YEAR, 'Give seconds, or a time like 90m, 1h30m or 2d, up to 365 days.');

/** A shorter batch can end between two checks; a longer one looks to a driver like a GPU that hangs. */
const batchSeconds = decimal(2, 1000, 'Give milliseconds from 2 to 1000.');

/** A difficulty in the pool's own units. Some pools use values below 1. */
export const poolDifficulty = decimal(1e-6, 1e15, 'Give a number from 0.000001 to 1000000000000000.');

/** The price of a kilowatt-hour, in any currency. */
export const price = decimal(0, 1e6, 'Give the price of a kilowatt-hour as a number from 0 to 1000000, like 0.30.');

export const watts = decimal(1, 1e6, 'Give watts from 1 to 1000000.');

export const celsius = integer(30, 120, 'Give °C from 30 to 120.');
export const celsiusOrNone: SettingType<number | 'none'> = {
  ...celsius,
  hint: 'Give °C from 30 to 120, or none.',
  schema: (z) => z.union([z.literal('none'), celsius.schema(z)]),
};

export const niceness = integer(0, 19, 'Give a niceness from 0 (normal) to 19 (all other programs go first).');

const MIN_FILE_BYTES = 1024;
const MAX_FILE_BYTES = 1024 ** 4;

/** A size in bytes. A file with a smaller limit would be rotated all the time; no editor opens a larger file. */
export const fileSize = parsed({
  hint: 'Give a size like 500k, 10M or 1G, from 1k to 1024G.',
  parse: (text) => {
    const bytes = parseSize(text) ?? 0;
    return Number.isInteger(bytes) && bytes >= MIN_FILE_BYTES && bytes <= MAX_FILE_BYTES ? bytes : undefined;
  },
  print: formatSize,
});

const LEAST_RATE = new RegExp(`^(?:(cpu|gpu\\d{1,3})=)?(${HASHRATE.source.slice(1, -1)})$`);

export const leastRate = parsed<LeastRate>({
  hint: 'Write a hashrate above 0 like 800M, 20G or 20 GH/s, or gpu0=5G for one device.',
  pattern: LEAST_RATE,
  parse: (text) => {
    const [, device, rate = ''] = LEAST_RATE.exec(text) ?? [];
    const limit = parseHashrate(rate) ?? 0;
    return limit > 0 ? { ...(device !== undefined && { device }), limit } : undefined;
  },
  print: ({ device, limit }) => `${device === undefined ? '' : `${device}=`}${formatHashrate(limit)}`,
});

/* Numbers for all GPUs or for single ones: `80`, `gpu0=75`. */

export type PerGpu<T> = T | readonly ForGpu<T>[];

interface ForGpu<T> {
  /** `gpu0`; absent where the value is for all GPUs without one of their own. */
  readonly gpu?: string;
  readonly value: T;
}

type Value = number | 'none';

const WRITTEN = /^(?:(gpu\d{1,3})=)?(\d{1,20}(?:\.\d{1,20})?|none)$/;

/** @param otherwise the default for GPUs without a value */
function perGpu<T extends Value>(one: SettingType<T>, otherwise?: T): SettingType<PerGpu<T>> {
  const hint = `${one.hint.replace(/\.$/, '')}; for one of several GPUs like gpu0=NUMBER.`;
  const items = list(forGpu(one, hint));
  return {
    form: items.form,
    hint,
    schema: (z) => items.schema(z).transform((given) => complete(given, otherwise)),
    print: (values) => (typeof values === 'object' ? items.print!(values) : values),
  };
}

function forGpu<T extends Value>(one: SettingType<T>, hint: string): SettingType<ForGpu<T>> {
  return {
    form: 'text',
    hint,
    schema: (z) => {
      const values = one.schema(z);
      const parse = (written: string) => {
        if (written.startsWith('cpu=')) throw new RangeError('it is for GPUs, and the CPU’s flags begin with --cpu-');
        const [, gpu, rest] = WRITTEN.exec(written) ?? [];
        const { data: value } = values.safeParse(rest === 'none' ? rest : Number(rest));
        return value === undefined ? undefined : { ...(gpu !== undefined && { gpu }), value };
      };
      const text = parsed<ForGpu<T>>({ hint, pattern: WRITTEN, parse });
      return z.union([values.transform((value) => ({ value })), text.schema(z)]);
    },
    print: ({ gpu, value }) => (gpu === undefined ? value : `${gpu}=${value}`),
  };
}

function complete<T extends Value>(given: readonly ForGpu<T>[], otherwise: T | undefined): PerGpu<T> {
  const forAll = given.filter(({ gpu }) => gpu === undefined);
  if (given.length === 1 && forAll.length === 1) return forAll[0].value;
  return forAll.length > 0 || otherwise === undefined ? given : [...given, { value: otherwise }];
}

export function valuesForGpus<T extends Value>(values: PerGpu<T> | undefined): readonly ForGpu<T>[] {
  if (values === undefined) return [];
  return typeof values === 'object' ? values : [{ value: values }];
}

/** @returns a GPU's own value, or else the value for all GPUs without one; undefined where there is neither */
export function valueForGpu<T extends Value>(values: PerGpu<T> | undefined, name?: string): T | undefined {
  const all = valuesForGpus(values);
  return (all.find(({ gpu }) => gpu === name) ?? all.find(({ gpu }) => gpu === undefined))?.value;
}

/** Default temperature in °C at which GPUs are paused. */
export const USUAL_GPU_LIMIT = 90;

export const gpuLimit = perGpu(celsiusOrNone, USUAL_GPU_LIMIT);
export const gpuResume = perGpu(celsius);
export const gpuBatch = perGpu(batchSeconds);
