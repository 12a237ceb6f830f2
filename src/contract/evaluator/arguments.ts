/** The arguments of natives. An argument is an expression of the code, or a value that is known already. */

import type { Position } from '../errors.ts';
import { Member } from '../runtime/module.ts';
import {
  type Argument,
  CapabilityToken,
  type Evaluator,
  type MemberCall,
  NativeFunction,
  PartialFunction,
  type Remaining,
} from '../runtime/native.ts';
import { Closure, type Scope } from '../runtime/scope.ts';
import type { Expression } from '../syntax/tree.ts';
import { typeText } from '../values/printing.ts';
import { isList, isObject, type Value } from '../values/values.ts';

/**
 * The types that messages of dialect 4 show for expressions that were not evaluated. Expressions of all other kinds are
 * shown as `app`.
 */
const TYPES_OF_CODE: Readonly<Partial<Record<Expression['kind'], string>>> = {
  integer: 'integer',
  decimal: 'decimal',
  text: 'string',
  boolean: 'bool',
  list: '[<a>]',
  object: 'object:*',
  name: 'var',
  'dotted-name': 'var',
  'dynamic-name': 'dynamic',
  let: 'let',
};

/** An argument that is an expression of the code. Its value is computed when it is first read. */
export class WrittenArgument implements Argument {
  readonly #evaluator: Evaluator;
  readonly #expression: Expression;
  readonly #scope: Scope;
  #value: Value | undefined;

  constructor(evaluator: Evaluator, expression: Expression, scope: Scope) {
    this.#evaluator = evaluator;
    this.#expression = expression;
    this.#scope = scope;
  }

  get value(): Value {
    this.#value ??= this.#evaluator.evaluate(this.#expression, this.#scope);
    return this.#value;
  }

  get shownValue(): Value {
    this.#value ??= this.#evaluator.evaluateShown(this.#expression, this.#scope);
    return this.#value;
  }

  get text(): string {
    return this.isFunction ? this.#expression.code.trim() : this.#evaluator.print(this.value);
  }

  get writtenType(): string {
    return TYPES_OF_CODE[this.#expression.kind] ?? 'app';
  }

  get code(): string {
    return this.#expression.code;
  }

  get position(): Position {
    return this.#expression.position;
  }

  get isFunction(): boolean {
    return this.#expression.kind === 'lambda' || this.#evaluator.isPartial(this.#expression, this.#scope);
  }

  get isApplication(): boolean {
    return this.#expression.kind === 'application';
  }

  get items(): readonly Argument[] | undefined {
    if (this.#expression.kind !== 'list') return undefined;
    return this.#expression.items.map((item) => new WrittenArgument(this.#evaluator, item, this.#scope));
  }

  get fields(): ReadonlyMap<string, Argument> | undefined {
    if (this.#expression.kind !== 'object') return undefined;
    const { fields } = this.#expression;
    return new Map(fields.map(({ key, value }) => [key, new WrittenArgument(this.#evaluator, value, this.#scope)]));
  }

  asFunction(): Remaining | undefined {
    const expression = this.#expression;
    const [evaluator, scope] = [this.#evaluator, this.#scope];
    // In dialect 4, each call of the returned function evaluates the written arguments again.
    if (evaluator.dialect === 4 && this.isApplication) return this.asRepeated();
    if (evaluator.dialect === 4 && expression.kind !== 'lambda') return this.#variableFunction();
    this.#value ??= evaluator.functionOrValue(expression, scope);
    return functionOf(evaluator, this.#value);
  }

  /** @returns the lambda that a variable of dialect 4 has, which is no value there; undefined for anything else */
  #variableFunction(): Remaining | undefined {
    const expression = this.#expression;
    const variable = expression.kind === 'name' ? this.#scope.find(expression.name) : undefined;
    return variable instanceof Closure ? functionOf(this.#evaluator, variable) : undefined;
  }

  asRepeated(): Remaining | undefined {
    const expression = this.#expression;
    const [evaluator, scope] = [this.#evaluator, this.#scope];
    if (expression.kind !== 'application') return this.asFunction();
    return (...last) => {
      evaluator.gas.call5('lambda', last.length);
      return evaluator.apply(expression, scope, last);
    };
  }

  asCall(): MemberCall | undefined {
    return this.#evaluator.callOf(this.#expression, this.#scope);
  }

  asCapability(): MemberCall | undefined {
    return this.#evaluator.capabilityOf(this.#expression, this.#scope);
  }
}

/** An argument whose value is known already, such as an item of a list. */
export class GivenArgument implements Argument {
  readonly #evaluator: Evaluator;
  readonly value: Value;
  readonly position = undefined;
  readonly isApplication = false;
  readonly code = '';

  constructor(evaluator: Evaluator, value: Value) {
    this.#evaluator = evaluator;
    this.value = value;
  }

  get shownValue(): Value {
    return this.value;
  }

  get text(): string {
    return this.#evaluator.print(this.value);
  }

  get writtenType(): string {
    return typeText(this.value, this.#evaluator.dialect);
  }

  get isFunction(): boolean {
    return isFunction(this.value);
  }

  get items(): readonly Argument[] | undefined {
    return isList(this.value) ? this.value.map((item) => new GivenArgument(this.#evaluator, item)) : undefined;
  }

  get fields(): ReadonlyMap<string, Argument> | undefined {
    if (!isObject(this.value)) return undefined;
    return new Map([...this.value].map(([key, value]) => [key, new GivenArgument(this.#evaluator, value)]));
  }

  asFunction(): Remaining | undefined {
    return functionOf(this.#evaluator, this.value);
  }

  asRepeated(): Remaining | undefined {
    return this.asFunction();
  }

  asCall(): undefined {
    return undefined;
  }

  asCapability(): MemberCall | undefined {
    return this.value instanceof CapabilityToken ? this.value : undefined;
  }
}

/**
 * Whether a value is a function or a member of a module. A member such as a schema cannot be called, and `applyValue`
 * fails for it.
 */
export function isFunction(value: Value): value is Closure | NativeFunction | PartialFunction | Member {
  return (
    value instanceof Closure ||
    value instanceof NativeFunction ||
    value instanceof PartialFunction ||
    value instanceof Member
  );
}

/** @returns undefined for a value that is neither a function nor a member of a module */
function functionOf(evaluator: Evaluator, value: Value): Remaining | undefined {
  return isFunction(value) ? (...last) => evaluator.applyValue(value, last) : undefined;
}
