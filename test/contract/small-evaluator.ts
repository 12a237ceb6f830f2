/** Evaluates literals and natives that only compute with values, so that the vectors test the values by themselves. */

import * as arithmetic from '#pickaxe/contract/arithmetic.js';
import { Decimal, type Rounding } from '#pickaxe/contract/decimal.js';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { ContractError } from '#pickaxe/contract/errors.js';
import { hashValue } from '#pickaxe/contract/hash.js';
import { shiftInteger } from '#pickaxe/contract/integers.js';
import { isPrincipal, typeOfPrincipal } from '#pickaxe/contract/principals.js';
import { compareForEquality, printed, typeText } from '#pickaxe/contract/printing.js';
import { Time } from '#pickaxe/contract/time.js';
import { formatTime } from '#pickaxe/contract/time-format.js';
import { parseTime, timeOfText } from '#pickaxe/contract/time-parsing.js';
import { isList, isObject, isStorable, order, sortedObject, type Value } from '#pickaxe/contract/values.js';

type Native = (args: readonly Value[], dialect: Dialect) => Value;

const TOKEN = /\s*([()[\]{},:]|"(?:[^"\\]|\\.)*"|'[\w-]+|-?\d+(?:\.\d+)?(?![\w.])|[^\s()[\]{},:"']+)/y;

/** Whether the code is a literal, or one application of natives of the table below to literals and each other. */
export function isSmall(code: string): boolean {
  const bare = code.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  const heads = [...bare.matchAll(/\(([^\s()]*)/g)].map(([, head]) => head);
  // An application without arguments is a function that is passed on.
  return !/:=|\(\S*\)/.test(bare) && heads.every((head) => Object.hasOwn(NATIVES, head));
}

/** @throws ContractError as the natives do */
export function evaluate(code: string, dialect: Dialect): Value {
  TOKEN.lastIndex = 0;
  const tokens: string[] = [];
  for (let found = TOKEN.exec(code); found; found = TOKEN.exec(code)) tokens.push(found[1]);
  let next = 0;

  const until = (end: string): Value[] => {
    const values: Value[] = [];
    while (tokens[next] !== end) {
      if (tokens[next] === ',' || tokens[next] === ':') next++;
      else values.push(expression());
    }
    next++;
    return values;
  };
  const expression = (): Value => {
    const token = tokens[next++];
    if (token === '(') return NATIVES[tokens[next++]](until(')'), dialect);
    if (token === '[') return until(']');
    if (token === '{') {
      const flat = until('}');
      return new Map(flat.flatMap((key, i) => (i % 2 === 0 ? [[key as string, flat[i + 1]] as const] : [])));
    }
    if (token.startsWith('"')) return token.slice(1, -1).replace(/\\(.)/gs, '$1');
    if (token.startsWith("'")) return token.slice(1);
    if (token === 'true' || token === 'false') return token === 'true';
    const number = token.includes('.') ? Decimal.parse(token) : BigInt(token);
    if (number === undefined) throw new Error(`no literal: ${token}`);
    return number;
  };

  const value = expression();
  if (next !== tokens.length) throw new Error(`more than one form: ${code}`);
  return value;
}

const NATIVES: Readonly<Record<string, Native>> = {
  '+': ([a, b]) => {
    if (typeof a === 'string' && typeof b === 'string') return a + b;
    if (isList(a) && isList(b)) return [...a, ...b];
    if (isObject(a) && isObject(b)) return sortedObject([...b, ...a]);
    return arithmetic.add(numeric(a), numeric(b));
  },
  '-': ([a, b]) => (b === undefined ? arithmetic.negate(numeric(a)) : arithmetic.subtract(numeric(a), numeric(b))),
  '*': ([a, b]) => arithmetic.multiply(numeric(a), numeric(b)),
  '/': ([a, b], dialect) => arithmetic.divide(numeric(a), numeric(b), dialect),
  '^': ([a, b], dialect) => arithmetic.power(numeric(a), numeric(b), dialect),
  '&': ([a, b]) => integer(a) & integer(b),
  '|': ([a, b]) => integer(a) | integer(b),
  xor: ([a, b]) => integer(a) ^ integer(b),
  '~': ([a]) => ~integer(a),
  shift: ([a, b]) => shiftInteger(integer(a), integer(b)),
  mod: ([a, b]) => arithmetic.modulo(integer(a), integer(b)),
  abs: ([a]) => arithmetic.abs(numeric(a)),
  negate: ([a]) => arithmetic.negate(numeric(a)),
  round: rounding('half-even'),
  floor: rounding('floor'),
  ceiling: rounding('ceiling'),
  sqrt: ([a], dialect) => arithmetic.squareRoot(numeric(a), dialect),
  ln: ([a], dialect) => arithmetic.naturalLogarithm(numeric(a), dialect),
  exp: ([a], dialect) => arithmetic.exponential(numeric(a), dialect),
  log: ([a, b], dialect) => arithmetic.logarithm(numeric(a), numeric(b), dialect),
  dec: ([a]) => Decimal.ofInteger(integer(a)),
  '=': ([a, b], dialect) => compareForEquality(a, b, dialect),
  '!=': ([a, b], dialect) => !compareForEquality(a, b, dialect),
  '<': ([a, b]) => compared(a, b) < 0,
  '<=': ([a, b]) => compared(a, b) <= 0,
  '>': ([a, b]) => compared(a, b) > 0,
  '>=': ([a, b]) => compared(a, b) >= 0,
  time: ([a]) => timeOfText(text(a)),
  'parse-time': ([a, b]) => parseTime(text(a), text(b)),
  'format-time': ([a, b]) => formatTime(text(a), time(b)),
  'add-time': ([a, b]) => time(a).add(numeric(b)),
  'diff-time': ([a, b]) => time(a).subtract(time(b)),
  minutes: ([a]) => arithmetic.seconds(numeric(a), 60n),
  hours: ([a]) => arithmetic.seconds(numeric(a), 3600n),
  days: ([a]) => arithmetic.seconds(numeric(a), 86_400n),
  hash: ([a]) => {
    if (!isStorable(a)) throw misfit(a);
    return hashValue(a);
  },
  typeof: ([a], dialect) => typeText(a, dialect),
  'is-principal': ([a]) => isPrincipal(text(a)),
  'typeof-principal': ([a]) => typeOfPrincipal(text(a)),
  identity: ([a]) => a,
  list: (args) => args,
  show: ([a], dialect) => printed(a, { dialect, commas: true }),
  format: ([template, values], dialect) => {
    const rest = isList(values) ? [...values] : [];
    return text(template).replace(/\{\}/g, () => {
      const value = rest.shift() ?? '';
      return typeof value === 'string' ? value : printed(value, { dialect, commas: true });
    });
  },
};

function rounding(kind: Rounding): Native {
  return ([a, places], dialect) => {
    if (!(a instanceof Decimal)) throw misfit(a);
    return places === undefined ? a.round(kind) : a.roundTo(integer(places), kind, dialect);
  };
}

function compared(a: Value, b: Value): number {
  const result = order(a, b);
  if (result === undefined) throw misfit(a);
  return result;
}

function numeric(value: Value): arithmetic.Numeric {
  if (typeof value === 'bigint' || value instanceof Decimal) return value;
  throw misfit(value);
}

function integer(value: Value): bigint {
  if (typeof value === 'bigint') return value;
  throw misfit(value);
}

function text(value: Value): string {
  if (typeof value === 'string') return value;
  throw misfit(value);
}

function time(value: Value): Time {
  if (value instanceof Time) return value;
  throw misfit(value);
}

function misfit(value: Value): ContractError {
  return new ContractError('args', `Invalid arguments, received [${printed(value)}]`);
}
