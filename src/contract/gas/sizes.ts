/**
 * The sizes of stored values in bytes, for the table model of gas. A value has the size that it takes in the memory of
 * the reference implementation of dialect 4, not in the memory of this process. The words of that memory have 8 bytes.
 */

import { type ModuleName, QualifiedName } from '../names.ts';
import { Decimal } from '../values/decimal.ts';
import { absolute } from '../values/integers.ts';
import { Time } from '../values/time.ts';
import {
  type ContractObject,
  type Guard,
  isGuard,
  isList,
  isObject,
  type KeysetGuard,
  ModuleRef,
  type Value,
  Walk,
} from '../values/values.ts';

/** Size of a word, in bytes. */
const WORD = 8;
/** Size of a value of any kind in bytes, without the content that depends on the kind. */
const VALUE = 2 * WORD;
/**
 * Size of a record in bytes: a word for its header, and one for each field. The values to which the fields refer are
 * not included.
 */
const record = (fields: number) => (1 + fields) * WORD;

/** @returns the number of code points of a text */
export function characterCount(text: string): number {
  let pairs = 0;
  for (let at = 1; at < text.length; at++) {
    if (isBetween(text.charCodeAt(at), 0xdc00, 0xdfff) && isBetween(text.charCodeAt(at - 1), 0xd800, 0xdbff)) pairs++;
  }
  return text.length - pairs;
}

function isBetween(unit: number, lowest: number, highest: number): boolean {
  return unit >= lowest && unit <= highest;
}

/** @returns the number of bits of an integer without its sign; 0 for 0 */
export function bitCount(integer: bigint): number {
  if (integer === 0n) return 0;
  const digits = absolute(integer).toString(16);
  return 4 * (digits.length - 1) + (32 - Math.clz32(Number.parseInt(digits[0], 16)));
}

/** Computes the sizes of values and their parts, in bytes. */
export class Sizes {
  readonly #hasOldIntegers: boolean;

  /** @param hasOldIntegers whether integers have the sizes that they had before version 4.5 */
  constructor({ hasOldIntegers = false }: { readonly hasOldIntegers?: boolean } = {}) {
    this.#hasOldIntegers = hasOldIntegers;
  }

  text(text: string): number {
    return 6 * WORD + 2 * characterCount(text);
  }

  moduleName({ namespace, name }: ModuleName): number {
    return record(2) + this.text(name) + this.#optional(namespace);
  }

  /** @throws ContractError for a value that has too many parts, or is nested too deeply */
  value(value: Value, walk = new Walk()): number {
    walk.visit(typeof value === 'string' ? 1 + Math.floor(value.length / 64) : 1);
    if (typeof value === 'string') return VALUE + record(1) + this.text(value);
    if (typeof value === 'bigint') return VALUE + record(1) + this.#integer(value);
    if (typeof value === 'boolean') return VALUE + record(1);
    if (value instanceof Decimal) return VALUE + record(1) + this.#decimal(value);
    if (value instanceof Time) return VALUE + record(1) + record(1) + 2 * WORD;
    if (isList(value)) return VALUE + (7 + value.length) * WORD + this.#all(value, walk);
    if (isObject(value)) return VALUE + this.fields(value, walk);
    if (isGuard(value)) return VALUE + this.guard(value, walk);
    // Functions and tables cannot be stored, so the sizes that they get here are never used.
    return value instanceof ModuleRef ? VALUE + this.#reference(value) : VALUE;
  }

  /**
   * @returns the size of a row or of the fields of an object, with the names of the fields
   * @throws ContractError as `value`
   */
  fields(object: ContractObject, walk = new Walk()): number {
    walk.visit(object.size);
    return walk.inside(() =>
      [...object].reduce((total, [name, value]) => total + 6 * WORD + this.text(name) + this.value(value, walk), 0),
    );
  }

  /** @throws ContractError as `value` */
  guard(guard: Guard, walk = new Walk()): number {
    switch (guard.kind) {
      case 'keyset':
        walk.visit(guard.keys.length);
        return record(1) + this.keyset(guard);
      case 'keyset-ref':
        return record(1) + this.text(guard.name);
      case 'module':
        return record(1) + record(2) + this.moduleName(guard.module) + this.text(guard.name);
      case 'defpact':
        return record(1) + record(2) + this.text(guard.pactId) + this.text(guard.name);
      case 'user': {
        const name = record(1) + this.#qualifiedName(guard.fun);
        return record(1) + record(2) + name + this.#arguments(guard.args, walk);
      }
      case 'capability': {
        const name = this.#qualifiedName(guard.name);
        const pactId = this.#optional(guard.pactId);
        return record(1) + record(2) + name + this.#arguments(guard.args, walk) + pactId;
      }
    }
  }

  /** @returns the size of a stored keyset */
  keyset({ keys, predicate }: KeysetGuard): number {
    const all = keys.reduce((total, key) => total + 9 * WORD + characterCount(key), 0);
    const qualified = QualifiedName.parse(predicate);
    const name = qualified ? this.#qualifiedName(qualified) : record(2) + this.text(predicate);
    return record(2) + linked(keys.length) + all + record(1) + name;
  }

  /** @returns the size of a stored namespace */
  namespace(name: string, userGuard: Guard, adminGuard: Guard): number {
    return record(3) + this.text(name) + this.guard(userGuard) + this.guard(adminGuard);
  }

  #integer(integer: bigint): number {
    if (!this.#hasOldIntegers) return Math.floor(Math.max(64, bitCount(integer)) / 8);
    return integer > 0n ? Math.ceil(digitsOfBase100000(integer)) : 0;
  }

  #decimal({ mantissa }: Decimal): number {
    return record(2) + 2 * WORD + this.#integer(mantissa);
  }

  #reference({ name, interfaces }: ModuleRef): number {
    const names = interfaces?.reduce((total, each) => total + this.moduleName(each), linked(interfaces.length));
    return record(1) + this.moduleName(name) + (names === undefined ? record(0) : record(1) + names);
  }

  #qualifiedName({ module, member }: QualifiedName): number {
    return record(3) + this.moduleName(module) + this.text(member);
  }

  #arguments(values: readonly Value[], walk: Walk): number {
    return linked(values.length) + this.#all(values, walk);
  }

  #all(values: readonly Value[], walk: Walk): number {
    return walk.inside(() => values.reduce((total: number, value) => total + this.value(value, walk), 0));
  }

  #optional(text: string | undefined): number {
    return text === undefined ? record(0) : record(1) + this.text(text);
  }
}

/** @returns the size of a linked list or a set with this number of items, without the items */
function linked(items: number): number {
  return (1 + 3 * items) * WORD;
}

/** Number of bits from which on an integer may be out of the range of binary64. */
const FAR_BITS = 1024;

/** @param integer above 0 @returns the logarithm of the integer to base 100,000 */
function digitsOfBase100000(integer: bigint): number {
  const excess = Math.max(0, bitCount(integer) - FAR_BITS + 1);
  const logarithm = Math.log(Number(integer >> BigInt(excess))) + excess * Math.LN2;
  return logarithm / Math.log(100_000);
}
