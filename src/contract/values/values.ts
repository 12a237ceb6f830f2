/**
 * The values of contract code. Integers are of type `bigint`, texts `string` and bools `boolean`. Lists are arrays,
 * objects are maps, and all other values are instances of classes. Nothing changes a value after it is made.
 */

import { ContractError } from '../errors.ts';
import type { ModuleName, QualifiedName } from '../names.ts';
import { Decimal } from './decimal.ts';
import { Time } from './time.ts';

/** The values that `jsonOf` can convert to JSON. Rows of tables and states of defpacts contain only such values. */
export type Storable = Literal | Guard | ModuleRef | readonly Storable[] | StorableObject;
export type StorableObject = ReadonlyMap<string, Storable>;

type Literal = bigint | Decimal | string | boolean | Time | Unit;

/** Any value of contract code. */
export type Value = Literal | Guard | ModuleRef | Unstorable | readonly Value[] | ContractObject;
/** An object literal has its entries in the order of the code. Most other objects have them sorted by their keys. */
export type ContractObject = ReadonlyMap<string, Value>;

/** A value without a JSON form: a function, another member of a module, a table, or an application of a capability. */
export abstract class Unstorable {
  /** The name of the value's type in messages of dialect 4. */
  abstract readonly type: string;
  /** The name of the value's type in messages of dialect 5. */
  readonly type5: string = 'closure';
  abstract toString(): string;
  abstract equals(other: Unstorable): boolean;
}

/** The class of the value `UNIT`. */
export class Unit {
  readonly type = 'unit';
}

/**
 * The value of `()`, and the result of functions such as `print`, which are called for their effects. Only dialect 5
 * has this value.
 */
export const UNIT = new Unit();

/** A reference to a module or an interface. */
export class ModuleRef {
  readonly name: ModuleName;
  /** The interfaces that the module implements; undefined if `name` is an interface. */
  readonly interfaces: readonly ModuleName[] | undefined;
  /** Whether the reference equals every reference to the same module, as in dialect 5, whatever the interfaces are. */
  readonly isEqualByName: boolean;

  constructor(name: ModuleName, interfaces: readonly ModuleName[] | undefined, isEqualByName = false) {
    this.name = name;
    this.interfaces = interfaces;
    this.isEqualByName = isEqualByName;
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

/** A guard that requires the stored keyset of this name. */
export class KeysetRefGuard extends GuardBase {
  readonly kind = 'keyset-ref';
  /** The keyset's name, such as `k`; with a namespace, `ns.k`. */
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }
}

/** A guard that calls a function with arguments, and passes if the call does not fail. */
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

/** A guard that passes while the capability is held. */
export class CapabilityGuard extends GuardBase {
  readonly kind = 'capability';
  readonly name: QualifiedName;
  readonly args: readonly Storable[];
  /** The id of the only defpact in which the guard passes; undefined if the guard does not depend on a defpact. */
  readonly pactId: string | undefined;

  constructor(name: QualifiedName, args: readonly Storable[], pactId?: string) {
    super();
    this.name = name;
    this.args = args;
    this.pactId = pactId;
  }
}

/**
 * A guard that passes while a call of the module's code is running. Outside of such calls, the guard passes if the
 * module's governance allows changes of the module.
 */
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

/** A guard that passes in the steps of one defpact. The language calls this guard a pact guard. */
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

/** @returns an object whose entries are sorted by their keys, in the order of code points */
export function sortedObject<V extends Value>(entries: Iterable<readonly [string, V]>): ReadonlyMap<string, V> {
  return new Map([...entries].sort(([a], [b]) => compareTexts(a, b)));
}

/*
 * Limits. Code can nest values to any depth, and can put the same list into another list several times. So fifty lines
 * of code can make a list with 2^50 items.
 */

/** Maximum depth of nested lists, objects and arguments of guards. Deeper nesting could exhaust the stack. */
export const MAX_DEPTH = 500;
/** Maximum number of parts of a value that a `Walk` visits. A list or object counts in addition to what it contains. */
export const MAX_PARTS = 2 ** 20;
/**
 * Maximum number of UTF-16 code units of a text, and of all texts together that a `Walk` visits: 16 MiB of memory.
 * The limit is not lower, because contracts of the public chain make texts of two million characters.
 */
export const MAX_CHARACTERS = 2 ** 23;

/** Counts the parts and characters of a value while a function visits them, and fails when there are too many. */
export class Walk {
  #parts = 0;
  #characters = 0;
  #depth = 0;

  /** @param parts number of parts to visit next @throws ContractError if the sum is above `MAX_PARTS` */
  visit(parts: number): void {
    this.#parts += parts;
    if (this.#parts > MAX_PARTS) throw new ContractError('eval', `A value has more than ${MAX_PARTS} parts`);
  }

  /**
   * @param length number of UTF-16 code units to visit next
   * @throws ContractError if the sum is above `MAX_CHARACTERS`
   */
  visitText(length: number): void {
    this.#characters += length;
    checkCharacters(this.#characters);
  }

  /** Runs `visitParts` one level deeper. @throws ContractError if the depth would be above `MAX_DEPTH` */
  inside<T>(visitParts: () => T): T {
    if (this.#depth === MAX_DEPTH) throw new ContractError('eval', `A value is nested more than ${MAX_DEPTH} deep`);
    this.#depth++;
    const result = visitParts();
    this.#depth--;
    return result;
  }
}

/** @param length in UTF-16 code units @throws ContractError if the length is above `MAX_CHARACTERS` */
export function checkCharacters(length: number): void {
  if (length > MAX_CHARACTERS) throw new ContractError('eval', `A value has more than ${MAX_CHARACTERS} characters`);
}

/**
 * @returns whether the value has a JSON form
 * @throws ContractError for a value with too many parts or too deep nesting
 */
export function isStorable(value: Value, walk = new Walk()): value is Storable {
  walk.visit(1);
  if (value instanceof Unstorable) return false;
  if (isList(value)) return walk.inside(() => value.every((item) => isStorable(item, walk)));
  if (isObject(value)) return walk.inside(() => [...value.values()].every((item) => isStorable(item, walk)));
  return true;
}

/* Equality and order. */

/**
 * The shape of a value. Dialect 4 cannot compare values of different shapes. The shape `literal` has several types,
 * such as `integer` and `string`: values of two of these types can be compared, and are unequal.
 */
type Shape = 'literal' | 'list' | 'object' | 'guard' | 'reference' | 'unstorable';

export function shapeOf(value: Value): Shape {
  if (isList(value)) return 'list';
  if (isObject(value)) return 'object';
  if (isGuard(value)) return 'guard';
  if (value instanceof ModuleRef) return 'reference';
  return value instanceof Unstorable ? 'unstorable' : 'literal';
}

/**
 * Compares decimals by their numbers: 1.0 equals 1.00, but does not equal the integer 1. The order of an object's
 * entries does not matter. Values of different shapes or types are unequal.
 * @throws ContractError for values with too many parts or too deep nesting
 */
export function areEqual(a: Value, b: Value, walk = new Walk()): boolean {
  // Every 4096 characters of a text count as another part, because comparing them takes about as long as comparing two
  // short values.
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
  if (a.name.text !== b.name.text) return false;
  return a.isEqualByName || b.isEqualByName || interfaces(a) === interfaces(b);
}

/**
 * Compares two integers, two decimals, two texts or two times.
 * @returns a negative number if `a` comes before `b`, 0 if the values are equal, or a positive number; undefined for
 *   all other pairs of values
 */
export function order(a: Value, b: Value): number | undefined {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (a instanceof Decimal && b instanceof Decimal) return a.compare(b);
  if (a instanceof Time && b instanceof Time) return order(a.micros, b.micros);
  return undefined;
}

/** Number of compared UTF-16 code units for which one step is counted. */
export const CHARACTERS_PER_STEP = 64;

/**
 * Compares texts by their code points. The operator `<` would compare UTF-16 code units, and so place U+FFFF after
 * U+10000.
 * @returns a negative number if `a` comes before `b`, 0 if the texts are equal, or a positive number
 */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    // The code units before `at` are equal. So in well-formed texts, either a character begins at `at` in both texts,
    // or the second half of a surrogate pair is there in both.
    if (a.charCodeAt(at) !== b.charCodeAt(at)) return codePoint(a, at) - codePoint(b, at);
  }
  return a.length - b.length;
}

/** @returns the code point that begins at `at`; the code unit itself if `at` is the second half of a surrogate pair */
function codePoint(text: string, at: number): number {
  return text.codePointAt(at) ?? 0;
}
