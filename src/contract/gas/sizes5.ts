/**
 * The sizes of values in bytes, for the table model of gas of dialect 5: an estimate of their length in CBOR, in which
 * nodes store them.
 */

import type { ModuleName, QualifiedName } from '../names.ts';
import type { DefpactState, Yield } from '../runtime/defpact-state.ts';
import { Decimal } from '../values/decimal.ts';
import { Time } from '../values/time.ts';
import {
  type ContractObject,
  type Guard,
  isGuard,
  isList,
  isObject,
  type KeysetGuard,
  ModuleRef,
  Unit,
  type Value,
  type Walk,
} from '../values/values.ts';
import { bitCount } from './sizes.ts';

/** Size of a record without its fields. */
export const RECORD = 1;
/** Size of a value of a type with several kinds, without what the kind has. */
export const KIND = 2;
/** Size of a list, a set, or the fields of an object, without what is in it. */
export const LIST = 5;
/** Size of a hash. */
export const HASH = 36;
/** Size of a number in the state of a defpact. */
export const MACHINE_INTEGER = 5;
const TIME = 8;

/** The names of predicates of keysets that are no functions of a module. */
const PREDICATES: ReadonlySet<string> = new Set(['keys-all', 'keys-any', 'keys-2']);

export function sizeOfText(text: string): number {
  return Buffer.byteLength(text) + 4;
}

export function sizeOfInteger(integer: bigint): number {
  return Math.floor(Math.max(64, bitCount(integer)) / 8);
}

export function sizeOfModuleName({ name, namespace }: ModuleName): number {
  return RECORD + sizeOfText(name) + KIND + (namespace === undefined ? 0 : sizeOfText(namespace));
}

export function sizeOfName({ module, member }: QualifiedName): number {
  return RECORD + sizeOfText(member) + sizeOfModuleName(module);
}

/** @param each gives the size of an item */
export function sizeOfList<T>(items: Iterable<T>, each: (item: T) => number): number {
  let size = LIST;
  for (const item of items) size += each(item);
  return size;
}

/**
 * Computes the sizes of values and of their parts. The walk counts the parts, and fails for values that are too large.
 */
export class Sizes5 {
  readonly #walk: Walk;

  constructor(walk: Walk) {
    this.#walk = walk;
  }

  value(value: Value): number {
    this.#walk.visit(1);
    if (typeof value === 'string') {
      this.#walk.visitText(value.length);
      return 2 * KIND + sizeOfText(value);
    }
    if (typeof value === 'bigint') return 2 * KIND + sizeOfInteger(value);
    if (typeof value === 'boolean') return 2 * KIND + 1;
    if (value instanceof Decimal) return 2 * KIND + RECORD + 1 + sizeOfInteger(value.mantissa);
    if (value instanceof Unit) return 2 * KIND;
    if (value instanceof Time) return KIND + TIME;
    if (isList(value)) return KIND + this.#walk.inside(() => this.list(value));
    if (isObject(value)) return KIND + this.#walk.inside(() => this.fields(value));
    if (isGuard(value)) return KIND + this.guard(value);
    if (value instanceof ModuleRef) {
      return KIND + RECORD + sizeOfModuleName(value.name) + sizeOfList(value.interfaces ?? [], sizeOfModuleName);
    }
    return KIND;
  }

  list(values: readonly Value[]): number {
    return sizeOfList(values, (item) => this.value(item));
  }

  /** @returns the size of a row, or of an object's content */
  fields(object: ContractObject): number {
    return sizeOfList(object, ([name, value]) => RECORD + sizeOfText(name) + this.value(value));
  }

  keyset({ keys, predicate }: KeysetGuard): number {
    return RECORD + sizeOfList(keys, sizeOfText) + KIND + (PREDICATES.has(predicate) ? 0 : sizeOfPredicate(predicate));
  }

  guard(guard: Guard): number {
    switch (guard.kind) {
      case 'keyset':
        return KIND + this.keyset(guard);
      case 'keyset-ref':
        return KIND + sizeOfKeysetName(guard.name);
      case 'user':
        return KIND + this.userGuard(guard);
      case 'capability':
        return KIND + this.capabilityGuard(guard);
      case 'module':
        return KIND + RECORD + sizeOfModuleName(guard.module) + sizeOfText(guard.name);
      case 'defpact':
        return KIND + RECORD + sizeOfText(guard.pactId) + sizeOfText(guard.name);
    }
  }

  userGuard({ fun, args }: Guard & { kind: 'user' }): number {
    return RECORD + sizeOfName(fun) + this.list(args);
  }

  capabilityGuard({ name, args, pactId }: Guard & { kind: 'capability' }): number {
    return RECORD + sizeOfName(name) + this.list(args) + KIND + (pactId === undefined ? 0 : sizeOfText(pactId));
  }

  namespace(name: string, userGuard: Guard, adminGuard: Guard): number {
    return RECORD + sizeOfText(name) + this.guard(userGuard) + this.guard(adminGuard);
  }
}

/** @returns the size of a defpact's state, as it is stored after a step */
export function sizeOfDefpact(defpact: DefpactState, sizes: Sizes5): number {
  const hasRollback = 1;
  return sizeOfNested(defpact, sizes) + hasRollback;
}

function sizeOfNested({ id, yielded, continuation, nested }: DefpactState, sizes: Sizes5): number {
  const [stepCount, step] = [MACHINE_INTEGER, MACHINE_INTEGER];
  const call = RECORD + sizeOfName(continuation.name) + sizes.list(continuation.args);
  const others = sizeOfList(nested, ([key, each]) => RECORD + sizeOfText(key) + sizeOfNested(each, sizes));
  return (
    RECORD + stepCount + KIND + (yielded ? sizeOfYield(yielded, sizes) : 0) + step + sizeOfText(id) + call + others
  );
}

function sizeOfYield({ data, provenance, sourceChain }: Yield, sizes: Sizes5): number {
  const target = provenance ? RECORD + sizeOfText(provenance.targetChain) + HASH : 0;
  return RECORD + sizes.fields(data) + KIND + target + KIND + (sourceChain === undefined ? 0 : sizeOfText(sourceChain));
}

/** @param name with its namespace, if it has one: `ns.k` */
export function sizeOfKeysetName(name: string): number {
  const point = name.indexOf('.');
  const namespace = point < 0 ? undefined : name.slice(0, point);
  return RECORD + sizeOfText(name.slice(point + 1)) + KIND + (namespace === undefined ? 0 : sizeOfText(namespace));
}

function sizeOfPredicate(name: string): number {
  const [member, module, namespace] = name.split('.').reverse();
  if (module === undefined) return KIND + sizeOfText(member);
  const ofModule = RECORD + sizeOfText(module) + KIND + (namespace === undefined ? 0 : sizeOfText(namespace));
  return KIND + RECORD + sizeOfText(member) + ofModule;
}
