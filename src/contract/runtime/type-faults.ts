/** The messages for values of a wrong type. */

import { ContractError, type Position } from '../errors.ts';
import type { Defschema, Parameter, Type } from '../syntax/tree.ts';
import { typeText } from '../values/printing.ts';
import { type ContractObject, compareTexts, isList, isObject, type Value, type Walk } from '../values/values.ts';
import { schemaOf } from './lookup.ts';
import type { Member, Names } from './module.ts';
import type { Evaluator } from './native.ts';
import { SteppedWalk } from './steps.ts';
import { hasType, textOfType } from './typecheck.ts';

/** A parameter or a result. Without a type, its value may be anything. */
type Typed = Pick<Parameter, 'type' | 'position'>;

/** @returns the value @throws ContractError if the value does not have the type */
export function checked({ type, position }: Typed, value: Value, names: Names, evaluator: Evaluator): Value {
  if (type && !hasType(value, type, names, new SteppedWalk(evaluator))) {
    throw typeFault(value, type, names, evaluator, position);
  }
  return value;
}

/**
 * In dialect 4, the message names the part of a list or an object that has the wrong type.
 * @param names resolves the names in the type
 */
export function typeFault(
  value: Value,
  type: Type,
  names: Names,
  evaluator: Evaluator,
  position?: Position,
): ContractError {
  const text5 = `Runtime typecheck failure, argument is ${typeText(value, 5)} , but expected type ${textOfType(type)}`;
  const walk = new SteppedWalk(evaluator);
  const message = evaluator.dialect === 5 ? text5 : (partFault(value, type, names, walk) ?? mismatch(value, type));
  return new ContractError('eval', message, position);
}

function mismatch(value: Value, type: Type): string {
  return `Type error: expected ${textOfType(type)}, found ${typeText(value)}`;
}

/** @returns the message for the first part of a wrong type; undefined if there is none */
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
  // No other type has parts.
  return hasType(value, type, names, walk) ? undefined : mismatch(value, type);
}

/**
 * @param isPartial whether fields may be missing
 * @param faultOf finds the fault in the value of a field
 * @returns the message of dialect 4 for an object that the schema does not allow; undefined for an allowed object
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

export function sortedFields(fields: Iterable<Parameter>): Parameter[] {
  return [...fields].sort((a, b) => compareTexts(a.name, b.name));
}

export function textOfField({ type }: Parameter): string {
  return type ? textOfType(type) : '*';
}

/** @returns the first text that the function returns */
function firstOf<T>(items: Iterable<T>, textOf: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const text = textOf(item);
    if (text !== undefined) return text;
  }
  return undefined;
}
