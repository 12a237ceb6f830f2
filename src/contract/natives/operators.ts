/** Natives that calculate with numbers and their bits, compare values, and join texts, lists or objects. */

import type { Dialect } from '../dialect.ts';
import { isFunction } from '../evaluator/arguments.ts';
import type { GasMeter } from '../gas/meter.ts';
import { characterCount } from '../gas/sizes.ts';
import { type Call, type Evaluator, type Native, strict } from '../runtime/native.ts';
import { SteppedWalk, spendParts, spendText } from '../runtime/steps.ts';
import {
  abs,
  add,
  divide,
  exponential,
  logarithm,
  modulo,
  multiply,
  type Numeric,
  naturalLogarithm,
  negate,
  power,
  squareRoot,
  subtract,
} from '../values/arithmetic.ts';
import { Decimal, type Rounding } from '../values/decimal.ts';
import { bounded, MAX_BITS, shiftInteger } from '../values/integers.ts';
import { compareForEquality } from '../values/printing.ts';
import { CHARACTERS_PER_STEP, isList, isObject, order, sortedObject, type Value } from '../values/values.ts';

const NUMBER = '<a[integer,decimal]>';
const UNARY = `x:${NUMBER} -> ${NUMBER}`;
const BINARY = [`x:${NUMBER} y:${NUMBER} -> ${NUMBER}`, `x:${NUMBER} y:<b[integer,decimal]> -> decimal`];
const INTEGERS = 'x:integer y:integer -> integer';
const JOINED = '<a[string,[<l>],object:<{o}>]>';
const EQUATED = '<a[integer,string,time,decimal,bool,[<l>],object:<{o}>,keyset,guard,module{}]>';
const ORDERED = '<a[integer,decimal,string,time]>';

/**
 * Magnitude from which on an integer, or the mantissa of a decimal, is large. `spendOn` counts steps for large numbers
 * only. For smaller numbers, the steps of the application, or `DECIMAL_STEPS`, cover the time of an operation.
 */
const SMALL = 1n << 1024n;
/** Number of hex digits of a large number for which one step is counted. */
const HEX_DIGITS_PER_STEP = 4;
/** Number of places of a shift to the left for which one step is counted. */
const BITS_PER_STEP = 16;
/**
 * Number of steps that `unary` counts for each operation, and `computed` for each decimal result. Such an operation
 * takes up to thirty microseconds.
 */
const DECIMAL_STEPS = 32;

export function isNumber(value: Value): value is Numeric {
  return typeof value === 'bigint' || value instanceof Decimal;
}

/** Counts a step for each 16 bits of each large number, so that programs with large numbers end in time. */
export function spendOn(numbers: readonly Numeric[], evaluator: Evaluator): void {
  for (const number of numbers) {
    const digits = typeof number === 'bigint' ? number : number.mantissa;
    if (digits < SMALL && digits > -SMALL) continue;
    evaluator.spend(Math.ceil(digits.toString(16).length / HEX_DIGITS_PER_STEP));
  }
}

function unary(
  name: string,
  signatures: string | readonly string[],
  compute: (x: Numeric, dialect: Dialect) => Numeric,
): Native {
  return strict(name, signatures, ([x, ...more], { evaluator }) => {
    if (x === undefined || !isNumber(x) || more.length > 0) return undefined;
    spendOn([x], evaluator);
    evaluator.spend(DECIMAL_STEPS);
    return compute(x, evaluator.dialect);
  });
}

type Computation = (x: Numeric, y: Numeric, dialect: Dialect) => Numeric;
type Charge = (gas: GasMeter, x: Numeric, y: Numeric) => void;

const chargeArithmetic: Charge = (gas, x, y) => gas.arithmetic(x, y);

/**
 * @param charge charges gas for the operands
 * @returns the result; undefined unless there are two arguments, and both are numbers
 * @throws ContractError as `compute`
 */
function computed(
  values: readonly Value[],
  { evaluator }: Call,
  compute: Computation,
  charge: Charge = chargeArithmetic,
): Value | undefined {
  const [x, y] = values;
  if (values.length !== 2 || !isNumber(x) || !isNumber(y)) return undefined;
  spendOn([x, y], evaluator);
  const result = compute(x, y, evaluator.dialect);
  // A result that is too large has failed above. The numbers are therefore small enough for a fast computation of the
  // charge.
  charge(evaluator.gas, x, y);
  spendOn([result], evaluator);
  if (result instanceof Decimal) evaluator.spend(DECIMAL_STEPS);
  return result;
}

function binary(name: string, compute: Computation, charge?: Charge): Native {
  return strict(name, BINARY, (values, call) => computed(values, call, compute, charge));
}

function ofIntegers(name: string, compute: (x: bigint, y: bigint) => bigint): Native {
  return strict(name, INTEGERS, ([x, y, ...more], { evaluator }) => {
    if (typeof x !== 'bigint' || typeof y !== 'bigint' || more.length > 0) return undefined;
    spendOn([x, y], evaluator);
    return bounded(compute(x, y));
  });
}

function rounding(name: string, how: Rounding): Native {
  return strict(name, ['x:decimal prec:integer -> decimal', 'x:decimal -> integer'], (values, { evaluator }) => {
    const [x, places] = values;
    if (!(x instanceof Decimal)) return undefined;
    spendOn([x], evaluator);
    if (values.length === 1) return x.round(how);
    return values.length === 2 && typeof places === 'bigint' ? x.roundTo(places, how, evaluator.dialect) : undefined;
  });
}

/**
 * The native `+`, which adds numbers, or joins texts, lists or objects. If two objects have the same key, the result
 * has the value of the first object.
 */
function join(values: readonly Value[], call: Call): Value | undefined {
  const { evaluator } = call;
  const [x, y] = values;
  if (values.length !== 2) return undefined;
  if (typeof x === 'string' && typeof y === 'string') {
    spendText(evaluator, x.length + y.length);
    evaluator.gas.append(characterCount(x), characterCount(y));
    return x + y;
  }
  if (isList(x) && isList(y)) {
    spendParts(evaluator, x.length + y.length);
    evaluator.gas.append(x.length, y.length);
    return [...x, ...y];
  }
  if (isObject(x) && isObject(y)) {
    spendParts(evaluator, x.size + y.size);
    evaluator.gas.append(x.size, y.size);
    return sortedObject([...y, ...x]);
  }
  return computed(values, call, add);
}

/** @param wanted the result for equal values @returns the native `=` or `!=` */
function equality(name: string, wanted: boolean): Native {
  return strict(name, `x:${EQUATED} y:${EQUATED} -> bool`, ([x, y, ...more], { evaluator }) => {
    if (x === undefined || y === undefined || more.length > 0) return undefined;
    const { dialect } = evaluator;
    if (dialect === 5 && (isFunction(x) || isFunction(y))) return undefined;
    spendOnTexts(x, y, evaluator);
    return compareForEquality(x, y, dialect, new SteppedWalk(evaluator, { isBounded: false })) === wanted;
  });
}

/**
 * @param holds gets a number that is negative if the first value is smaller, 0 if the values are equal, and positive
 *   otherwise
 * @returns the native, such as `<`
 */
function comparison(name: string, holds: (order: number) => boolean): Native {
  return strict(name, `x:${ORDERED} y:${ORDERED} -> bool`, ([x, y, ...more], { evaluator }) => {
    if (x === undefined || y === undefined || more.length > 0) return undefined;
    spendOnTexts(x, y, evaluator);
    const compared = orderOf(x, y, evaluator.dialect);
    return compared === undefined ? undefined : holds(compared);
  });
}

function spendOnTexts(x: Value, y: Value, evaluator: Evaluator): void {
  if (typeof x !== 'string' || typeof y !== 'string') return;
  evaluator.spend(Math.floor(Math.min(x.length, y.length) / CHARACTERS_PER_STEP));
}

/** @returns as `order`. Dialect 5 also orders bools: false is less than true */
function orderOf(x: Value, y: Value, dialect: Dialect): number | undefined {
  if (dialect === 5 && typeof x === 'boolean' && typeof y === 'boolean') return Number(x) - Number(y);
  return order(x, y);
}

export const OPERATORS: readonly Native[] = [
  strict('+', [...BINARY, `x:${JOINED} y:${JOINED} -> ${JOINED}`], join),
  strict('-', [...BINARY, UNARY], (values, call) => {
    const [x] = values;
    if (values.length === 1) return isNumber(x) ? negate(x) : undefined;
    return computed(values, call, subtract);
  }),
  binary('*', multiply),
  binary('/', divide),
  binary('^', power, (gas, x, y) => gas.power(x, y)),
  binary('log', logarithm, (gas, x, y) => gas.logarithm(x, y)),
  unary('ln', UNARY, naturalLogarithm),
  unary('exp', UNARY, exponential),
  unary('sqrt', UNARY, squareRoot),
  unary('abs', ['x:decimal -> decimal', 'x:integer -> integer'], abs),
  { ...unary('negate', UNARY, negate), dialect: 5 },
  strict('dec', 'x:integer -> decimal', ([x, ...more]) =>
    typeof x === 'bigint' && more.length === 0 ? Decimal.ofInteger(x) : undefined,
  ),
  rounding('round', 'half-even'),
  rounding('floor', 'floor'),
  rounding('ceiling', 'ceiling'),

  ofIntegers('mod', modulo),
  ofIntegers('&', (x, y) => x & y),
  ofIntegers('|', (x, y) => x | y),
  ofIntegers('xor', (x, y) => x ^ y),
  strict('shift', INTEGERS, ([x, places, ...more], { evaluator }) => {
    if (typeof x !== 'bigint' || typeof places !== 'bigint' || more.length > 0) return undefined;
    spendOn([x, places], evaluator);
    const result = shiftInteger(x, places);
    if (places > 0n) evaluator.spend(Math.floor(Math.min(Number(places), MAX_BITS) / BITS_PER_STEP));
    evaluator.gas.shift(x, places);
    return result;
  }),
  strict('~', 'x:integer -> integer', ([x, ...more]) =>
    typeof x === 'bigint' && more.length === 0 ? bounded(~x) : undefined,
  ),

  equality('=', true),
  equality('!=', false),
  comparison('<', (compared) => compared < 0),
  comparison('<=', (compared) => compared <= 0),
  comparison('>', (compared) => compared > 0),
  comparison('>=', (compared) => compared >= 0),
];
