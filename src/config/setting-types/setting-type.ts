/** What a setting type is, and the types that others are made of. */

import { resolve } from 'node:path';
import type { z } from 'zod';
import { oneLine } from '../../text/one-line.ts';

/** zod is passed in when something is checked: loading it takes longer than all of `pickaxe --help`. */
type Zod = typeof z;

/** What values a setting accepts, how they are written, and what the program gets. */
export interface SettingType<T> {
  /** How the text of a flag or an environment variable is read before the schema sees it. */
  readonly form: 'text' | 'number' | 'switch' | 'list';
  /** One sentence that says what to write. */
  readonly says: string;
  readonly choices?: readonly string[];
  /** Checks what a file has and parses it into the value that the program uses. */
  readonly schema: (zod: Zod) => z.ZodType<T>;
  /** @returns what a file has for this value; without this function, a file has the value itself */
  print?(value: T): unknown;
  /** For types with a path in them. @returns the value with its path resolved against the folder of the file that has it */
  startAt?(folder: string, value: T): T;
}

/** @returns a value as a file has it */
export function printed<T>(type: SettingType<T>, value: T): unknown {
  return type.print ? type.print(value) : value;
}

/** No name, URL or path comes near this length. */
export const MAX_CHARACTERS = 4096;
/** Far more nodes, keys or devices than anybody names. */
export const MAX_ITEMS = 256;

export function text(pattern: RegExp, says: string): SettingType<string> {
  return { form: 'text', says, schema: (z) => z.string().max(MAX_CHARACTERS).regex(pattern) };
}

interface ParsedText<T> {
  readonly says: string;
  /** For editors, which check texts by the JSON Schema. `parse` must accept nothing that the pattern refuses. */
  readonly pattern?: RegExp;
  /**
   * @returns undefined when the text is not valid
   * @throws RangeError when the text is not valid and there is more to say about why
   */
  readonly parse: (text: string) => T | undefined;
  readonly print?: (value: T) => string;
}

/** A text that stands for a value of another kind, or that has several spellings. */
export function parsed<T>({ says, pattern, parse, print }: ParsedText<T>): SettingType<T> {
  return {
    form: 'text',
    says,
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

/** A reason may repeat a part of the text. */
const MAX_WHY = 200;

interface ZodIssue {
  readonly code?: string | undefined;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** @returns why `parsed` refused a text, if there is more to say than what to write */
export function whyOf(issues: readonly ZodIssue[]): string | undefined {
  const why = issues.map(({ params }) => params?.why).find((one) => typeof one === 'string');
  return why === undefined ? undefined : oneLine(why, MAX_WHY);
}

export function choice<const T extends readonly [string, ...string[]]>(...choices: T): SettingType<T[number]> {
  return {
    form: 'text',
    says: `Give one of: ${choices.join(', ')}.`,
    choices,
    schema: (z) => z.enum(choices) as z.ZodType<T[number]>,
  };
}

/** On or off. */
export const toggle: SettingType<boolean> = {
  form: 'switch',
  says: 'Give true or false.',
  schema: (z) => z.boolean(),
};

/**
 * Values in the order given, each of them once. A file may have one value instead of a list; a flag or a variable has
 * one text with commas.
 */
export function list<T>(item: SettingType<T>): SettingType<readonly T[]> {
  return {
    form: 'list',
    says: item.says,
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

/** A file. A relative path starts at the folder of the file that has it, and elsewhere at the current folder. */
export const path: SettingType<string> = {
  form: 'text',
  says: 'Give the path of a file.',
  schema: (z) =>
    z
      .string()
      .max(MAX_CHARACTERS)
      .regex(/^[^\0]+$/),
  startAt: resolve,
};
