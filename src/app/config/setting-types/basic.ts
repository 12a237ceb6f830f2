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

/** zod is a parameter of schemas, so that it is loaded only for checks. Loading it takes longer than all of --help. */
type Zod = typeof z;

/** The type of a setting: which values it accepts, and how they are written and parsed. */
export interface SettingType<T> {
  /** How the text of a flag or a variable is read, before the schema checks the result. */
  readonly form: 'text' | 'number' | 'switch' | 'list';
  /** One sentence about what the user should write. */
  readonly hint: string;
  readonly choices?: readonly string[];
  /** Checks a value as in a file, and converts it to the value that the program uses. */
  readonly schema: (zod: Zod) => z.ZodType<T>;
  /** @returns the value as in a file. Absent if the program uses the same value */
  print?(value: T): unknown;
  /** Resolves a path in the value against the folder of the configuration file that sets the value. */
  startAt?(folder: string, value: T): T;
}

/** @returns the value as in a file */
export function printed<T>(type: SettingType<T>, value: T): unknown {
  return type.print ? type.print(value) : value;
}

/** Maximum number of characters of a text: far more than any name, URL or path has. */
export const MAX_CHARACTERS = 4096;
/** Maximum number of items in a list: far more nodes, keys or devices than anybody names. */
export const MAX_ITEMS = 256;

export function text(pattern: RegExp, hint: string): SettingType<string> {
  return { form: 'text', hint, schema: (z) => z.string().max(MAX_CHARACTERS).regex(pattern) };
}

interface ParsedText<T> {
  readonly hint: string;
  /** A pattern for the JSON Schema. `parse` must refuse each text that does not match the pattern. */
  readonly pattern?: RegExp;
  /** For a text that is not valid, returns undefined, or throws a RangeError whose message is the reason. */
  readonly parse: (text: string) => T | undefined;
  readonly print?: (value: T) => string;
}

/** Makes a type whose values are written as texts, but are of another kind or can be spelt in several ways. */
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

/** Maximum number of characters of a reason, which may repeat a part of the refused text. */
const MAX_WHY = 200;

interface ZodIssue {
  readonly code?: string | undefined;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** @returns the reason that a setting type gave for refusing a value; undefined if it gave none */
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

/**
 * Makes a type for lists. Repeated items are dropped, and the order is kept. In a file, one value may stand in place of
 * a list. In flags and variables, commas separate the items.
 */
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

/** Why a path such as `"C:\new"` is refused: TOML reads `\n` as a line break. */
const ESCAPED = 'it has a control character in it. In double quotes, \\ begins one: use single quotes';

/**
 * The path of a file. A relative path in a configuration file starts at the folder of that file. A relative path in a
 * flag or a variable starts at the current folder.
 */
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

/** The type of a time in seconds, which may also be written as a text with units. */
export interface TimeType extends SettingType<number> {
  /** @returns seconds; undefined for a text that is not a time within the bounds */
  readonly parse: (text: string) => number | undefined;
}

/** @param least in seconds @param most in seconds */
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

/**
 * Length of a GPU's dispatch in milliseconds. The end of a dispatch is noticed up to 1 ms late, which is too late for a
 * dispatch of less than 2 ms. During a dispatch of more than 1 s, a driver may take the GPU for one that hangs.
 */
const batchMilliseconds = decimal(2, 1000, 'Give milliseconds from 2 to 1000.');

/** A difficulty in the units of the pool. Some pools use values below 1. */
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

/**
 * The size in bytes at which a file is rotated. Below MIN_FILE_BYTES, the file would be rotated all the time. No editor
 * opens a file of more than MAX_FILE_BYTES.
 */
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
  /** Name of a GPU, like `gpu0`; absent for the default value, which applies to all GPUs without an entry. */
  readonly gpu?: string;
  readonly value: T;
}

type Value = number | 'none';

const WRITTEN = /^(?:(gpu\d{1,3})=)?(\d{1,20}(?:\.\d{1,20})?|none)$/;

/** @param otherwise the default for GPUs without a value @returns the type of a value for all or single GPUs */
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

/** @returns the value that names this GPU, or else the value for all other GPUs; undefined if neither is set */
export function valueForGpu<T extends Value>(values: PerGpu<T> | undefined, name?: string): T | undefined {
  const all = valuesForGpus(values);
  return (all.find(({ gpu }) => gpu === name) ?? all.find(({ gpu }) => gpu === undefined))?.value;
}

/** Default temperature in °C at which GPUs are paused. */
export const USUAL_GPU_LIMIT = 90;

export const gpuLimit = perGpu(celsiusOrNone, USUAL_GPU_LIMIT);
export const gpuResume = perGpu(celsius);
export const gpuBatch = perGpu(batchMilliseconds);
