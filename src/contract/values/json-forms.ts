/** Reads the objects of JSON that stand for other values, such as `{"int": 1}` and `{"keys": […], "pred": "…"}`. */

import { type ExactJson, type ExactJsonObject, isExactJsonObject, JsonNumber } from '../../protocol/ledger/json.ts';
import { isDottedName, ModuleName, QualifiedName } from '../names.ts';
import { Decimal } from './decimal.ts';
import { parseInteger } from './integers.ts';
import type { Time } from './time.ts';
import { timeOfJsonText } from './time-parsing.ts';
import {
  CapabilityGuard,
  DEFAULT_PREDICATE,
  DefpactGuard,
  type Guard,
  KeysetGuard,
  KeysetRefGuard,
  ModuleGuard,
  ModuleRef,
  type Storable,
  UserGuard,
} from './values.ts';

/** The fields of an object, which may lack those that a form has. */
type Fields = { readonly [key: string]: ExactJson | undefined };

/** Reads a list of values. Returns undefined for anything else. */
type ValuesOf = (json: ExactJson | undefined) => Storable[] | undefined;

/** Reads one form. Returns undefined for an object that does not have it. */
type Form<Result extends Storable = Storable> = (fields: Fields, valuesOf: ValuesOf) => Result | undefined;

/* What both dialects have in common. */

const integer: Form = ({ int }) => {
  if (typeof int === 'string') return parseInteger(int);
  return int instanceof JsonNumber ? Decimal.parseScientific(int.text)?.round('half-even') : undefined;
};

const decimal: Form = ({ decimal }) => (typeof decimal === 'string' ? Decimal.parse(decimal) : undefined);

const time: Form<Time> = ({ time }) => (typeof time === 'string' ? timeOfJsonText(time, false) : undefined);

const timep: Form<Time> = ({ timep }) => (typeof timep === 'string' ? timeOfJsonText(timep, true) : undefined);

const userGuard: Form<Guard> = ({ fun, args }, valuesOf) => {
  const name = qualifiedNameOf(fun);
  const values = name && valuesOf(args);
  return values && new UserGuard(name, values);
};

const defpactGuard: Form<Guard> = ({ name, pactId }) =>
  typeof name === 'string' && typeof pactId === 'string' ? new DefpactGuard(pactId, name) : undefined;

function capabilityGuard({ cgName, cgArgs, cgPactId = null }: Fields, valuesOf: ValuesOf): CapabilityGuard | undefined {
  const name = qualifiedNameOf(cgName);
  const args = name && valuesOf(cgArgs);
  if (!args || (cgPactId !== null && typeof cgPactId !== 'string')) return undefined;
  return new CapabilityGuard(name, args, cgPactId ?? undefined);
}

function qualifiedNameOf(json: ExactJson | undefined): QualifiedName | undefined {
  return typeof json === 'string' ? QualifiedName.parse(json) : undefined;
}

function textsOf(json: ExactJson | undefined): string[] | undefined {
  return allOrNone(json, (each) => (typeof each === 'string' ? each : undefined));
}

/** @returns undefined unless the keys are a list of texts, and the predicate is a text */
export function keysetOf({ keys, pred }: Fields): KeysetGuard | undefined {
  const texts = textsOf(keys);
  return texts && typeof pred === 'string' ? new KeysetGuard(texts, pred) : undefined;
}

/** @returns the result of `read` for each item; undefined if the JSON is not a list, or if any result is undefined */
export function allOrNone<T>(json: ExactJson | undefined, read: (item: ExactJson) => T | undefined): T[] | undefined {
  if (!isJsonList(json)) return undefined;
  const all: T[] = [];
  for (const item of json) {
    const each = read(item);
    if (each === undefined) return undefined;
    all.push(each);
  }
  return all;
}

export function isJsonList(json: ExactJson | undefined): json is readonly ExactJson[] {
  return Array.isArray(json);
}

/* Dialect 4. An object has a form only if it has exactly the keys of the form. */

/** The names of forms are their keys, sorted and joined by commas. */
const FORMS4: Readonly<Record<string, Form>> = {
  int: integer,
  decimal,
  time,
  timep,
  'keys,pred': keysetOf,
  keysetref: ({ keysetref }) => {
    if (typeof keysetref === 'string') return new KeysetRefGuard(keysetref);
    if (!isExactJsonObject(keysetref)) return undefined;
    const { ns, ksn } = keysetref;
    return typeof ns === 'string' && typeof ksn === 'string' ? new KeysetRefGuard(`${ns}.${ksn}`) : undefined;
  },
  'args,fun': userGuard,
  'cgArgs,cgName,cgPactId': capabilityGuard,
  'moduleName,name': ({ moduleName, name }) => {
    const module = moduleNameOf4(moduleName);
    return module && typeof name === 'string' ? new ModuleGuard(module, name) : undefined;
  },
  'name,pactId': defpactGuard,
  'refName,refSpec': ({ refName, refSpec }) => {
    const name = moduleNameOf4(refName);
    const interfaces = refSpec === null ? undefined : allOrNone(refSpec, moduleNameOf4);
    return name && (refSpec === null || interfaces) ? new ModuleRef(name, interfaces) : undefined;
  },
};

function moduleNameOf4(json: ExactJson | undefined): ModuleName | undefined {
  if (!isExactJsonObject(json)) return undefined;
  const { namespace, name } = json;
  if (typeof name !== 'string' || (namespace !== null && typeof namespace !== 'string')) return undefined;
  return new ModuleName(name, namespace ?? undefined);
}

/** @returns the value for which an object stands in dialect 4; undefined if it stands for itself */
export function formOf4(json: ExactJsonObject, valuesOf: ValuesOf): Storable | undefined {
  const keys = Object.keys(json).sort().join();
  return Object.hasOwn(FORMS4, keys) ? FORMS4[keys](json, valuesOf) : undefined;
}

/* Dialect 5. An object has a form if it has its fields. Some may be missing or null, and others are ignored. */

const GUARDS5: readonly Form<Guard>[] = [
  ({ keys, pred }) => {
    const predicate = pred ?? DEFAULT_PREDICATE;
    return typeof predicate === 'string' && isDottedName(predicate) ? keysetOf({ keys, pred: predicate }) : undefined;
  },
  ({ keysetref }) => {
    if (typeof keysetref === 'string') return new KeysetRefGuard(keysetref);
    if (!isExactJsonObject(keysetref)) return undefined;
    const { ns = null, ksn } = keysetref;
    if (typeof ksn !== 'string' || (ns !== null && typeof ns !== 'string')) return undefined;
    return new KeysetRefGuard(ns === null ? ksn : `${ns}.${ksn}`);
  },
  userGuard,
  capabilityGuard,
  ({ moduleName, name }) => {
    const module = moduleNameOf5(moduleName);
    return module && typeof name === 'string' ? new ModuleGuard(module, name) : undefined;
  },
  defpactGuard,
];

/** All forms, in the order in which they are tried. */
const FORMS5: readonly Form[] = [
  integer,
  decimal,
  ...GUARDS5,
  ({ refName, refSpec }) => {
    const name = moduleNameOf5(refName);
    const interfaces = allOrNone(refSpec ?? [], moduleNameOf5);
    return name && interfaces && new ModuleRef(name, interfaces);
  },
  time,
  timep,
];

function moduleNameOf5(json: ExactJson | undefined): ModuleName | undefined {
  if (!isExactJsonObject(json)) return undefined;
  const { namespace = null, name } = json;
  if (typeof name !== 'string' || !ModuleName.parse(name)) return undefined;
  return namespace === null || typeof namespace === 'string' ? new ModuleName(name, namespace ?? undefined) : undefined;
}

/** @returns the value for which an object stands in dialect 5; undefined if it stands for itself */
export function formOf5(json: ExactJsonObject, valuesOf: ValuesOf): Storable | undefined {
  return firstOf(FORMS5, json, valuesOf);
}

/** @returns the guard that a list of keys, or an object stands for where dialect 5 expects a guard */
export function guardOf5(json: ExactJson, valuesOf: ValuesOf): Guard | undefined {
  return isExactJsonObject(json) ? firstOf(GUARDS5, json, valuesOf) : keysetOf({ keys: json, pred: DEFAULT_PREDICATE });
}

function firstOf<Result extends Storable>(
  forms: readonly Form<Result>[],
  json: ExactJsonObject,
  valuesOf: ValuesOf,
): Result | undefined {
  for (const form of forms) {
    const value = form(json, valuesOf);
    if (value !== undefined) return value;
  }
  return undefined;
}
