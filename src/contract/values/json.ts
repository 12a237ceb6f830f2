/** Converts values to JSON, and JSON to values. The JSON of a value is byte for byte what nodes hash and store. */

import { normalised, numberText, toolJson } from '../../protocol/ledger/command/tool-json.ts';
import {
  type ExactJson,
  type ExactJsonObject,
  isExactJsonObject,
  JsonNumber,
  LedgerFormatError,
  stringifyExactJson,
} from '../../protocol/ledger/json.ts';
import type { Dialect } from '../dialect.ts';
import { ContractError, type ErrorKind } from '../errors.ts';
import { ModuleName } from '../names.ts';
import { toDecimal } from './arithmetic.ts';
import { Decimal } from './decimal.ts';
import { parseInteger } from './integers.ts';
import { allOrNone, formOf4, formOf5, guardOf5, isJsonList, keysetOf } from './json-forms.ts';
import { Time } from './time.ts';
import {
  DEFAULT_PREDICATE,
  type Guard,
  isGuard,
  isList,
  KeysetGuard,
  ModuleRef,
  type Storable,
  type StorableObject,
  sortedObject,
  UNIT,
  Unit,
  Walk,
} from './values.ts';

/* Writing. The objects for guards, module references and times have their keys in the order of `toolJson`. */

/**
 * @returns the JSON of a value. An integer is `{"int": 1}`, and a decimal mostly a plain number
 * @throws ContractError for values with more than 2^20 parts or 2^23 characters, and for nesting deeper than 500
 */
export function jsonOf(value: Storable, walk = new Walk()): ExactJson {
  walk.visit(1);
  switch (typeof value) {
    case 'string':
      walk.visitText(value.length);
      return value;
    case 'bigint':
      return { int: isSafe(value) ? new JsonNumber(`${value}`) : `${value}` };
    case 'boolean':
      return value;
  }
  if (value instanceof Decimal) return decimalJson(value);
  if (value instanceof Time) return timeJson(value);
  if (value instanceof Unit) return null;
  return walk.inside(() => {
    if (isGuard(value)) return guardJson(value, walk);
    if (value instanceof ModuleRef) return referenceJson(value);
    if (isList(value)) return listJson(value, walk);
    return Object.fromEntries([...value].map(([key, each]) => [keyOf(key, walk), jsonOf(each, walk)]));
  });
}

/**
 * @returns the text of `jsonOf`, without spaces, and with the keys of objects in the order of `toolJson`
 * @throws ContractError as `jsonOf`, and for a text with half of a surrogate pair
 */
export function jsonTextOf(value: Storable): string {
  try {
    return toolJson(jsonOf(value));
  } catch (error) {
    throw error instanceof LedgerFormatError ? new ContractError('eval', error.message) : error;
  }
}

function keyOf(key: string, walk: Walk): string {
  walk.visitText(key.length);
  return key;
}

function listJson(values: readonly Storable[], walk: Walk): ExactJson {
  return values.map((value) => jsonOf(value, walk));
}

/**
 * @returns a plain number without trailing zeros if the mantissa is −(2^53 − 1) … 2^53 − 1; otherwise, an object with
 *   the decimal as a text
 */
function decimalJson(decimal: Decimal): ExactJson {
  const { mantissa, places } = decimal;
  if (!isSafe(mantissa)) return { decimal: `${decimal}` };
  return new JsonNumber(numberText(normalised({ coefficient: mantissa, exponent: -places })));
}

/**
 * A time of whole milliseconds loses its fraction of a second. This is an old fault of nodes, but existing hashes
 * depend on it.
 */
function timeJson(time: Time): ExactJson {
  return time.micros % 1000n === 0n ? { time: `${time}` } : { timep: time.toPreciseString() };
}

function guardJson(guard: Guard, walk: Walk): ExactJson {
  switch (guard.kind) {
    case 'keyset':
      return { pred: guard.predicate, keys: listJson(guard.keys, walk) };
    case 'keyset-ref': {
      const { namespace, name } = ModuleName.parse(guard.name) ?? { namespace: undefined, name: guard.name };
      return { keysetref: namespace === undefined ? name : { ns: namespace, ksn: name } };
    }
    case 'user':
      return { args: listJson(guard.args, walk), fun: guard.fun.text };
    case 'capability':
      return { cgPactId: guard.pactId ?? null, cgArgs: listJson(guard.args, walk), cgName: guard.name.text };
    case 'module':
      return { moduleName: moduleNameJson(guard.module), name: guard.name };
    case 'defpact':
      return { pactId: guard.pactId, name: guard.name };
  }
}

function referenceJson({ name, interfaces }: ModuleRef): ExactJson {
  return { refSpec: interfaces?.map(moduleNameJson) ?? null, refName: moduleNameJson(name) };
}

function moduleNameJson({ namespace, name }: ModuleName): ExactJson {
  return { namespace: namespace ?? null, name };
}

function isSafe(integer: bigint): boolean {
  return integer >= -Number.MAX_SAFE_INTEGER && integer <= Number.MAX_SAFE_INTEGER;
}

/* Reading. */

/**
 * Reads the data of a transaction. A plain number becomes a decimal. An object that stands for another value, such as
 * `{"int": 1}`, becomes this value (`formOf4` and `formOf5`). Any other object becomes an object with sorted keys.
 * @returns undefined in dialect 4 if the data contain a null, except in an object that stands for another value. In
 *   dialect 5, null is the unit
 * @throws ContractError for nesting deeper than 500, for a number with more than 65,536 bits or 20,000 characters, and
 *   for a `{"decimal": …}` with more than 255 places
 */
export function valueOfJson(json: ExactJson, dialect: Dialect, walk = new Walk()): Storable | undefined {
  if (json === null) return dialect === 4 ? undefined : UNIT;
  if (typeof json === 'string' || typeof json === 'boolean') return json;
  if (json instanceof JsonNumber) return Decimal.parseScientific(json.text);
  return walk.inside(() => {
    if (isJsonList(json)) return valuesOf(json, dialect, walk);
    return formOf(json, dialect, walk) ?? objectOfJson(json, dialect, walk);
  });
}

/** @returns the values of a list; undefined if `json` is not a list, or if `valueOfJson` refuses an item */
function valuesOf(json: ExactJson | undefined, dialect: Dialect, walk: Walk): Storable[] | undefined {
  return json === undefined ? undefined : allOrNone(json, (each) => valueOfJson(each, dialect, walk));
}

function formOf(json: ExactJsonObject, dialect: Dialect, walk: Walk): Storable | undefined {
  const formOfDialect = dialect === 4 ? formOf4 : formOf5;
  return formOfDialect(json, (list) => valuesOf(list, dialect, walk));
}

/**
 * The guard in the message of another chain. In dialect 5, it may also be a list of keys.
 * @returns undefined for any other JSON
 */
export function guardOfJson(json: ExactJson, dialect: Dialect, walk = new Walk()): Guard | undefined {
  if (dialect === 5) return guardOf5(json, (list) => valuesOf(list, dialect, walk));
  const value = valueOfJson(json, dialect, walk);
  return value !== undefined && isGuard(value) ? value : undefined;
}

/** As `valueOfJson`, for JSON that stands for no other value, whatever its keys. */
export function objectOfJson(json: ExactJsonObject, dialect: Dialect, walk = new Walk()): StorableObject | undefined {
  const keys = Object.keys(json);
  const values = valuesOf(Object.values(json), dialect, walk);
  return values && sortedObject(keys.map((key, i) => [key, values[i]]));
}

/* The natives that read one key of a transaction's data. */

/** @returns the data by their keys; undefined unless they are an object that stands for itself in dialect 5 */
export function fieldsOf(data: ExactJson, dialect: Dialect): ExactJsonObject | undefined {
  if (!isExactJsonObject(data)) return undefined;
  return dialect === 5 && formOf(data, 5, new Walk()) !== undefined ? undefined : data;
}

/**
 * @param fields as `fieldsOf` returns them
 * @param native the name of the native that reads the key, for the message of dialect 5
 * @param kind the kind of the error in dialect 4
 * @returns the JSON under the key
 * @throws ContractError if the data are not an object with this key
 */
export function messageField(
  fields: ExactJsonObject | undefined,
  key: string,
  native: string,
  dialect: Dialect,
  kind: ErrorKind = 'tx-failure',
): ExactJson {
  if (fields && Object.hasOwn(fields, key)) return fields[key];
  if (dialect === 5) throw readFailure(native);
  throw new ContractError(kind, `No such key in message: ${key}`);
}

/** The native `read-msg`. @throws ContractError as `valueOfJson`, or where `valueOfJson` returns undefined */
export function readMessage(json: ExactJson, dialect: Dialect): Storable {
  return fitting('read-msg', valueOfJson(json, dialect), json, dialect);
}

/**
 * The native `read-integer`: reads `{"int": 1}`, a number, or a text of digits, perhaps after a minus sign. Dialect 5
 * also reads `{"decimal": "1.5"}`. A number that is not whole is rounded half-even.
 * @throws ContractError for anything else
 */
export function readInteger(json: ExactJson, dialect: Dialect): bigint {
  const number = numberOf(json, dialect);
  const parsed = typeof number === 'string' ? parseInteger(number) : number;
  const integer = parsed instanceof Decimal ? parsed.round('half-even') : parsed;
  return fitting('read-integer', integer, json, dialect);
}

/**
 * The native `read-decimal`: reads a number, or a text with a number without an exponent. Dialect 5 also reads
 * `{"int": 1}` and `{"decimal": "1.5"}`.
 * @throws ContractError for anything else
 */
export function readDecimal(json: ExactJson, dialect: Dialect): Decimal {
  const number = numberOf(json, dialect);
  const parsed = typeof number === 'string' ? Decimal.parse(number) : number;
  const isMisfit = typeof parsed === 'bigint' && dialect === 4;
  return fitting('read-decimal', parsed === undefined || isMisfit ? undefined : toDecimal(parsed), json, dialect);
}

/** The native `read-string`. @throws ContractError for anything but a text */
export function readString(json: ExactJson, dialect: Dialect): string {
  return fitting('read-string', typeof json === 'string' ? json : undefined, json, dialect);
}

/**
 * The native `read-keyset`: reads `{"keys": […], "pred": "…"}`, or `{"keys": […]}`, or only the list of keys. Without
 * `pred`, the predicate is `keys-all`.
 * @throws ContractError for anything else
 */
export function readKeyset(json: ExactJson, dialect: Dialect): KeysetGuard {
  if (dialect === 4) {
    const { keys, pred = DEFAULT_PREDICATE } = isExactJsonObject(json) ? json : { keys: json };
    return fitting('read-keyset', keysetOf({ keys, pred }), json, dialect);
  }
  const value = isExactJsonObject(json)
    ? valueOfJson(json, dialect)
    : keysetOf({ keys: json, pred: DEFAULT_PREDICATE });
  return fitting('read-keyset', value instanceof KeysetGuard ? value : undefined, json, dialect);
}

/** @returns the number for which the JSON stands, or the text if the JSON is a text; undefined for anything else */
function numberOf(json: ExactJson, dialect: Dialect): bigint | Decimal | string | undefined {
  const value = valueOfJson(json, dialect);
  if (typeof value === 'bigint' || typeof value === 'string') return value;
  // Dialect 4 refuses the form `{"decimal": "1.5"}`.
  return value instanceof Decimal && (dialect === 5 || json instanceof JsonNumber) ? value : undefined;
}

function fitting<T>(native: string, value: T | undefined, json: ExactJson, dialect: Dialect): T {
  if (value !== undefined) return value;
  if (dialect === 5) throw readFailure(native);
  const text = typeof json === 'string' ? json : stringifyExactJson(json);
  throw new ContractError('eval', `${native}: parse failed: ${text}`);
}

/** @returns the error of dialect 5, which contract code can catch */
function readFailure(native: string): ContractError {
  return new ContractError('tx-failure', `${native} failure`);
}
