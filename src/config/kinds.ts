/** The kinds of values that settings have: what is accepted, how it reads from a text, what to say of anything else. */

import { resolve } from 'node:path';
import type { z } from 'zod';
import { parseFingerprint } from '../node/certificate.ts';
import { MAX_CPUS, parseCpuList } from '../text/cpu-list.ts';
import { parseHttpAddress } from '../text/http-address.ts';
import { parseTime } from '../text/quantities.ts';
import { ofNode } from './of-node.ts';

/** zod, handed in when something is checked: loading it takes longer than all of `pickaxe --help`. */
export type Zod = typeof z;

export interface Kind<T> {
  /** How it reads from a flag or an environment variable. */
  readonly form: 'text' | 'number' | 'switch' | 'list';
  /** One sentence that tells what to give instead of something else. */
  readonly says: string;
  readonly choices?: readonly string[];
  readonly schema: (zod: Zod) => z.ZodType<T>;
  /** Of a kind with a path in it. @returns the value with its path starting at the folder of the file that says it */
  startAt?(folder: string, value: T): T;
}

/** Of a list: far more nodes, keys or devices than anybody names. */
const MAX_ITEMS = 256;
/** Of a text: no name, URL or path comes near it. */
export const MAX_CHARACTERS = 4096;

/** Of a kind whose values are numbers. */
export interface NumberKind extends Kind<number> {
  readonly least: number;
  readonly most: number;
  readonly whole: boolean;
}

export function integer(least: number, most: number, says?: string): NumberKind {
  return {
    form: 'number',
    says: says ?? `Give a whole number from ${least} to ${most}.`,
    schema: (z) => z.int().min(least).max(most),
    least,
    most,
    whole: true,
  };
}

export function decimal(least: number, most: number, says: string): NumberKind {
  return { form: 'number', says, schema: (z) => z.number().min(least).max(most), least, most, whole: false };
}

export function text(pattern: RegExp, says: string): Kind<string> {
  return { form: 'text', says, schema: (z) => z.string().max(MAX_CHARACTERS).regex(pattern) };
}

export function choice<const T extends readonly [string, ...string[]]>(...choices: T): Kind<T[number]> {
  return {
    form: 'text',
    says: `Give one of: ${choices.join(', ')}.`,
    choices,
    schema: (z) => z.enum(choices) as z.ZodType<T[number]>,
  };
}

/** On or off. */
export const toggle: Kind<boolean> = {
  form: 'switch',
  says: 'Give true or false.',
  schema: (z) => z.boolean(),
};

/** Also the word `none`. What the kind says must tell of it. */
export function orNone<T>(kind: Kind<T>): Kind<T | 'none'> {
  return { ...kind, schema: (z) => z.union([z.literal('none'), kind.schema(z)]) };
}

/** In the order given; what is named twice counts once. As a text, separated by commas. */
export function list<T>(item: Kind<T>): Kind<readonly T[]> {
  return {
    form: 'list',
    says: item.says,
    schema: (z) =>
      z
        .array(item.schema(z))
        .min(1)
        .max(MAX_ITEMS)
        .overwrite((items) => [...new Set(items)]),
    startAt: (folder, items) => items.map((value) => item.startAt?.(folder, value) ?? value),
  };
}

/** A file: relative paths start at the folder of the file that names it; from elsewhere, at the current folder. */
export const path: Kind<string> = {
  form: 'text',
  says: 'Give the path of a file.',
  schema: (z) =>
    z
      .string()
      .max(MAX_CHARACTERS)
      .regex(/^[^\0]+$/),
  startAt: resolve,
};

/** setTimeout's longest wait is 2^31 ms, its shortest is one. */
export const seconds = decimal(0.001, 2_000_000, 'Give a number of seconds above 0 and up to 2000000.');

/** Seconds, also as a text with a unit: what is kept is their number. */
export function time(least: number, most: number, says: string): Kind<number> {
  const within = (value: number | undefined) => value !== undefined && value >= least && value <= most;
  return {
    form: 'number',
    says,
    schema: (z) =>
      z.union([
        z.number().min(least).max(most),
        z
          .string()
          .max(MAX_CHARACTERS)
          .regex(/^\d+(\.\d+)?[smhd]?$/)
          .refine((text) => within(parseTime(text)))
          .transform((text) => parseTime(text) as number),
      ]),
  };
}

/** Bounds as of `seconds`. */
export const duration = time(0.001, 2_000_000, 'Give seconds, or a time like 90m, 8h or 2d, up to 2000000 seconds.');

/** Shorter dispatches end unseen between two looks at them; longer ones make a driver take the GPU for hung. */
export const batchMilliseconds = decimal(2, 1000, 'Give milliseconds from 2 to 1000.');

/** °C within what chips bear. */
export const celsius = integer(30, 120, 'Give °C from 30 to 120.');
export const celsiusOrNone = orNone({ ...celsius, says: 'Give °C from 30 to 120, or none.' });

export const niceness = integer(0, 19, 'Give a niceness from 0 (normal) to 19 (the kindest).');

/** As Linux writes lists of CPUs: `parseCpuList` reads it. */
export const cpuList: Kind<string> = {
  form: 'text',
  says: `Name CPUs like 0,2-5, each below ${MAX_CPUS}, or none.`,
  schema: (z) =>
    z
      .string()
      .max(MAX_CHARACTERS)
      .regex(/^(none|\d+(-\d+)?(,\d+(-\d+)?)*)$/)
      .refine((text) => text === 'none' || parseCpuList(text) !== undefined),
};

/** Those of engine/cpu, which a test holds this list against. */
export const kernelName = choice(
  'avx512x2',
  'avx512',
  'avx512vlx2',
  'avx512vl',
  'avx2x2',
  'avx2',
  'sse41',
  'neonx2',
  'neon',
  'portable',
  'wasm-simdx2',
  'wasm-simd',
  'wasm',
  'js',
);

export const deviceName = text(
  /^(cpu|gpu|gpu\d{1,3})$/,
  'Name devices like cpu,gpu0,gpu1 (gpu means all of them). See: pickaxe devices',
);

/** 32 bytes of an Ed25519 public key. */
export const publicKey: Kind<string> = {
  form: 'text',
  says: 'A public key is 64 hex digits. Make one with: pickaxe keygen',
  schema: (z) =>
    z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/)
      .overwrite((key) => key.toLowerCase()),
};

export const account = text(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  /^[^\x00-\x1f\x7f]{1,256}$/,
  'The account is its name, of 1 to 256 characters: leave it out for k: and the public key.',
);

export const network = text(
  /^[a-zA-Z0-9][a-zA-Z0-9-]{0,63}$/,
  'That is not a network: write it like mainnet01 or testnet04.',
);

export const nodeUrl: Kind<string> = {
  form: 'text',
  says: 'A node URL is a host and maybe a path, like http://127.0.0.1:1848: no user, password, "?" or "#".',
  schema: (z) =>
    z
      .string()
      .max(MAX_CHARACTERS)
      .regex(/^[hH][tT][tT][pP][sS]?:\/\/[^\s?#]+$/)
      .refine((url) => {
        if (!URL.canParse(url)) return false;
        const { username, password } = new URL(url);
        return username === '' && password === '';
      }),
};

/** `parseFingerprint` reads it, once `ofNode` has taken it apart. Kept as Base64Url. */
export const nodeFingerprint: Kind<string> = {
  form: 'text',
  says:
    'Give the SHA-256 of the node’s certificate: 43 characters of Base64Url, or 64 hex digits as ' +
    'openssl x509 -fingerprint -sha256 prints them; for one of several nodes, URL=FINGERPRINT.',
  schema: (z) =>
    z
      .string()
      .max(MAX_CHARACTERS)
      .refine((text) => canonicalFingerprint(text) !== undefined)
      .overwrite((text) => canonicalFingerprint(text) ?? text),
};

function canonicalFingerprint(text: string): string | undefined {
  const { value = '' } = ofNode(text) ?? {};
  const fingerprint = parseFingerprint(value);
  return fingerprint && text.slice(0, -value.length) + fingerprint;
}

/** A file as of `path`, once `ofNode` has taken it apart. */
export const nodeFile: Kind<string> = {
  form: 'text',
  says: 'Give the path of a file; for one of several nodes, URL=FILE.',
  schema: (z) => path.schema(z).refine((text) => ofNode(text) !== undefined),
  startAt: (folder, text) => {
    const { value = text } = ofNode(text) ?? {};
    return text.slice(0, -value.length) + resolve(folder, value);
  },
};

/** `parseHttpAddress` reads it. */
export const httpAddress: Kind<string> = {
  form: 'text',
  says: 'Give a port or a host and a port, like 8080, 127.0.0.1:8080 or [::1]:8080 (port 0: a free one).',
  schema: (z) =>
    z
      .string()
      .max(MAX_CHARACTERS)
      .refine((text) => parseHttpAddress(text) !== undefined),
};
