/** Checks the types of values, and makes the error messages for values of a wrong type. */

import { ContractError, type Position } from '../errors.ts';
import { CHECKED_PART } from '../gas/natives5.ts';
import type { Defschema, Parameter, Type } from '../syntax/tree.ts';
import { typeText } from '../values/printing.ts';
import { type ContractObject, compareTexts, isList, isObject, type Value, type Walk } from '../values/values.ts';
import { schemaOf } from './lookup.ts';
import type { Member, Names } from './module.ts';
import type { Evaluator } from './native.ts';
import { SteppedWalk } from './steps.ts';
import { hasType, textOfType, textOfType5 } from './typecheck.ts';

/**
 * The charge of dialect 5 for checking the type of a value: for each item of a list, and each field of an object with a
 * schema. The check ends at the first wrong field.
 */
export function costOfType(value: Value, type: Type, names: Names, walk: Walk): number {
  walk.visit(1);
  if (type.kind === 'list' && isList(value)) {
    const { item } = type;
    if (!item) return 0;
    return value.reduce((sum: number, each) => sum + CHECKED_PART + costOfType(each, item, names, walk), 0);
  }
  const schema = type.kind === 'table' ? undefined : schemaOf(type, names);
  return schema && isObject(value) ? walk.inside(() => costOfFields(value, schema, walk)) : 0;
}

function costOfFields(object: ContractObject, { definition, module }: Member<Defschema>, walk: Walk): number {
  if (object.size !== definition.fields.length) return 0;
  return sortedFields(definition.fields).reduce((sum, { name, type }) => {
    const value = object.get(name);
    return sum + CHECKED_PART + (value !== undefined && type ? costOfType(value, type, module.names, walk) : 0);
  }, 0);
}

/** The charge of dialect 5 for checking a row before it is written. @param isPartial whether columns may be missing */
export function costOfRow(row: ContractObject, schema: Member<Defschema>, isPartial: boolean, walk: Walk): number {
  if (!isPartial) return costOfFields(row, schema, walk);
  const { definition, module } = schema;
  const fields = definition.fields.filter(({ name }) => row.has(name));
  const own = CHECKED_PART * row.size;
  if (fields.length !== row.size) return own;
  return fields.reduce((sum, { name, type }) => {
    const value = row.get(name);
    return sum + CHECKED_PART + (value !== undefined && type ? costOfType(value, type, module.names, walk) : 0);
  }, own);
}

/** A parameter, a variable or a result. If `type` is undefined, it can have any value. */
type Typed = Pick<Parameter, 'type' | 'position'>;

/**
 * @param names resolves the names in the type
 * @returns the given value
 * @throws ContractError if the value does not have the type
 */
export function checked({ type, position }: Typed, value: Value, names: Names, evaluator: Evaluator): Value {
  if (type) evaluator.gas.charge5('type', () => costOfType(value, type, names, new SteppedWalk(evaluator)));
  if (type && !hasType(value, type, names, new SteppedWalk(evaluator))) {
    throw typeFault(value, type, names, evaluator, position);
  }
  return value;
}

/**
 * @param value has a wrong type
 * @param type the expected type
 * @param names resolves the names in the type
 * @returns the error. In dialect 4, its message describes the first wrong item of a list or field of an object
 */
export function typeFault(
  value: Value,
  type: Type,
  names: Names,
  evaluator: Evaluator,
  position?: Position,
): ContractError {
  const message =
    evaluator.dialect === 5
      ? `Runtime typecheck failure, argument is ${typeText(value, 5)} , but expected type ${textOfType5(type, names)}`
      : (partFault(value, type, names, new SteppedWalk(evaluator)) ?? mismatch(value, type));
  return new ContractError('eval', message, position);
}

function mismatch(value: Value, type: Type): string {
  return `Type error: expected ${textOfType(type)}, found ${typeText(value, 4)}`;
}

/**
 * @returns the message of dialect 4 for the first wrong part of the value; undefined if all parts have the right types
 */
function partFault(value: Value, type: Type, names: Names, walk: Walk): string | undefined {
  if (type.kind === 'list' && isList(value)) {
    walk.visit(1);
    const { item } = type;
    return item && firstOf(value, (each) => partFault(each, item, names, walk));
  }
  const schema = type.kind === 'table' ? undefined : schemaOf(type, names);
  if (schema && isObject(value)) {
    walk.visit(1);
    const faultOf = ({ type: own }: Parameter, each: Value) =>
      own && walk.inside(() => partFault(each, own, schema.module.names, walk));
    return schemaFault(value, schema, false, faultOf);
  }
  // A value of any other type is checked as a whole.
  return hasType(value, type, names, walk) ? undefined : mismatch(value, type);
}

/**
 * @param isPartial whether fields of the schema may be missing in the object
 * @param faultOf returns the message for a wrong value of a field, or undefined
 * @returns the message of dialect 4 for the first fault of the object; undefined if the schema allows the object
 */
export function schemaFault(
  object: ContractObject,
  { definition: { name, fields } }: Member<Defschema>,
  isPartial: boolean,
  faultOf: (field: Parameter, value: Value) => string | undefined,
): string | undefined {
  const known = new Map(fields.map((field) => [field.name, field]));
  const keys = [...object.keys()].sort(compareTexts);
  const unknown = keys.find((key) => !known.has(key));
  if (unknown !== undefined) return `Invalid field for {${name}}: "${unknown}"`;
  const missing = isPartial ? [] : sortedFields(fields).filter((field) => !object.has(field.name));
  if (missing.length > 0) {
    const texts = missing.map((field) => `${field.name}:${textOfField(field)}`).join(', ');
    return `Missing fields for {${name}}: [${texts}]`;
  }
  return firstOf(keys, (key) => {
    const [field, value] = [known.get(key), object.get(key)];
    return field && value !== undefined ? faultOf(field, value) : undefined;
  });
}

/** @returns the fields, sorted by their names in the order of code points */
export function sortedFields(fields: Iterable<Parameter>): Parameter[] {
  return [...fields].sort((a, b) => compareTexts(a.name, b.name));
}

/** @returns the text of the field's type in dialect 4; `*` without a type */
function textOfField({ type }: Parameter): string {
  return type ? textOfType(type) : '*';
}

/** @returns the first text that `textOf` returns for an item; undefined if it returns none */
function firstOf<T>(items: Iterable<T>, textOf: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const text = textOf(item);
    if (text !== undefined) return text;
  }
  return undefined;
}
