/** Makes the texts that the interactive interpreter and messages show for values and types. Also has the native `=`. */

import type { Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import type { QualifiedName } from '../names.ts';
import { Decimal } from './decimal.ts';
import { Time } from './time.ts';
import {
  areEqual,
  compareTexts,
  type Guard,
  isGuard,
  isList,
  ModuleRef,
  shapeOf,
  Unit,
  Unstorable,
  type Value,
  Walk,
} from './values.ts';

interface Printing {
  /** The dialect whose form the text has. */
  readonly dialect: Dialect;
  /**
   * Whether items of lists are separated by commas (`[1, 2]`) instead of spaces (`[1 2]`). The native `format` uses
   * commas, and so do lists in the arguments of a printed capability. False by default.
   */
  readonly commas?: boolean;
}

/**
 * @returns the text of a value. Texts are quoted, but not escaped. Entries of an object are sorted by their keys in
 *   dialect 5 or with `commas`; otherwise, they keep the order that they have in the object
 * @throws ContractError for values with more than 2^20 parts or 2^23 characters, and for nesting deeper than 500
 */
export function printed(value: Value, { dialect, commas = false }: Printing): string {
  return new Printer(dialect, commas).print(value);
}

/** @returns the text of an application of a capability, for messages: `(ns.m.CAP "a" 1.0)` */
export function printedCapability(name: QualifiedName, args: readonly Value[], dialect: Dialect): string {
  return `(${[name.text, ...args.map((arg) => printed(arg, { dialect, commas: true }))].join(' ')})`;
}

/**
 * @returns the decimal with all its places, and with at least one: `3.0`. Of a whole number such as 2.00, dialect 5
 *   shows only one place (`2.0`)
 */
export function printedDecimal(decimal: Decimal, dialect: Dialect): string {
  if (decimal.places === 0) return `${decimal}.0`;
  return dialect === 5 && decimal.isWhole ? `${decimal.round('floor')}.0` : `${decimal}`;
}

class Printer {
  readonly #walk = new Walk();
  readonly #dialect: Dialect;
  readonly #commas: boolean;

  constructor(dialect: Dialect, commas: boolean) {
    this.#dialect = dialect;
    this.#commas = commas;
  }

  print(value: Value): string {
    this.#walk.visit(1);
    switch (typeof value) {
      case 'string':
        this.#walk.visitText(value.length);
        return `"${value}"`;
      case 'bigint':
        return this.#digits(`${value}`);
      case 'boolean':
        return `${value}`;
    }
    if (value instanceof Decimal) return this.#digits(printedDecimal(value, this.#dialect));
    if (value instanceof Time) return `"${value}"`;
    if (value instanceof Unit) return '()';
    if (value instanceof ModuleRef) return value.name.text;
    if (value instanceof Unstorable) return `${value}`;
    return this.#walk.inside(() => {
      if (isGuard(value)) return this.#guard(value);
      return isList(value) ? `[${this.#items(value).join(this.#commas ? ', ' : ' ')}]` : this.#object(value);
    });
  }

  /** Counts the characters of a number whenever it is printed, because a list can contain a long number many times. */
  #digits(text: string): string {
    this.#walk.visitText(text.length);
    return text;
  }

  #items(values: readonly Value[]): string[] {
    return values.map((item) => this.print(item));
  }

  #object(object: ReadonlyMap<string, Value>): string {
    const entries = [...object];
    if (this.#dialect === 5 || this.#commas) entries.sort(([a], [b]) => compareTexts(a, b));
    return `{${entries.map(([key, value]) => `${this.print(key)}: ${this.print(value)}`).join(',')}}`;
  }

  /** The keys of a keyset and the arguments of a guard are separated by commas, even without `commas`. */
  #guard(guard: Guard): string {
    switch (guard.kind) {
      case 'keyset': {
        const keys = guard.keys.join(', ');
        this.#walk.visitText(keys.length);
        return `KeySet {keys: [${keys}],pred: ${guard.predicate}}`;
      }
      case 'keyset-ref':
        return `'${guard.name}`;
      case 'user':
        return `UserGuard {fun: ${guard.fun.text},args: [${this.#items(guard.args).join(', ')}]}`;
      case 'capability': {
        const args = this.#items(guard.args).join(', ');
        return `CapabilityGuard {name: ${guard.name.text},args: [${args}],pactId: ${guard.pactId ?? ''}}`;
      }
      case 'module':
        return `ModuleGuard {module: ${guard.module.text},name: ${guard.name}}`;
      case 'defpact':
        return `PactGuard {pactId: ${guard.pactId},name: ${guard.name}}`;
    }
  }
}

/**
 * @returns the type of a value, for messages and the native `typeof`, such as `integer` or `guard`. Dialect 4 names the
 *   types of lists and objects `[<a>]` and `object:*`. Dialect 5 names these types `list` and `object`
 */
export function typeText(value: Value, dialect: Dialect): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'bigint':
      return 'integer';
    case 'boolean':
      return 'bool';
  }
  if (value instanceof Decimal) return 'decimal';
  if (value instanceof Time) return 'time';
  if (value instanceof Unit) return value.type;
  if (isGuard(value)) return dialect === 4 && value.kind === 'keyset' ? 'keyset' : 'guard';
  if (value instanceof ModuleRef && dialect === 5) return 'modref';
  if (value instanceof ModuleRef) return `module{${(value.interfaces ?? []).map((name) => name.text).join(',')}}`;
  if (value instanceof Unstorable) return dialect === 4 ? value.type : value.type5;
  if (isList(value)) return dialect === 4 ? '[<a>]' : 'list';
  return dialect === 4 ? 'object:*' : 'object';
}

/**
 * The native `=`. In dialect 5, values of different shapes are unequal.
 * @throws ContractError for values with too many parts or too deep nesting; in dialect 4 also for values of different
 *   shapes, such as a list and an integer
 */
export function compareForEquality(a: Value, b: Value, dialect: Dialect, walk: Walk = new Walk()): boolean {
  if (dialect === 4 && shapeOf(a) !== shapeOf(b)) {
    throw new ContractError(
      'eval',
      `cannot compare incompatible types: ${typeText(a, dialect)}, ${typeText(b, dialect)}`,
    );
  }
  return areEqual(a, b, walk);
}
