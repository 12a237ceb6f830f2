/**
 * The values of contracts, distinguished by `typeof` and `instanceof`: integers are `bigint`, texts `string`, lists
 * arrays, and objects maps. A value never changes.
 */

import { ContractError } from '../errors.ts';
import type { ModuleName, QualifiedName } from '../names.ts';
import { Decimal } from './decimal.ts';
import { Time } from './time.ts';

/** Values that have a JSON form, and so can be in a table, an event or a defpact. */
export type Storable = Literal | Guard | ModuleRef | readonly Storable[] | StorableObject;
export type StorableObject = ReadonlyMap<string, Storable>;

type Literal = bigint | Decimal | string | boolean | Time | Unit;

/** All values. The entries of an object are in the order in which they were written. */
export type Value = Literal | Guard | ModuleRef | Unstorable | readonly Value[] | ContractObject;
export type ContractObject = ReadonlyMap<string, Value>;

/** Values that exist only while code runs: functions, tables, applications of capabilities. */
export abstract class Unstorable {
  /** The value's type in messages of dialect 4. */
  abstract readonly type: string;
  /** The value's type in messages of dialect 5. */
  readonly type5: string = 'closure';
  abstract toString(): string;
  abstract equals(other: Unstorable): boolean;
}

/** The type of `UNIT`. */
export class Unit {
  readonly type = 'unit';
}

/** `()` of dialect 5, which is also the value of forms that are run for their effects. */
export const UNIT = new Unit();

/** A module or interface as a value. */
export class ModuleRef {
  readonly name: ModuleName;
  /** The interfaces of the module; undefined for an interface. */
  readonly interfaces: readonly ModuleName[] | undefined;

  constructor(name: ModuleName, interfaces: readonly ModuleName[] | undefined) {
    this.name = name;
    this.interfaces = interfaces;
  }
}

export type Guard = KeysetGuard | KeysetRefGuard | UserGuard | CapabilityGuard | ModuleGuard | DefpactGuard;

abstract class GuardBase {
  abstract readonly kind: string;
}

export const DEFAULT_PREDICATE = 'keys-all';

export class KeysetGuard extends GuardBase {
  readonly kind = 'keyset';
  /** Public keys, each once, in order of code points. */
  readonly keys: readonly string[];
  /** The name of the function that decides whether enough keys have signed. */
  readonly predicate: string;

  constructor(keys: Iterable<string>, predicate = DEFAULT_PREDICATE) {
    super();
    this.keys = [...new Set(keys)].sort(compareTexts);
    this.predicate = predicate;
  }
}

/** Refers to a stored keyset by its name. */
export class KeysetRefGuard extends GuardBase {
  readonly kind = 'keyset-ref';
  /** `k`, or with a namespace `ns.k`. */
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }
}

/** A function with its arguments. The guard agrees unless the function fails. */
export class UserGuard extends GuardBase {
  readonly kind = 'user';
  readonly fun: QualifiedName;
  readonly args: readonly Storable[];

  constructor(fun: QualifiedName, args: readonly Storable[]) {
    super();
    this.fun = fun;
    this.args = args;
  }
}

/** Agrees while the capability is held. */
export class CapabilityGuard extends GuardBase {
  readonly kind = 'capability';
  readonly name: QualifiedName;
  readonly args: readonly Storable[];
  /** The pact id of the only defpact in which the guard agrees; undefined for no restriction. */
  readonly pactId: string | undefined;

  constructor(name: QualifiedName, args: readonly Storable[], pactId?: string) {
    super();
    this.name = name;
    this.args = args;
    this.pactId = pactId;
  }
}

/** Agrees while code of the module runs, and if the module's governance agrees. */
export class ModuleGuard extends GuardBase {
  readonly kind = 'module';
  readonly module: ModuleName;
  readonly name: string;

  constructor(module: ModuleName, name: string) {
    super();
    this.module = module;
    this.name = name;
  }
}

/** Agrees in the steps of one defpact. The language calls this guard a pact guard. */
export class DefpactGuard extends GuardBase {
  readonly kind = 'defpact';
  readonly pactId: string;
  readonly name: string;

  constructor(pactId: string, name: string) {
    super();
    this.pactId = pactId;
    this.name = name;
  }
}

export function isGuard(value: Value): value is Guard {
  return value instanceof GuardBase;
}

export function isText(value: Value): value is string {
  return typeof value === 'string';
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isObject(value: Value): value is ContractObject {
  return value instanceof Map;
}

/** @returns an object whose entries are in the order of its keys, as most operations make it */
export function sortedObject<V extends Value>(entries: Iterable<readonly [string, V]>): ReadonlyMap<string, V> {
  return new Map([...entries].sort(([a], [b]) => compareTexts(a, b)));
}

/*
 * Values can nest without end, and can contain the same list many times: fifty lines of code make a list of 2^50 items.
 */

/** Maximum depth of nested lists, objects and arguments of guards, because deeper nesting would exhaust the stack. */
export const MAX_DEPTH = 500;
/** Maximum number of values in a value that is walked through. */
export const MAX_PARTS = 2 ** 20;
/**
 * Maximum number of UTF-16 code units of a text, and of all texts in a value that is walked through: some 16 megabytes.
 * Public contracts join texts of two million characters.
 */
export const MAX_CHARACTERS = 2 ** 23;

/** Counts the parts and characters that a walk through a value visits, and ends the walk above the maximum. */
export class Walk {
  #parts = 0;
  #characters = 0;
  #depth = 0;

  /** @param parts number of values that come next @throws ContractError above the maximum */
  visit(parts: number): void {
    this.#parts += parts;
    if (this.#parts > MAX_PARTS) throw new ContractError('eval', `A value has more than ${MAX_PARTS} parts`);
  }

  /** @param length number of characters that come next @throws ContractError above the maximum */
  visitText(length: number): void {
    this.#characters += length;
    checkCharacters(this.#characters);
  }

  /** Visits the parts of a value. @throws ContractError if the nesting is too deep */
  inside<T>(visitParts: () => T): T {
    if (this.#depth === MAX_DEPTH) throw new ContractError('eval', `A value is nested more than ${MAX_DEPTH} deep`);
    this.#depth++;
    const result = visitParts();
    this.#depth--;
    return result;
  }
}

/** @throws ContractError for more characters than a text may have */
export function checkCharacters(length: number): void {
  if (length > MAX_CHARACTERS) throw new ContractError('eval', `A value has more than ${MAX_CHARACTERS} characters`);
}

/** @throws ContractError for a value with too many parts */
export function isStorable(value: Value, walk = new Walk()): value is Storable {
  walk.visit(1);
  if (value instanceof Unstorable) return false;
  if (isList(value)) return walk.inside(() => value.every((item) => isStorable(item, walk)));
  if (isObject(value)) return walk.inside(() => [...value.values()].every((item) => isStorable(item, walk)));
  return true;
}

/* Equality and order. */

/** Values of different shapes cannot be compared. Within the shape `literal`, values of different types are unequal. */
type Shape = 'literal' | 'list' | 'object' | 'guard' | 'reference' | 'unstorable';

export function shapeOf(value: Value): Shape {
  if (isList(value)) return 'list';
  if (isObject(value)) return 'object';
  if (isGuard(value)) return 'guard';
  if (value instanceof ModuleRef) return 'reference';
  return value instanceof Unstorable ? 'unstorable' : 'literal';
}

/**
 * Compares decimals by value (1.0 is 1.00, but not 1), objects by their keys and values, keysets by the set of their
 * keys and their predicate. Parts of different shapes are unequal.
 * @throws ContractError for values with too many parts
 */
export function areEqual(a: Value, b: Value, walk = new Walk()): boolean {
  // Comparing some thousand characters takes as long as comparing another value.
  walk.visit(typeof a === 'string' ? 1 + Math.floor(a.length / 4096) : 1);
  if (a === b) return true;
  if (isList(a)) return isList(b) && areListsEqual(a, b, walk);
  if (isObject(a)) return isObject(b) && areObjectsEqual(a, b, walk);
  if (isGuard(a)) return isGuard(b) && areGuardsEqual(a, b, walk);
  if (a instanceof Decimal) return b instanceof Decimal && a.equals(b);
  if (a instanceof Time) return b instanceof Time && a.micros === b.micros;
  if (a instanceof ModuleRef) return b instanceof ModuleRef && areReferencesEqual(a, b);
  if (a instanceof Unstorable) return b instanceof Unstorable && a.equals(b);
  return false;
}

function areListsEqual(a: readonly Value[], b: readonly Value[], walk: Walk): boolean {
  return a.length === b.length && walk.inside(() => a.every((item, i) => areEqual(item, b[i], walk)));
}

function areObjectsEqual(a: ContractObject, b: ContractObject, walk: Walk): boolean {
  if (a.size !== b.size) return false;
  return walk.inside(() =>
    [...a].every(([key, value]) => {
      const other = b.get(key);
      return other !== undefined && areEqual(value, other, walk);
    }),
  );
}

function areGuardsEqual(a: Guard, b: Guard, walk: Walk): boolean {
  switch (a.kind) {
    case 'keyset':
      return b.kind === 'keyset' && a.predicate === b.predicate && areListsEqual(a.keys, b.keys, walk);
    case 'keyset-ref':
      return b.kind === 'keyset-ref' && a.name === b.name;
    case 'user':
      return b.kind === 'user' && a.fun.text === b.fun.text && areListsEqual(a.args, b.args, walk);
    case 'capability':
      if (b.kind !== 'capability' || a.name.text !== b.name.text || a.pactId !== b.pactId) return false;
      return areListsEqual(a.args, b.args, walk);
    case 'module':
      return b.kind === 'module' && a.module.text === b.module.text && a.name === b.name;
    case 'defpact':
      return b.kind === 'defpact' && a.pactId === b.pactId && a.name === b.name;
  }
}

function areReferencesEqual(a: ModuleRef, b: ModuleRef): boolean {
  const interfaces = (reference: ModuleRef) => reference.interfaces?.map((name) => name.text).join();
  return a.name.text === b.name.text && interfaces(a) === interfaces(b);
}

/**
 * @returns a negative number, 0 or a positive number; undefined unless both are integers, decimals, texts or times,
 *   because other values have no order
 */
export function order(a: Value, b: Value): number | undefined {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (a instanceof Decimal && b instanceof Decimal) return a.compare(b);
  if (a instanceof Time && b instanceof Time) return order(a.micros, b.micros);
  return undefined;
}

/** Number of compared characters for which one step is counted. */
export const CHARACTERS_PER_STEP = 64;

/** Orders texts by code points. ECMAScript compares UTF-16 code units, which puts U+FFFF after U+10000. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    // Here, both texts begin a character, or both are in the middle of surrogate pairs with the same first half.
    if (a.charCodeAt(at) !== b.charCodeAt(at)) return codePoint(a, at) - codePoint(b, at);
  }
  return a.length - b.length;
}

/**
 * @returns the code point; in the middle of a surrogate pair, only its second half, because the first halves are equal
 */
function codePoint(text: string, at: number): number {
  return text.codePointAt(at) ?? 0;
}
