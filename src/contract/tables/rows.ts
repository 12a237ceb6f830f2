/** Converts and checks rows before they are written to tables. */

import { ContractError } from '../errors.ts';
import type { Member } from '../runtime/module.ts';
import type { Evaluator } from '../runtime/native.ts';
import { SteppedWalk } from '../runtime/steps.ts';
import { costOfRow, schemaFault, sortedFields, typeFault } from '../runtime/type-faults.ts';
import { hasType, textOfType5 } from '../runtime/typecheck.ts';
import type { Defschema, Parameter } from '../syntax/tree.ts';
import { Decimal } from '../values/decimal.ts';
import { jsonOf, valueOfJson } from '../values/json.ts';
import { Time } from '../values/time.ts';
import {
  CapabilityGuard,
  type ContractObject,
  isGuard,
  isList,
  isObject,
  type Storable,
  type StorableObject,
  sortedObject,
  Unstorable,
  UserGuard,
  type Value,
  type Walk,
} from '../values/values.ts';

/**
 * Number of steps counted for the conversion of a value to JSON and back. The converted value takes as much memory as
 * some ten items of a list.
 */
const CONVERSION_STEPS = 8;

/**
 * @returns the row as reading the database gives it. Dialect 4 stores rows as JSON. Thereby, most decimals lose their
 *   trailing zeros, and a time of whole milliseconds loses its fraction of a second
 * @throws ContractError for a value that cannot be stored, such as a function
 */
export function rowOf(object: ContractObject, evaluator: Evaluator): StorableObject {
  const conversion = new Conversion(evaluator);
  return sortedObject([...object].map(([column, value]) => [column, conversion.column(value)]));
}

class Conversion {
  readonly #evaluator: Evaluator;
  readonly #walk: Walk;

  constructor(evaluator: Evaluator) {
    this.#evaluator = evaluator;
    this.#walk = new SteppedWalk(evaluator);
  }

  column(value: Value): Storable {
    const { dialect, environment } = this.#evaluator;
    const converted = this.#convert(value);
    // Before version 4.2, an object with the JSON of another value became this other value when the row was read.
    return dialect === 4 && environment.flags.has('DisablePact42') ? this.#readBack(converted) : converted;
  }

  #convert(value: Value): Storable {
    this.#walk.visit(1);
    if (value instanceof Unstorable) throw this.#refusal(value);
    if (value instanceof Decimal || value instanceof Time) {
      return this.#evaluator.dialect === 4 ? this.#readBack(value) : value;
    }
    if (isList(value)) return this.#all(value);
    if (isObject(value)) {
      const fields = this.#walk.inside(() => [...value].map(([key, field]) => [key, this.#convert(field)] as const));
      return sortedObject(fields);
    }
    if (!isGuard(value)) return value;
    if (value.kind === 'user') return new UserGuard(value.fun, this.#all(value.args));
    if (value.kind === 'capability') return new CapabilityGuard(value.name, this.#all(value.args), value.pactId);
    return value;
  }

  #all(values: readonly Value[]): readonly Storable[] {
    return this.#walk.inside(() => values.map((value) => this.#convert(value)));
  }

  #readBack(value: Storable): Storable {
    this.#evaluator.spend(CONVERSION_STEPS);
    const read = valueOfJson(jsonOf(value), this.#evaluator.dialect);
    if (read !== undefined) return read;
    throw new ContractError('db', `Failed to reify DB value: ${this.#evaluator.print(value)}`);
  }

  #refusal(value: Unstorable): ContractError {
    const message4 = `Only value-level terms permitted: Unable to convert Term: ${value}`;
    const message5 = 'Expected Pact Value, got closure or table reference';
    return new ContractError('eval', this.#evaluator.dialect === 4 ? message4 : message5);
  }
}

/* Schemas. */

/**
 * @param isPartial whether the row may lack columns of the schema
 * @throws ContractError if the row has a column that the schema lacks, or a value of a wrong type; unless `isPartial`,
 *   also if the row lacks a column of the schema
 */
export function checkRow(
  row: StorableObject,
  schema: Member<Defschema>,
  isPartial: boolean,
  evaluator: Evaluator,
): void {
  const columns = new Map(schema.definition.fields.map((field) => [field.name, field]));
  evaluator.spend(columns.size);
  if (evaluator.dialect === 5) {
    checkRow5(row, schema, columns, isPartial, evaluator);
    return;
  }
  const walk = new SteppedWalk(evaluator);
  const { names } = schema.module;
  const fault = schemaFault(row, schema, isPartial, ({ type }, value) =>
    type && !hasType(value, type, names, walk) ? typeFault(value, type, names, evaluator).message : undefined,
  );
  if (fault !== undefined) throw new ContractError('eval', fault);
}

function checkRow5(
  row: StorableObject,
  schema: Member<Defschema>,
  columns: ReadonlyMap<string, Parameter>,
  isPartial: boolean,
  evaluator: Evaluator,
): void {
  const walk = new SteppedWalk(evaluator);
  const { names } = schema.module;
  evaluator.gas.charge5(schema.definition.name, () => costOfRow(row, schema, isPartial, walk));
  const isAllowed = [...row].every(([name, value]) => {
    const column = columns.get(name);
    return column && (!column.type || hasType(value, column.type, names, walk));
  });
  if (isAllowed && (isPartial || row.size === columns.size)) return;
  const fields = sortedFields(columns.values()).map(
    ({ name, type }) => `"${name}": ${type ? textOfType5(type, names) : '*'}`,
  );
  const message = `Attempted insert failed due to schema mismatch. Expected: {${fields.join(',')}}, received`;
  throw new ContractError('eval', `${message} ${evaluator.print(row)}`);
}
