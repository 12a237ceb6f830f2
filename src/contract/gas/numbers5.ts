/** The charges of arithmetic and comparisons with the table model of dialect 5, in thousandths of a unit. */

import { Decimal } from '../values/decimal.ts';
import { Time } from '../values/time.ts';
import { isGuard, isList, isObject, isText, ModuleRef, type Value, type Walk } from '../values/values.ts';
import { bitCount, characterCount } from './sizes.ts';

/** Operands with more bits cost the square of their number. */
const MOST_CHEAP_BITS = 664;

/** @returns the bits of the magnitude; 1 for 0 */
export function numberOfBits(integer: bigint): number {
  return Math.max(1, bitCount(integer));
}

/** @returns the integer, or the mantissa of a decimal; undefined for other values */
function mantissaOf(value: Value | undefined): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return value instanceof Decimal ? value.mantissa : undefined;
}

export function arithmetic5(kind: 'sum' | 'product', a: Value | undefined, b: Value | undefined): number {
  const [x, y] = [mantissaOf(a), mantissaOf(b)];
  if (x === undefined || y === undefined) return 0;
  const bits = numberOfBits(x > y ? x : y);
  if (bits > MOST_CHEAP_BITS) return Math.floor((bits * bits) / 6400);
  return kind === 'sum' ? 30 : Math.floor((3 * bits) / 20) + 26;
}

/** @returns the integer that is at least the number */
function ceilingOf(value: Value | undefined): bigint | undefined {
  return value instanceof Decimal ? value.round('ceiling') : (value as bigint | undefined);
}

/** @param alpha how much the charge of a product grows with the number of bits @returns infinity if it is too large */
export function power5(base: Value | undefined, exponent: Value | undefined, alpha = 2): number {
  const [x, y] = [ceilingOf(base), ceilingOf(exponent)];
  if (typeof x !== 'bigint' || typeof y !== 'bigint') return 0;
  const bits = numberOfBits(y);
  const size = numberOfBits(x) * Math.ceil(2 ** ((bits - 1) / 2));
  return (2 * bits - 2) * Math.ceil(size ** alpha);
}

export function shift5(integer: Value | undefined, places: Value | undefined): number {
  if (typeof integer !== 'bigint' || typeof places !== 'bigint' || places <= 0n) return 0;
  const largest = Math.max(numberOfBits(integer), Number(places));
  return power5(2n, places) + Math.floor((3 * largest) / 20) + 26;
}

export function logarithm5(of: Value | undefined): number {
  const integer = ceilingOf(of);
  if (typeof integer !== 'bigint' || integer <= 0n) return 0;
  const bits = numberOfBits(integer);
  return growth(bits, 2);
}

export function root5(of: Value | undefined): number {
  const integer = mantissaOf(of);
  return integer === undefined || integer <= 0n ? 0 : growth(numberOfBits(integer), 1);
}

function growth(bits: number, power: number): number {
  const logarithm = Math.log(bits);
  const cost = bits * Math.ceil(logarithm ** power) * Math.ceil(Math.log(logarithm));
  return Number.isFinite(cost) && cost > 0 ? cost : 0;
}

/** Machine integers count with the bits of a word. */
function wordBits(integer: bigint): number {
  return BigInt.asIntN(64, integer) === integer ? 64 : bitCount(integer);
}

/** For comparing two integers, decimals or texts; other values are compared free of charge. */
export function comparison5(a: Value | undefined, b: Value | undefined): number {
  if (typeof a === 'bigint' && typeof b === 'bigint') return Math.max(wordBits(a), wordBits(b)) + 100;
  if (a instanceof Decimal && b instanceof Decimal) {
    const bits = Math.max(wordBits(a.mantissa), wordBits(b.mantissa));
    return arithmetic5('product', a, b) + bits + 100;
  }
  return isText(a as Value) && isText(b as Value) ? characterCount(a as string) + 100 : 0;
}

/** @returns whether two values are equal, and the charge for testing this, which ends at the first difference */
export function equality5(a: Value | undefined, b: Value | undefined, walk: Walk): { isEqual: boolean; cost: number } {
  const equality = new Equality(walk);
  const isEqual = a !== undefined && b !== undefined && equality.test(a, b);
  return { isEqual, cost: equality.cost };
}

class Equality {
  cost = 0;
  readonly #walk: Walk;

  constructor(walk: Walk) {
    this.#walk = walk;
  }

  test(a: Value, b: Value): boolean {
    this.#walk.visit(1);
    this.cost += comparison5(a, b);
    if (isList(a)) return isList(b) && a.length === b.length && this.#all(a, b);
    if (isObject(a)) {
      if (!isObject(b) || a.size !== b.size) return false;
      const keys = [...a.keys()].sort();
      if (keys.join() !== [...b.keys()].sort().join()) {
        this.cost += 100 * a.size;
        return false;
      }
      return this.#all(
        keys.map((key) => a.get(key) as Value),
        keys.map((key) => b.get(key) as Value),
      );
    }
    if (isGuard(a)) {
      if (!isGuard(b) || a.kind !== b.kind) return false;
      if (a.kind === 'user' && b.kind === 'user') {
        return a.fun.text === b.fun.text && a.args.length === b.args.length && this.#all(a.args, b.args);
      }
      if (a.kind === 'capability' && b.kind === 'capability') {
        const isSame = a.name.text === b.name.text && a.pactId === b.pactId && a.args.length === b.args.length;
        return isSame && this.#all(a.args, b.args);
      }
      return JSON.stringify(a) === JSON.stringify(b);
    }
    if (a instanceof Decimal) return b instanceof Decimal && a.equals(b);
    if (a instanceof Time) return b instanceof Time && a.micros === b.micros;
    if (a instanceof ModuleRef) return b instanceof ModuleRef && a.name.text === b.name.text;
    return a === b;
  }

  /** The lists have the same length. */
  #all(a: readonly Value[], b: readonly Value[]): boolean {
    this.cost += 100 * a.length;
    return this.#walk.inside(() => a.every((item, at) => this.test(item, b[at])));
  }
}
