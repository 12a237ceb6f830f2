/**
 * The charges of natives with the table model of dialect 5, in thousandths of a unit: a fixed charge for each call, and
 * one that depends on the arguments. Evaluation itself is free of charge.
 */

import { Decimal } from '../values/decimal.ts';
import { printed } from '../values/printing.ts';
import { Time } from '../values/time.ts';
import { type Guard, isList, isObject, isText, type Value, type Walk } from '../values/values.ts';
import { arithmetic5, comparison5, equality5, logarithm5, numberOfBits, power5, root5, shift5 } from './numbers5.ts';
import { characterCount } from './sizes.ts';
import { Sizes5, sizeOfInteger } from './sizes5.ts';

/** The fixed charges. Natives that are not here, such as `if`, have none. */
const NAMES_BY_COST: Readonly<Record<number, string>> = {
  100: `+ - * / abs ^ not = != > >= < <= shift round ceiling floor length take drop concat reverse contains sort remove
    mod map filter zip fold int-to-str str-to-int distinct format enumerate show at make-list yield bind
    create-capability-guard create-capability-pact-guard tx-hash and? or? where not? hash continue compose
    create-principal is-principal typeof-principal namespace pact-id pairing-check scalar-mult point-add typeof dec cond
    identity static-redeploy negate`,
  200: 'read-msg read-integer read-decimal read-string read-keyset create-module-guard create-pact-guard',
  250: '& | xor ~ base64-encode base64-decode str-to-list add-time diff-time hours minutes days validate-principal',
  500: `resume require-capability compose-capability install-capability parse-time format-time time chain-data
    is-charset`,
  1000: 'ln sqrt log emit-event hash-keccak256',
  2000: `exp enforce-guard enforce-keyset keyset-ref-guard hyperlane-message-id hyperlane-decode-token-message
    hyperlane-encode-token-message`,
  2500: 'read with-read with-default-read',
  5000: 'define-keyset',
  10000: 'enforce-verifier',
  20000: 'acquire-module-admin',
  25000: 'insert update write define-namespace',
  100000: 'describe-keyset describe-module describe-table describe-namespace list-modules verify-spv',
  124000: 'poseidon-hash-hack-a-chain hash-poseidon',
  250000: 'create-table',
  40000000: 'fold-db keys select',
};

const COSTS: ReadonlyMap<string, number> = new Map(
  Object.entries(NAMES_BY_COST).flatMap(([cost, names]) =>
    names.split(/\s+/).map((name) => [name, Number(cost)] as const),
  ),
);

export function costOfNative5(name: string): number {
  return COSTS.get(name) ?? 0;
}

/** For each element that a native such as `map` takes from a list, and for `try` and `enforce-one`. */
export const ELEMENT = 100;
/** For each item of a list, and each field of an object, that code writes. */
export const WRITTEN_ITEM = 100;
/** For each item of a list, and each field of an object, whose type is checked. */
export const CHECKED_PART = 25;
/** For each held capability that `require-capability` looks at. */
export const HELD_CAPABILITY = 100;
/** For each byte that is written to a table. */
export const WRITTEN_BYTE = 200;
/** For each byte that is read from a table. */
export const READ_BYTE = 100;
/** For each hashed byte. */
export const HASHED_BYTE = 100;
/** For each character or item of a text or list that is made. */
const MADE_PART = 100;
/** For each principal that is made. */
const PRINCIPAL = 1000;
/** For each text of `concat`. */
const JOINED_TEXT = 40;

/** The charge for a call of a function with arguments, of a capability or of a defpact. */
export function costOfCall5(args: number): number {
  return 50 + 25 * args;
}

/** The charge for reading a text of this many code points, such as a number or the name of a keyset. */
export function costOfParsing(characters: number): number {
  return 5 * characters + 1;
}

/** The charge for reading a number from a text of the transaction's data. */
export function costOfConversion(characters: number): number {
  return 20 * characters + 1;
}

/** The charge for looking up a key in an object. */
export function costOfLookUp(key: string, fields: number): number {
  return numberOfBits(BigInt(fields)) * characterCount(key);
}

type Charge = (values: readonly Value[], walk: Walk) => number;

const parsed: Charge = ([text]) => costOfParsed(text);
const looked: Charge = ([key, object]) => (isText(key) && isObject(object) ? costOfLookUp(key, object.size) : 0);
const equality: Charge = ([a, b], walk) => equality5(a, b, walk).cost;
const comparison: Charge = ([a, b]) => comparison5(a, b);

/** The charges that depend on the arguments, which need not have the right types. */
const CHARGES: Readonly<Record<string, Charge>> = {
  '+': plus,
  '-': ([a, b]) => (b === undefined ? 0 : arithmetic5('sum', a, b)),
  '*': ([a, b]) => arithmetic5('product', a, b),
  '/': ([a, b]) => arithmetic5('product', a, b),
  '^': ([a, b]) => power5(a, b),
  log: ([a, b]) => logarithm5(a) + logarithm5(b),
  ln: ([a]) => logarithm5(a),
  exp: ([a]) => power5(3n, a instanceof Decimal ? a.mantissa : a, 2.5),
  sqrt: ([a]) => root5(a),
  shift: ([a, b]) => shift5(a, b),
  minutes: ([a]) => arithmetic5('product', a, 60n),
  hours: ([a]) => arithmetic5('product', a, 3600n),
  days: ([a]) => arithmetic5('product', a, 86_400n),
  '=': equality,
  '!=': equality,
  '<': comparison,
  '<=': comparison,
  '>': comparison,
  '>=': comparison,
  contains,
  sort,
  distinct,
  remove: ([key, object]) => (isText(key) && isObject(object) ? object.size * characterCount(key) * 10 : 0),
  take,
  length: ([of]) => (isText(of) ? Math.floor(characterCount(of) / 100) + 1 : 0),
  reverse: ([list]) => (isList(list) ? MADE_PART * list.length : 0),
  concat: ([texts]) => {
    if (!isList(texts)) return 0;
    return texts.reduce((sum: number, each) => sum + JOINED_TEXT + MADE_PART * lengthOf(each), 0);
  },
  'str-to-list': ([text]) => (isText(text) ? MADE_PART * characterCount(text) + 1 : 0),
  enumerate,
  'make-list': ([length, value], walk) => {
    if (typeof length !== 'bigint' || length <= 0n || value === undefined) return 0;
    return Number(length) * new Sizes5(walk).value(value);
  },
  at: looked,
  'is-charset': ([, text]) => costOfParsed(text),
  'base64-encode': parsed,
  'base64-decode': parsed,
  'enforce-guard': parsed,
  'enforce-keyset': parsed,
  'keyset-ref-guard': parsed,
  'is-principal': parsed,
  'typeof-principal': parsed,
  'str-to-int': (values) => costOfParsed(values.at(-1)),
  'int-to-str': ([base, integer]) => digits(base, integer),
  show: ([value], walk) => (value === undefined ? 0 : MADE_PART * new Sizes5(walk).value(value)),
  hash: ([value], walk) => {
    if (value === undefined) return 0;
    return HASHED_BYTE * (isText(value) ? Buffer.byteLength(value) : new Sizes5(walk).value(value));
  },
  'hash-keccak256': ([texts]) => (isList(texts) ? keccak(texts) : 0),
  'parse-time': ([format, text]) => {
    const length = lengthOf(format);
    return Math.floor((length * length) / 4) + 10 * lengthOf(text) + 1;
  },
  'format-time': ([format, time]) => (time instanceof Time ? 20 * lengthOf(format) + 1 : 0),
};

/** @returns the charge that depends on the arguments; 0 for a native without one, and for arguments it refuses */
export function costOfArguments5(name: string, values: readonly Value[], walk: Walk): number {
  return CHARGES[name]?.(values, walk) ?? 0;
}

function costOfParsed(text: Value | undefined): number {
  return typeof text === 'string' ? costOfParsing(characterCount(text)) : 0;
}

function lengthOf(value: Value | undefined): number {
  return typeof value === 'string' ? characterCount(value) : 0;
}

function plus([a, b]: readonly Value[]): number {
  if (isText(a) && isText(b)) return MADE_PART * (characterCount(a) + characterCount(b));
  if (isList(a) && isList(b)) return MADE_PART * (a.length + b.length);
  if (isObject(a) && isObject(b)) return MADE_PART * (a.size + b.size);
  return arithmetic5('sum', a, b);
}

function contains([value, within]: readonly Value[], walk: Walk): number {
  if (isText(value) && isObject(within)) return within.size + 100;
  if (isText(value) && isText(within)) return characterCount(value) + characterCount(within) + 100;
  if (!isList(within)) return 0;
  let cost = 0;
  for (const item of within) {
    const equality = equality5(value, item, walk);
    cost += equality.cost;
    if (equality.isEqual) break;
  }
  return cost;
}

function sort([list, ...more]: readonly Value[], walk: Walk): number {
  if (more.length > 0 || !isList(list) || list.length === 0) return 0;
  const sizes = new Sizes5(walk);
  const largest = list.reduce((most: number, item) => Math.max(most, sizes.value(item)), 0);
  return Math.floor((largest * list.length * list.length) / 1000);
}

function distinct([list]: readonly Value[], walk: Walk): number {
  if (!isList(list)) return 0;
  let cost = 0;
  let rest: readonly Value[] = list;
  while (rest.length > 0) {
    const [first, ...others] = rest;
    rest = others.filter((item) => {
      const equality = equality5(item, first, walk);
      cost += equality.cost;
      return !equality.isEqual;
    });
  }
  return cost;
}

function take([which, from]: readonly Value[]): number {
  if (isList(which) && isObject(from)) return MADE_PART * which.length;
  if (typeof which !== 'bigint' || !(isText(from) || isList(from))) return 0;
  if (which < 0n) return MADE_PART * Number(-which);
  const length = isText(from) ? characterCount(from) : from.length;
  return MADE_PART * Math.min(Number(which), length);
}

function enumerate([from, to, step]: readonly Value[]): number {
  if (typeof from !== 'bigint' || typeof to !== 'bigint') return 0;
  const absolute = (integer: bigint) => (integer < 0n ? -integer : integer);
  if (from === to) return sizeOfInteger(from);
  const by = typeof step === 'bigint' ? absolute(step) : 1n;
  if (by === 0n || (typeof step === 'bigint' && from < to !== step > 0n)) return 0;
  const largest = absolute(from) > absolute(to) ? from : to;
  return Number(absolute(from - to) / by + 1n) * sizeOfInteger(largest);
}

function digits(base: Value | undefined, integer: Value | undefined): number {
  if (typeof base !== 'bigint' || typeof integer !== 'bigint' || integer < 0n) return 0;
  if (base >= 2n && base <= 16n) return MADE_PART * integer.toString(Number(base)).length;
  if (base !== 64n) return 0;
  const bytes = Math.max(1, Math.ceil(integer.toString(16).length / 2));
  return MADE_PART * Math.floor((bytes * 4) / 3);
}

/** @param parts of the template, between which the values are */
export function costOfFormat5(parts: readonly string[], values: readonly Value[], walk: Walk): number {
  const characters = parts.reduce((sum, part) => sum + characterCount(part), 0);
  if (parts.length === 1) return costOfParsing(characters);
  const sizes = new Sizes5(walk);
  return values.slice(0, parts.length - 1).reduce((sum: number, value) => {
    if (isText(value)) return sum + MADE_PART * characterCount(value);
    const text = printed(value, { dialect: 5, commas: true });
    walk.visitText(text.length);
    return sum + MADE_PART * (sizes.value(value) + characterCount(text));
  }, MADE_PART * characters);
}

/** The charge for making the principal of a guard, also if it is only compared. */
export function costOfPrincipal5(guard: Guard, walk: Walk): number {
  const sizes = new Sizes5(walk);
  switch (guard.kind) {
    case 'user':
      return HASHED_BYTE * sizes.userGuard(guard) + PRINCIPAL;
    case 'capability':
      return HASHED_BYTE * sizes.capabilityGuard(guard) + PRINCIPAL;
    case 'keyset':
      // A predicate of a module is shown in the principal.
      return (
        PRINCIPAL +
        (guard.predicate.includes('.') ? MADE_PART * characterCount(guard.predicate.replaceAll('.', '')) : 0)
      );
    default:
      return PRINCIPAL;
  }
}

function keccak(texts: readonly Value[]): number {
  const bytes = texts.reduce((sum: number, text) => sum + (isText(text) ? Buffer.byteLength(text) : 0), 0);
  return 146 * Math.ceil(bytes / 100) + 2120 * texts.length;
}
