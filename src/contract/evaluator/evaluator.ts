/** Evaluates expressions of contract code. */

import { DEFAULT_DIALECT, type Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import type { Application, Binding, Expression, Let, Parameter } from '../syntax/tree.ts';
import { Decimal } from '../values/decimal.ts';
import { printed, typeText } from '../values/printing.ts';
import { isList, isObject, type Value } from '../values/values.ts';
import { CONSTANTS } from './constants.ts';
import {
  type Argument,
  type Evaluation,
  fewestParameters,
  type Native,
  NativeFunction,
  type Remaining,
  wrongArguments,
} from './native.ts';
import { Closure, Scope } from './scope.ts';
import { hasType, typeFault } from './types.ts';

/**
 * Maximum number of evaluations inside of each other. Each takes up to two kilobytes of this process's stack, of which
 * Node.js has a megabyte. Public contracts stay below 100.
 */
export const MAX_NESTING = 300;
/** Maximum number of steps of one program, which takes some ten seconds. On a node, gas ends a program much earlier. */
export const MAX_STEPS = 20_000_000;

export interface EvaluatorOptions {
  /** 4 by default. */
  readonly dialect?: Dialect;
  /** The natives by their names. */
  readonly natives: ReadonlyMap<string, Native>;
  readonly maxSteps?: number;
}

type Callable = Native | Closure;

export class Evaluator implements Evaluation {
  readonly dialect: Dialect;
  readonly #natives: ReadonlyMap<string, Native>;
  readonly #maxSteps: number;
  #steps = 0;
  #nesting = 0;

  constructor({ dialect = DEFAULT_DIALECT, natives, maxSteps = MAX_STEPS }: EvaluatorOptions) {
    this.dialect = dialect;
    this.#natives = natives;
    this.#maxSteps = maxSteps;
  }

  /** @throws ContractError with the position of the innermost application that has failed */
  evaluate(expression: Expression, scope = Scope.EMPTY): Value {
    this.spend(1);
    if (this.#nesting === MAX_NESTING) {
      throw new ContractError('eval', `Code is nested more than ${MAX_NESTING} evaluations deep`, expression.position);
    }
    this.#nesting++;
    try {
      return this.#evaluate(expression, scope);
    } finally {
      this.#nesting--;
    }
  }

  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#maxSteps) throw new ContractError('eval', `Code takes more than ${this.#maxSteps} steps`);
  }

  attempt(action: () => Value): Value | undefined {
    try {
      return action();
    } catch (fault) {
      if (fault instanceof ContractError && fault.kind === 'tx-failure') return undefined;
      throw fault;
    }
  }

  evaluateBody(body: readonly Expression[], scope: Scope): Value {
    const last = body.length - 1;
    for (let at = 0; at < last; at++) this.evaluate(body[at], scope);
    return this.evaluate(body[last], scope);
  }

  evaluateBinding({ pairs, body, position }: Binding, object: Value, scope: Scope): Value {
    if (!isObject(object))
      throw new ContractError('eval', `bind: expected object, found ${typeText(object)}`, position);
    const variables = new Map<string, Value>();
    for (const { key, variable } of pairs) {
      const name = this.evaluate(key, scope);
      const value = typeof name === 'string' ? object.get(name) : undefined;
      if (value === undefined)
        throw new ContractError(
          'eval',
          `Bad column in binding: ${typeof name === 'string' ? name : this.print(name)}`,
          position,
        );
      variables.set(variable.name, value);
    }
    return this.evaluateBody(body, scope.with(variables));
  }

  /** @param last arguments behind those that are written */
  apply(application: Application, scope: Scope, last: readonly Value[] = []): Value {
    try {
      const callable = this.#calleeOf(application, scope);
      const args = application.arguments;
      if (callable instanceof Closure) {
        const given = args.map((arg) => this.evaluate(arg, scope));
        return this.applyClosure(callable, [...given, ...last], application.position);
      }
      const written = args.map((arg) => new WrittenArgument(this, arg, scope));
      const all = [...written, ...last.map((value) => new GivenArgument(this, value))];
      return this.#applyNative(callable, all, application, scope);
    } catch (fault) {
      throw fault instanceof ContractError ? fault.at(application.position) : fault;
    }
  }

  applyValue(callable: Closure | NativeFunction, args: readonly Value[]): Value {
    if (callable instanceof Closure) return this.applyClosure(callable, args, undefined);
    const given = args.map((value) => new GivenArgument(this, value));
    return this.#applyNative(callable.native, given, undefined, Scope.EMPTY);
  }

  applyClosure({ lambda, scope }: Closure, args: readonly Value[], position: Position | undefined): Value {
    const { parameters, body } = lambda;
    if (args.length !== parameters.length)
      throw wrongCount('lambda', args.length, parameters.length, this.dialect, position);
    return this.evaluateBody(body, scope.with(this.#bound(parameters, args)));
  }

  #applyNative(native: Native, args: readonly Argument[], application: Application | undefined, scope: Scope): Value {
    const { binding, position } = application ?? {};
    const value = native.apply(args, { evaluation: this, scope, binding, position });
    if (value === undefined) throw wrongArguments(native, args, this.dialect);
    return value;
  }

  #evaluate(expression: Expression, scope: Scope): Value {
    switch (expression.kind) {
      case 'integer':
      case 'text':
      case 'boolean':
        return expression.value;
      case 'decimal':
        return new Decimal(expression.mantissa, expression.places);
      case 'list':
        return expression.items.map((item) => this.evaluate(item, scope));
      case 'object':
        return new Map(expression.fields.map(({ key, value }) => [key, this.evaluate(value, scope)]));
      case 'application':
        return this.apply(expression, scope);
      case 'let':
        return this.#evaluateLet(expression, scope);
      case 'lambda':
        return new Closure(expression, scope);
      case 'cond': {
        const { branches, otherwise } = expression;
        const branch = branches.find(({ condition }) => this.evaluateCondition('cond', condition, scope));
        return this.evaluate(branch ? branch.value : otherwise, scope);
      }
      case 'name': {
        const value = this.#valueOf(expression.name, scope);
        if (value === undefined) throw cannotResolve(expression.name, this.dialect, expression.position);
        return value;
      }
      case 'dotted-name':
        throw cannotResolve(expression.name.text, this.dialect, expression.position);
      case 'dynamic-name':
        throw cannotResolve(`${expression.reference}::${expression.member}`, this.dialect, expression.position);
      case 'with-capability':
        throw new ContractError(
          'eval',
          'with-capability: only the code of modules has capabilities',
          expression.position,
        );
      case 'unit':
        throw new ContractError('eval', 'this evaluator has no unit value', expression.position);
    }
  }

  #evaluateLet({ isSequential, variables, body }: Let, outer: Scope): Value {
    // Dialect 5 has no other.
    const isNested = isSequential || this.dialect === 5;
    let scope = outer;
    const together = new Map<string, Value>();
    for (const { variable, value } of variables) {
      const name = variable.name;
      const bound = this.#checked(variable, this.evaluate(value, isNested ? scope : outer));
      if (isNested) scope = scope.with(new Map([[name, bound]]));
      else together.set(name, bound);
    }
    return this.evaluateBody(body, isNested ? scope : outer.with(together));
  }

  /** @param who as messages name it */
  evaluateCondition(who: string, condition: Expression, scope: Scope): boolean {
    const value = this.evaluate(condition, scope);
    if (typeof value === 'boolean') return value;
    throw new ContractError('eval', `${who}: conditional not boolean: ${this.print(value)}`, condition.position);
  }

  print(value: Value): string {
    return printed(value, { dialect: this.dialect });
  }

  /** Whether the expression is an application that lacks arguments, or names a function. */
  isPartial(expression: Expression, scope: Scope): boolean {
    if (expression.kind !== 'application') return false;
    const { callee, arguments: args, binding } = expression;
    if (callee.kind !== 'name' || binding) return false;
    const known = scope.find(callee.name);
    if (known !== undefined) return known instanceof Closure && known.lambda.parameters.length > args.length;
    const native = this.#native(callee.name);
    return native !== undefined && fewestParameters(native) > args.length;
  }

  #bound(parameters: readonly Parameter[], args: readonly Value[]): ReadonlyMap<string, Value> {
    return new Map(parameters.map((parameter, at) => [parameter.name, this.#checked(parameter, args[at])]));
  }

  /** @returns the value @throws ContractError if it has not the parameter's type */
  #checked({ type, position }: Parameter, value: Value): Value {
    if (type && !hasType(value, type)) throw typeFault(value, type, this.dialect, position);
    return value;
  }

  #calleeOf({ callee }: Application, scope: Scope): Callable {
    if (callee.kind === 'name') {
      const local = scope.find(callee.name);
      const native = local === undefined ? this.#native(callee.name) : undefined;
      if (native) return native;
      if (local === undefined) throw cannotResolve(callee.name, this.dialect, callee.position);
      return callableOf(local, this.dialect);
    }
    if (this.dialect === 4) throw new ContractError('eval', 'Expected: name', callee.position);
    return callableOf(this.evaluate(callee, scope), this.dialect);
  }

  #valueOf(name: string, scope: Scope): Value | undefined {
    const value = scope.find(name) ?? CONSTANTS.get(name);
    // Natives are values in dialect 5 only.
    const native = value === undefined && this.dialect === 5 ? this.#native(name) : undefined;
    return native ? new NativeFunction(native) : value;
  }

  #native(name: string): Native | undefined {
    const native = this.#natives.get(name);
    return (native?.dialect ?? this.dialect) === this.dialect ? native : undefined;
  }
}

/** An argument that is written in the code. */
class WrittenArgument implements Argument {
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

  get text(): string {
    return this.isFunction ? this.#expression.code.trim() : this.#evaluator.print(this.value);
  }

  get isFunction(): boolean {
    return this.#expression.kind === 'lambda' || this.#evaluator.isPartial(this.#expression, this.#scope);
  }

  get items(): readonly Argument[] | undefined {
    if (this.#expression.kind !== 'list') return undefined;
    return this.#expression.items.map((item) => new WrittenArgument(this.#evaluator, item, this.#scope));
  }

  asFunction(): Remaining | undefined {
    const expression = this.#expression;
    const [evaluator, scope] = [this.#evaluator, this.#scope];
    // It is evaluated anew with each of the last arguments.
    if (expression.kind === 'application') return (...last) => evaluator.apply(expression, scope, last);
    if (evaluator.dialect === 4 && expression.kind !== 'lambda') return undefined;
    return functionOf(evaluator, this.value);
  }
}

/** An argument that is known already, such as an item of a list. */
class GivenArgument implements Argument {
  readonly #evaluator: Evaluator;
  readonly value: Value;

  constructor(evaluator: Evaluator, value: Value) {
    this.#evaluator = evaluator;
    this.value = value;
  }

  get text(): string {
    return this.#evaluator.print(this.value);
  }

  get isFunction(): boolean {
    return isFunction(this.value);
  }

  get items(): readonly Argument[] | undefined {
    return isList(this.value) ? this.value.map((item) => new GivenArgument(this.#evaluator, item)) : undefined;
  }

  asFunction(): Remaining | undefined {
    return functionOf(this.#evaluator, this.value);
  }
}

function isFunction(value: Value): value is Closure | NativeFunction {
  return value instanceof Closure || value instanceof NativeFunction;
}

function functionOf(evaluator: Evaluator, value: Value): Remaining | undefined {
  return isFunction(value) ? (...last) => evaluator.applyValue(value, last) : undefined;
}

function callableOf(value: Value, dialect: Dialect): Callable {
  if (value instanceof Closure) return value;
  if (value instanceof NativeFunction) return value.native;
  const type = typeText(value, dialect);
  const message =
    dialect === 4
      ? `Tried to call a value which is not a function, but a(n) ${type}`
      : 'Cannot apply value to non-closure';
  throw new ContractError('eval', message);
}

function cannotResolve(name: string, dialect: Dialect, position: Position): ContractError {
  return new ContractError('eval', dialect === 4 ? `Cannot resolve ${name}` : `Unbound variable ${name}`, position);
}

/** @param who the function, as messages name it */
function wrongCount(who: string, supplied: number, expected: number, dialect: Dialect, position?: Position) {
  const message =
    dialect === 4
      ? `${who}: Incorrect number of arguments (${supplied}) supplied; expected ${expected}`
      : `Incorrect number of arguments (${supplied}) for ${who} supplied; expected (${expected})`;
  return new ContractError('eval', message, position);
}
