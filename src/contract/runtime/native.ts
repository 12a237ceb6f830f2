/** What a native function is, what it gets, and what it says of wrong arguments. */

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

/** A function that has all its arguments but the last ones. */
export type Remaining = (...last: readonly Value[]) => Value;

/** An application of something that a module defines, with the values of its arguments, that was not called yet. */
export interface MemberCall {
  readonly member: Member<Callable>;
  readonly args: readonly Value[];
}

/** An argument of a native, which is evaluated when its value is first asked for. */
export interface Argument {
  readonly value: Value;
  /** As `value`, but the name of a function of dialect 4 stands for a text that describes the function. */
  readonly shownValue: Value;
  /** The argument, as messages show it. */
  readonly text: string;
  /** Its type, as messages show that of an argument that was not evaluated: `app`, `integer`. */
  readonly writtenType: string;
  /** Its source, up to the next token; empty for one that is known already. */
  readonly code: string;
  /** Where it is written; undefined for one that is known already. */
  readonly position: Position | undefined;
  /** Whether it is a function, or an application that lacks arguments. */
  readonly isFunction: boolean;
  /** The items of a list that is written as such, each to be evaluated on its own; undefined for anything else. */
  readonly items: readonly Argument[] | undefined;
  /** The fields of an object that is written as such, as `items`. */
  readonly fields: ReadonlyMap<string, Argument> | undefined;
  /** @returns undefined if it can be no function */
  asFunction(): Remaining | undefined;
  /** @returns undefined unless it is written as an application of something that a module defines */
  asCall(): MemberCall | undefined;
  /** @returns as `asCall`; in dialect 5, undefined unless its value is an application of a capability */
  asCapability(): MemberCall | undefined;
}

/** What natives, capabilities, defpacts and modules need of the evaluator. */
export interface Evaluation {
  readonly dialect: Dialect;
  readonly environment: Environment;
  readonly database: Database;
  /** What natives charge for beyond their calls, which the evaluator charges for. */
  readonly gas: GasMeter;
  /** Counts what stays behind when code has ended; undefined where gas bounds that, as on a node. */
  readonly kept: Kept | undefined;
  /** It is replaced as a whole, never changed. */
  state: State;
  readonly context: Context;
  /** What names mean to code outside of modules. */
  readonly transactionNames: Names;
  /** Whether a native has this name. */
  readonly isNative: (name: string) => boolean;
  findNative(name: string): Native | undefined;
  /** Whether a native, a constant or schema of the language or a function of the interpreter has this name. */
  readonly isKnown: (name: string) => boolean;
  evaluate(expression: Expression, scope: Scope): Value;
  /** As `evaluate`, but the name of a function of dialect 4 stands for a text that describes the function. */
  evaluateShown(expression: Expression, scope: Scope): Value;
  /** @returns the value of the last of the expressions */
  evaluateBody(body: readonly Expression[], scope: Scope): Value;
  /** Evaluates the body of a binding with its variables. @throws ContractError for an object without one of the keys */
  evaluateBinding(binding: Binding, object: Value, scope: Scope): Value;
  /** @param last arguments behind those that are written */
  apply(application: Application, scope: Scope, last?: readonly Value[]): Value;
  /** Calls a function that is a value. */
  applyValue(callable: Closure | NativeFunction | PartialFunction | Member, args: readonly Value[]): Value;
  /** Calls what a module defines. @throws ContractError for a capability: it can only be acquired */
  applyMember(call: MemberCall, position?: Position): Value;
  /**
   * Checks the arguments of a call, and runs the body of the definition in a new frame.
   * @param run gets the variables of the body
   */
  inFrame<T>(call: MemberCall, position: Position | undefined, run: (scope: Scope) => T): T;
  /** @throws ContractError unless the definition takes these arguments, by their number and types */
  checkArguments(call: MemberCall, position: Position | undefined): void;
  /** @returns undefined unless the expression is an application of something that a module defines */
  callOf(expression: Expression, scope: Scope): MemberCall | undefined;
  /** @returns as `callOf`; in dialect 5, undefined unless the value is an application of a capability */
  capabilityOf(expression: Expression, scope: Scope): MemberCall | undefined;
  /** Whether the expression is an application that lacks arguments, or names a function. */
  isPartial(expression: Expression, scope: Scope): boolean;
  /** Runs the action with another context. */
  within<T>(change: Partial<Context>, action: () => T): T;
  /**
   * @returns undefined if a transaction's failure (`enforce`) comes out of it; everything else that fails goes on,
   *   unless the flag `DisablePact44` is set. After a failure the state is as it was before
   */
  attempt(action: () => Value): Value | undefined;
  /** Counts steps of what takes long by itself, such as a native that makes a list. */
  spend(steps: number): void;
  print(value: Value): string;
}

/** An application of a native, apart from its arguments. */
export interface Call {
  readonly evaluation: Evaluation;
  /** The variables that the arguments see. */
  readonly scope: Scope;
  /** What follows the arguments, if it is a binding with a body. */
  readonly binding: Binding | undefined;
  readonly position: Position | undefined;
}

export interface Native {
  readonly name: string;
  /** The only dialect that has it; undefined for both. */
  readonly dialect?: Dialect;
  /** Whether code of modules cannot call it. */
  readonly isTopLevel?: boolean;
  /** The types of arguments and result, as messages show them: `x:integer y:integer -> integer`. */
  readonly signatures: readonly string[];
  /** Whether messages of dialect 4 show the arguments as they are written, since it evaluates them itself. */
  readonly isLazy?: boolean;
  /** @returns undefined for arguments that none of the signatures has */
  readonly apply: (args: readonly Argument[], call: Call) => Value | undefined;
}

/** A native as a value, which only dialect 5 has. */
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

/** A function with the first of its arguments, which dialect 5 can keep in a variable. Only natives can call it. */
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

/** An application of a capability as a value, which only dialect 5 has. */
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

/** @param apply evaluates those of the arguments that it needs */
export function lazy(name: string, signatures: string | readonly string[], apply: Native['apply']): Native {
  return { name, signatures: typeof signatures === 'string' ? [signatures] : signatures, isLazy: true, apply };
}

/** @param run gets the values of all arguments, which are evaluated from the first to the last */
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

export function wrongArguments(native: Native, args: readonly Argument[], evaluation: Evaluation): ContractError {
  const { name, signatures } = native;
  const { dialect } = evaluation;
  if (dialect === 4) return new ContractError('args', wrongArgumentsText(native, args, evaluation));
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

function wrongArgumentsText(native: Native, args: readonly Argument[], { environment }: Evaluation): string {
  const { name, signatures, isLazy } = native;
  // The parentheses around types of functions are not shown.
  const shown = signatures.map((signature) => signature.replace(/[()]/g, ''));
  const expected = shown.length === 1 ? shown[0] : `[${shown.join(', ')}]`;
  if (hidesValues(environment)) {
    const types = args.map((arg) => (isLazy ? arg.writtenType : typeText(arg.value)));
    return `Invalid arguments in call to ${name}, received arguments of type [${types.join(' ')}], expected ${expected}`;
  }
  const received = args.map((arg) => (isLazy ? `"${abbreviated(arg.code.trim() || arg.text)}"` : arg.text));
  return `Invalid arguments, received [${received.join(' ')}] for ${expected}`;
}

/** @returns how many arguments the shortest of the signatures has */
export function fewestParameters({ signatures }: Native): number {
  return Math.min(...signatures.map(parameterCount));
}

/** @returns what dialect 5 says of a failure of a native */
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
