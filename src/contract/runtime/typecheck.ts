/** Types while code runs: checks whether a value has a type, and makes the text of a type. */

import type { ModuleName } from '../names.ts';
import type { Defschema, PrimitiveType, Type } from '../syntax/tree.ts';
import { Decimal } from '../values/decimal.ts';
import { Time } from '../values/time.ts';
import {
  type ContractObject,
  compareTexts,
  isGuard,
  isList,
  isObject,
  ModuleRef,
  UNIT,
  type Value,
  type Walk,
} from '../values/values.ts';
import { schemaOf } from './lookup.ts';
import { type Member, type Names, Table, textOfName } from './module.ts';

const IS_PRIMITIVE: Readonly<Record<PrimitiveType, (value: Value) => boolean>> = {
  integer: (value) => typeof value === 'bigint',
  decimal: (value) => value instanceof Decimal,
  time: (value) => value instanceof Time,
  bool: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  keyset: (value) => isGuard(value) && value.kind === 'keyset',
  guard: isGuard,
  unit: (value) => value === UNIT,
};

/**
 * Whether a value has a type.
 * @param names resolves the names in the type
 * @throws ContractError as `walk`, for a value with too many parts or too deep nesting
 */
export function hasType(value: Value, type: Type, names: Names, walk: Walk): boolean {
  walk.visit(1);
  switch (type.kind) {
    case 'primitive':
      return IS_PRIMITIVE[type.name](value);
    case 'list': {
      const { item } = type;
      return isList(value) && (!item || value.every((each) => hasType(each, item, names, walk)));
    }
    case 'object':
    case 'schema': {
      if (!isObject(value)) return false;
      const schema = schemaOf(type, names);
      return !schema || walk.inside(() => hasSchema(value, schema, walk));
    }
    case 'table': {
      const schema = schemaOf(type, names);
      return (
        value instanceof Table &&
        (!schema || (value.schema !== undefined && haveSameFields(value.schema, schema, walk)))
      );
    }
    case 'module':
      return (
        value instanceof ModuleRef && type.interfaces.every((each) => implementsInterface(value, each.text, names))
      );
  }
}

/** Whether two schemas have fields of the same names and types, in any order. */
export function haveSameFields(a: Member<Defschema>, b: Member<Defschema>, walk?: Walk): boolean {
  if (a === b) return true;
  walk?.visit(a.definition.fields.length + b.definition.fields.length);
  const texts = ({ definition: { fields } }: Member<Defschema>) =>
    fields.map(({ name, type }) => `${name}:${type ? textOfType(type) : '<a>'}`).sort();
  return texts(a).join() === texts(b).join();
}

/** Whether an object has exactly the fields of a schema, with values of their types. */
function hasSchema(object: ContractObject, { definition, module }: Member<Defschema>, walk: Walk): boolean {
  const { fields } = definition;
  return (
    object.size === fields.length &&
    fields.every(({ name, type }) => {
      const value = object.get(name);
      return value !== undefined && (!type || hasType(value, type, module.names, walk));
    })
  );
}

function implementsInterface({ interfaces = [] }: ModuleRef, name: string, names: Names): boolean {
  const wanted = fullNameOf(name, names);
  return interfaces.some((each) => each.text === wanted);
}

/** @returns the full name of the interface that a type names; the name itself if there is no such interface */
export function fullNameOf(name: string, names: Names): string {
  const meant = names.find(name);
  return meant instanceof ModuleRef ? meant.name.text : name;
}

function moduleMeant(name: ModuleName, names: Names): ModuleName {
  const meant = names.find(name.text);
  return meant instanceof ModuleRef ? meant.name : name;
}

/** @returns each name once, in the order of the language's generation 5: by the name, then by the namespace */
export function sortedModules(names: readonly ModuleName[]): readonly ModuleName[] {
  const all = new Map(names.map((name) => [name.text, name]));
  return [...all.values()].sort(
    (a, b) => compareTexts(a.name, b.name) || compareTexts(a.namespace ?? '', b.namespace ?? ''),
  );
}

/**
 * @param names resolves the names in the type
 * @returns the type as messages of dialect 5 show it: `list integer`, `object{module.account}`
 */
export function textOfType5(type: Type, names: Names): string {
  switch (type.kind) {
    case 'primitive':
      return type.name;
    case 'list': {
      if (!type.item) return 'list';
      const item = textOfType5(type.item, names);
      return type.item.kind === 'primitive' ? `list ${item}` : `list (${item})`;
    }
    case 'object':
    case 'schema':
    case 'table': {
      const kind = type.kind === 'table' ? 'table' : 'object';
      if (!type.schema) return kind;
      return `${kind}{${schemaOf(type, names)?.name.text ?? textOfName(type.schema)}}`;
    }
    case 'module': {
      const interfaces = type.interfaces.map((each) => moduleMeant(each, names));
      return `module{${sortedModules(interfaces)
        .map(({ text }) => text)
        .join(', ')}}`;
    }
  }
}

/** @returns the type as messages of dialect 4 show it: `[integer]`, `object:{account}` */
export function textOfType(type: Type): string {
  switch (type.kind) {
    case 'primitive':
      return type.name;
    case 'list':
      return type.item ? `[${textOfType(type.item)}]` : '[<a>]';
    case 'object':
      return `object:${type.schema ? `{${textOfName(type.schema)}}` : '*'}`;
    case 'schema':
      return `{${textOfName(type.schema)}}`;
    case 'table':
      return `table:${type.schema ? `{${textOfName(type.schema)}}` : '*'}`;
    case 'module':
      return `module{${type.interfaces.map(({ text }) => text).join(',')}}`;
  }
}
