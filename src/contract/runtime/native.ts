/** Native functions, their arguments, and the messages for wrong arguments. */

import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import type { GasMeter } from '../gas/meter.ts';
import type { Application, Binding, Defcap, Expression } from '../syntax/tree.ts';
import { printedCapability, typeText } from '../values/printing.ts';
import { areEqual, Unstorable, type Value } from '../values/values.ts';
import type { Database } from './database.ts';
import type { Environment } from './environment.ts';
import type { Kept } from './kept.ts';
import type { Callable, Member, Names } from './module.ts';
import type { Closure, Scope } from './scope.ts';
import { abbreviated, hidesValues } from './shown.ts';
import type { Context, State } from './state.ts';

/** A function that lacks only its last arguments. */
export type Remaining = (...last: readonly Value[]) => Value;

/** A member of a module with the values of its arguments, before it is called. */
export interface MemberCall {
  readonly member: Member<Callable>;
  readonly args: readonly Value[];
}

/** An argument of a native. The argument is evaluated when `value` or `shownValue` is first read. */
export interface Argument {
  readonly value: Value;
  /** As `value`, but in dialect 4 the bare name of a function gives a text that describes the function. */
  readonly shownValue: Value;
  /** The argument, as messages show it. */
  readonly text: string;
  /** The type that messages show for an argument that was not evaluated: `app`, `integer`. */
  readonly writtenType: string;
  /** The argument's source, up to the next token; empty for a value that is known already. */
  readonly code: string;
  /** Undefined for a value that is known already. */
  readonly position: Position | undefined;
  /** Whether the argument is a function, or an application that lacks arguments. */
  readonly isFunction: boolean;
  /** The items of a list literal, each to be evaluated on its own; undefined for any other argument. */
  readonly items: readonly Argument[] | undefined;
  /** The fields of an object literal, as `items`. */
  readonly fields: ReadonlyMap<string, Argument> | undefined;
  /** @returns undefined for an argument that cannot be a function */
  asFunction(): Remaining | undefined;
  /** @returns undefined unless the argument is an application of a member of a module */
  asCall(): MemberCall | undefined;
  /** @returns as `asCall`; in dialect 5, undefined unless the argument's value is an application of a capability */
  asCapability(): MemberCall | undefined;
}

/**
 * The evaluator, as natives, capabilities, defpacts, modules and tables use it. `TreeEvaluator` imports their files,
 * so these import the interface instead of the class. The code of one transaction runs with an `Environment` from
 * outside, a `State` and a `Database` that the code changes, and for each expression a `Scope` of variables and a
 * `Context` of calls.
 */
export interface Evaluator {
  readonly dialect: Dialect;
  readonly environment: Environment;
  readonly database: Database;
  /** Natives charge this meter for their work. The evaluator has already charged for the calls of the natives. */
  readonly gas: GasMeter;
  /**
   * Counts the memory that stays in use after the code has run; undefined where gas bounds this memory, as on a node.
   */
  readonly kept: Kept | undefined;
  /** A change replaces the whole state; a state object never changes. */
  state: State;
  readonly context: Context;
  /** The names that code outside of modules can use. */
  readonly transactionNames: Names;
  /** Whether a native has this name. */
  readonly isNative: (name: string) => boolean;
  findNative(name: string): Native | undefined;
  /** Whether a native, a built-in constant or schema, or a function of the interpreter has this name. */
  readonly isKnown: (name: string) => boolean;
  evaluate(expression: Expression, scope: Scope): Value;
  /** As `evaluate`, but in dialect 4 the bare name of a function gives a text that describes the function. */
  evaluateShown(expression: Expression, scope: Scope): Value;
  /** @returns the value of the last expression */
  evaluateBody(body: readonly Expression[], scope: Scope): Value;
  /**
   * Evaluates the body of a binding with its variables.
   * @throws ContractError for an object that lacks one of the keys
   */
  evaluateBinding(binding: Binding, object: Value, scope: Scope): Value;
  /** @param last arguments after the written ones */
  apply(application: Application, scope: Scope, last?: readonly Value[]): Value;
  /** Calls a function that is a value. */
  applyValue(callable: Closure | NativeFunction | PartialFunction | Member, args: readonly Value[]): Value;
  /** Calls a member of a module. @throws ContractError for a capability, which can only be acquired */
  applyMember(call: MemberCall, position?: Position): Value;
  /**
   * Checks the arguments of a call, and runs the body of the definition in a new frame.
   * @param run gets the variables of the body
   */
  inFrame<T>(call: MemberCall, position: Position | undefined, run: (scope: Scope) => T): T;
  /** @throws ContractError for arguments of a wrong number or type */
  checkArguments(call: MemberCall, position: Position | undefined): void;
  /** @returns undefined unless the expression is an application of a member of a module */
  callOf(expression: Expression, scope: Scope): MemberCall | undefined;
  /** @returns as `callOf`; in dialect 5, undefined unless the value is an application of a capability */
  capabilityOf(expression: Expression, scope: Scope): MemberCall | undefined;
  /** Whether the expression is an application that lacks arguments, or names a function. */
  isPartial(expression: Expression, scope: Scope): boolean;
  /** Runs the action with another context. */
  within<T>(change: Partial<Context>, action: () => T): T;
  /**
   * @returns the action's value; undefined, with the state restored, if the action fails with the kind `tx-failure`
   *   (`enforce`) or, with the flag `DisablePact44`, with any kind except `gas`
   * @throws every other failure
   */
  attempt(action: () => Value): Value | undefined;
  /** Counts steps for long work inside one evaluation, such as making a list. */
  spend(steps: number): void;
  print(value: Value): string;
}

/** The application of a native, without its arguments. */
export interface Call {
  readonly evaluator: Evaluator;
  /** The scope in which the arguments are evaluated. */
  readonly scope: Scope;
  /** The binding, with its body, that follows the arguments; undefined if none does. */
  readonly binding: Binding | undefined;
  readonly position: Position | undefined;
}

export interface Native {
  readonly name: string;
  /** The only dialect that has the native; undefined for both. */
  readonly dialect?: Dialect;
  /** Whether only code outside of modules can call the native. */
  readonly isTopLevel?: boolean;
  /** The types of arguments and result for messages: `x:integer y:integer -> integer`. */
  readonly signatures: readonly string[];
  /** Whether the native evaluates its own arguments. Messages of dialect 4 then show the source of the arguments. */
  readonly isLazy?: boolean;
  /** @returns undefined for arguments that match none of the signatures */
  readonly apply: (args: readonly Argument[], call: Call) => Value | undefined;
}

/** A native as a value. Only dialect 5 has such values. */
export class NativeFunction extends Unstorable {
  override readonly type = 'function';
  readonly native: Native;

  constructor(native: Native) {
    super();
    this.native = native;
  }

  override toString(): string {
    return this.native.name;
  }

  override equals(other: Unstorable): boolean {
    return other instanceof NativeFunction && other.native === this.native;
  }
}

/**
 * A function with its first arguments. In dialect 5, a variable can hold such a value, and only natives can call it.
 */
export class PartialFunction extends Unstorable {
  override readonly type = 'function';
  readonly callable: Closure | NativeFunction | Member<Callable>;
  readonly args: readonly Value[];

  constructor(callable: Closure | NativeFunction | Member<Callable>, args: readonly Value[]) {
    super();
    this.callable = callable;
    this.args = args;
  }

  override toString(): string {
    return `${this.callable}`;
  }

  override equals(other: Unstorable): boolean {
    return other === this;
  }
}

/** An application of a capability as a value. Only dialect 5 has such values. */
export class CapabilityToken extends Unstorable implements MemberCall {
  override readonly type = 'cap-token';
  readonly member: Member<Defcap>;
  readonly args: readonly Value[];

  constructor(member: Member<Defcap>, args: readonly Value[]) {
    super();
    this.member = member;
    this.args = args;
  }

  override toString(): string {
    return `CapToken${printedCapability(this.member.name, this.args, 5)}`;
  }

  override equals(other: Unstorable): boolean {
    return other instanceof CapabilityToken && other.member.equals(this.member) && areEqual(other.args, this.args);
  }
}

/** @param apply evaluates only the arguments that it needs */
export function lazy(name: string, signatures: string | readonly string[], apply: Native['apply']): Native {
  return { name, signatures: typeof signatures === 'string' ? [signatures] : signatures, isLazy: true, apply };
}

/** @param run gets the values of all arguments, evaluated from the first to the last */
export function strict(
  name: string,
  signatures: string | readonly string[],
  run: (values: readonly Value[], call: Call) => Value | undefined,
): Native {
  const apply: Native['apply'] = (args, call) => {
    const values = args.map((arg) => arg.value);
    return call.binding ? undefined : run(values, call);
  };
  return { ...lazy(name, signatures, apply), isLazy: false };
}

export function wrongArguments(native: Native, args: readonly Argument[], evaluator: Evaluator): ContractError {
  const { name, signatures } = native;
  const { dialect } = evaluator;
  if (dialect === 4) return new ContractError('args', wrongArgumentsText(native, args, evaluator));
  const counts = new Set(signatures.map(parameterCount));
  const [count] = counts;
  if (counts.size === 1 && count !== args.length) {
    const supplied = `Incorrect number of arguments (${args.length}) for native function ${name} supplied`;
    return new ContractError('args', `${supplied}; expected (${count})`);
  }
  const types = args.map((arg) => (arg.isFunction ? 'closure' : typeText(arg.value, dialect))).join(', ');
  const message = `Type error: failed to call native function ${name} with argument(s) of type(s): ${types}`;
  return new ContractError('args', message);
}

function wrongArgumentsText(native: Native, args: readonly Argument[], { environment }: Evaluator): string {
  const { name, signatures, isLazy } = native;
  // Messages omit the parentheses around types of functions.
  const shown = signatures.map((signature) => signature.replace(/[()]/g, ''));
  const expected = shown.length === 1 ? shown[0] : `[${shown.join(', ')}]`;
  if (hidesValues(environment)) {
    const types = args.map((arg) => (isLazy ? arg.writtenType : typeText(arg.value)));
    return `Invalid arguments in call to ${name}, received arguments of type [${types.join(' ')}], expected ${expected}`;
  }
  const received = args.map((arg) => (isLazy ? `"${abbreviated(arg.code.trim() || arg.text)}"` : arg.text));
  return `Invalid arguments, received [${received.join(' ')}] for ${expected}`;
}

/** @returns the number of arguments of the shortest signature */
export function fewestParameters({ signatures }: Native): number {
  return Math.min(...signatures.map(parameterCount));
}

/** @returns the failure of a native, with the message of dialect 5 */
export function nativeFailure({ name }: { readonly name: string }, message: string): ContractError {
  return new ContractError('eval', `native execution failure, ${name} failed with message: ${message}`);
}

/** @param signature such as `app:(x:<a> -> bool) list:[<a>] -> [<a>]` */
function parameterCount(signature: string): number {
  const outer = signature.replace(/\([^()]*\)/g, 'function');
  return outer
    .slice(0, outer.lastIndexOf(' -> '))
    .split(' ')
    .filter((part) => part.includes(':')).length;
}
