/** Types at run time: whether a value has one, and how messages name it. */

import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import type { PrimitiveType, Type } from '../syntax/tree.ts';
import { Decimal } from '../values/decimal.ts';
import { typeText } from '../values/printing.ts';
import { Time } from '../values/time.ts';
import { isGuard, isList, isObject, ModuleRef, type Value, Walk } from '../values/values.ts';

const IS_PRIMITIVE: Readonly<Record<PrimitiveType, (value: Value) => boolean>> = {
  integer: (value) => typeof value === 'bigint',
  decimal: (value) => value instanceof Decimal,
  time: (value) => value instanceof Time,
  bool: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  keyset: (value) => isGuard(value) && value.kind === 'keyset',
  guard: isGuard,
  // No value is a unit yet but the result of natives that return nothing.
  unit: () => false,
};

/** Whether a value has a type. Fields of objects are not looked at, nor the interfaces of modules. */
export function hasType(value: Value, type: Type, walk = new Walk()): boolean {
  walk.visit(1);
  switch (type.kind) {
    case 'primitive':
      return IS_PRIMITIVE[type.name](value);
    case 'list': {
      const { item } = type;
      return isList(value) && (!item || value.every((each) => hasType(each, item, walk)));
    }
    case 'object':
    case 'schema':
      return isObject(value);
    case 'table':
      return false;
    case 'module':
      return value instanceof ModuleRef;
  }
}

/** @returns how messages name a type: `[integer]`, `object:{account}` */
export function textOfType(type: Type): string {
  switch (type.kind) {
    case 'primitive':
      return type.name;
    case 'list':
      return type.item ? `[${textOfType(type.item)}]` : '[<a>]';
    case 'object':
      return 'object:*';
    case 'schema':
      return 'object';
    case 'table':
      return 'table:*';
    case 'module':
      return `module{${type.interfaces.map(({ text }) => text).join(',')}}`;
  }
}

export function typeFault(value: Value, type: Type, dialect: Dialect, position: Position): ContractError {
  const [expected, found] = [textOfType(type), typeText(value, dialect)];
  const message =
    dialect === 4
      ? `Type error: expected ${expected}, found ${found}`
      : `Runtime typecheck failure, argument is ${found} , but expected type ${expected}`;
  return new ContractError('eval', message, position);
}
