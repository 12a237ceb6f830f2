/** Native functions, their arguments, and the messages for wrong arguments. */

import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import type { GasMeter } from '../gas/meter.ts';
import { costOfArguments5 } from '../gas/natives5.ts';
import type { Application, Binding, Defcap, Expression } from '../syntax/tree.ts';
import { printedCapability, typeText } from '../values/printing.ts';
import { areEqual, Unstorable, type Value } from '../values/values.ts';
import type { Database } from './database.ts';
import type { Environment } from './environment.ts';
import type { Kept } from './kept.ts';
import type { Callable, LoadedModule, Member, Names } from './module.ts';
import type { Closure, Scope } from './scope.ts';
import { abbreviated, hidesValues } from './shown.ts';
import type { Context, State } from './state.ts';
import { SteppedWalk } from './steps.ts';

/** Calls a function whose first arguments are given already. @param last the remaining arguments */
export type Remaining = (...last: readonly Value[]) => Value;

/** A call that has not begun yet. It calls a member of a module. */
export interface MemberCall {
  readonly member: Member<Callable>;
  readonly args: readonly Value[];
}

/**
 * An argument of a native. It is evaluated when `value`, `shownValue` or `text` first needs its value. These three do
 * not evaluate it again.
 */
export interface Argument {
  readonly value: Value;
  /** As `value`. But in dialect 4, if the argument is only a function's name, a text that describes the function. */
  readonly shownValue: Value;
  /** The text for messages: the source of a function, or the printed value of any other argument. */
  readonly text: string;
  /** The type of the argument without evaluating it, for messages: `integer` for a literal, `app` for a call. */
  readonly writtenType: string;
  /** The argument's source, up to the next token; empty for an argument that was given as a value. */
  readonly code: string;
  /** Undefined for an argument that was given as a value. */
  readonly position: Position | undefined;
  /** Whether the argument is a lambda, an application that lacks arguments, or a function that was given as a value. */
  readonly isFunction: boolean;
  /** Whether the argument is written as an application. */
  readonly isApplication: boolean;
  /**
   * The items of a list literal, each of which is evaluated on its own, or of a list that was given as a value.
   * Undefined for any other argument.
   */
  readonly items: readonly Argument[] | undefined;
  /** The fields of an object literal, or of an object that was given as a value, by their keys; otherwise undefined. */
  readonly fields: ReadonlyMap<string, Argument> | undefined;
  /** @returns a function that calls the argument with further arguments; undefined if the argument cannot be called */
  asFunction(): Remaining | undefined;
  /** As `asFunction`. But in dialect 5, each call evaluates the written arguments again, as `map` does. */
  asRepeated(): Remaining | undefined;
  /** @returns the call without executing it; undefined unless the argument is an application of a module's member */
  asCall(): MemberCall | undefined;
  /** @returns in dialect 4, as `asCall`; in dialect 5, the argument's value if this is a `CapabilityToken` */
  asCapability(): MemberCall | undefined;
}

/**
 * The evaluator, as natives, capabilities, defpacts, modules and tables use it. Their files cannot import the class
 * `TreeEvaluator`, because its file imports their files. The code of a transaction has an `Environment` from outside,
 * and changes a `State` and a `Database`. Each expression is evaluated with the variables of a `Scope`, and with the
 * calls of a `Context`.
 */
export interface Evaluator {
  readonly dialect: Dialect;
  readonly environment: Environment;
  readonly database: Database;
  /** Natives charge for their work here. The evaluator has charged for the call of a native before the native runs. */
  readonly gas: GasMeter;
  /** Counts the memory that stays in use after the code has run; undefined on nodes, where gas limits this memory. */
  readonly kept: Kept | undefined;
  /** The state of the transaction. To change it, a new object is assigned; a state object itself never changes. */
  state: State;
  readonly context: Context;
  /** The names that code outside of modules can use. */
  readonly transactionNames: Names;
  /** Whether the dialect has a native of this name. */
  readonly isNative: (name: string) => boolean;
  /** @returns undefined if the dialect has no native of this name */
  findNative(name: string): Native | undefined;
  /**
   * Whether a native, a built-in constant, a function of the interpreter or, in dialect 4, a built-in schema has this
   * name.
   */
  readonly isKnown: (name: string) => boolean;
  /** Whether a new module must not use the name, because it is that of a function of the interactive interpreter. */
  readonly isForTestsOnly: (name: string) => boolean;
  evaluate(expression: Expression, scope: Scope): Value;
  /** As `evaluate`. But in dialect 5, an application that lacks arguments gives a partial function. */
  functionOrValue(expression: Expression, scope: Scope): Value;
  /** As `evaluate`. But in dialect 4, the value of a mere function name is a text that describes the function. */
  evaluateShown(expression: Expression, scope: Scope): Value;
  /** Evaluates all expressions in order. @returns the value of the last one */
  evaluateBody(body: readonly Expression[], scope: Scope): Value;
  /**
   * Evaluates the body of a binding. The binding's variables have the values that the object has under their keys.
   * @throws ContractError if `object` is not an object, if a key is missing, or if a value has a wrong type
   */
  evaluateBinding(binding: Binding, object: Value, scope: Scope): Value;
  /** Evaluates an application. @param last further arguments, after those that the application has */
  apply(application: Application, scope: Scope, last?: readonly Value[]): Value;
  /** Calls a function that is a value. */
  applyValue(callable: Closure | NativeFunction | PartialFunction | Member, args: readonly Value[]): Value;
  /**
   * Calls a member of a module. A call of a defpact begins the defpact. In dialect 5, the value of a capability is a
   * `CapabilityToken`.
   * @throws ContractError in dialect 4 for a capability, which can only be acquired
   */
  applyMember(call: MemberCall, position?: Position): Value;
  /**
   * Checks the arguments of a call, and calls `run` in a new frame.
   * @param run evaluates the body of the member. Its scope has the arguments as variables
   * @throws ContractError for arguments of a wrong number or type, or if an outer frame runs the same member
   */
  inFrame<T>(call: MemberCall, position: Position | undefined, run: (scope: Scope) => T): T;
  /** @throws ContractError for arguments of a wrong number or type */
  checkArguments(call: MemberCall, position: Position | undefined): void;
  /** @returns the call, with evaluated arguments; undefined unless the expression applies a member of a module */
  callOf(expression: Expression, scope: Scope): MemberCall | undefined;
  /** @returns in dialect 4, as `callOf`; in dialect 5, the expression's value if this is a `CapabilityToken` */
  capabilityOf(expression: Expression, scope: Scope): MemberCall | undefined;
  /**
   * Whether the expression is an application of a function to fewer arguments than it has parameters, or of a native to
   * fewer arguments than its shortest signature has. False for an application with a binding, unless a lambda is
   * applied.
   */
  isPartial(expression: Expression, scope: Scope): boolean;
  /** Runs the action in the present context, in which the given fields are changed. */
  within<T>(change: Partial<Context>, action: () => T): T;
  /**
   * Runs the action. Code can catch a failure of the kind `tx-failure`, such as that of `enforce`. With the flag
   * `DisablePact44`, it can catch failures of all kinds except `gas`.
   * @returns the action's value; undefined after a failure that code can catch. The state is then as before the action
   * @throws all other failures
   */
  attempt(action: () => Value): Value | undefined;
  /** Charges with the table model of dialect 5 for a module that is read from the database. */
  chargeForReading(module: LoadedModule): void;
  /** Counts steps for work that a native does, such as making a list. @throws ContractError for too many steps */
  spend(steps: number): void;
  print(value: Value): string;
  /** Tells the user what real nodes may do otherwise; undefined on nodes, which tell nothing. */
  readonly note: ((text: string) => void) | undefined;
}

/** An application of a native, apart from the arguments. */
export interface Call {
  readonly evaluator: Evaluator;
  /** The scope in which the arguments are evaluated. */
  readonly scope: Scope;
  /** The binding that follows the arguments, with its body; undefined if there is none. */
  readonly binding: Binding | undefined;
  readonly position: Position | undefined;
}

export interface Native {
  readonly name: string;
  /** The only dialect that has the native; undefined if both dialects have it. */
  readonly dialect?: Dialect;
  /** Whether only code outside of modules can call the native. */
  readonly isTopLevel?: boolean;
  /** Whether dialect 5 passes all arguments on as one list, which then has the wrong type if their number is wrong. */
  readonly takesList5?: boolean;
  /** The forms in which the native can be called, for messages: `x:integer y:integer -> integer`. */
  readonly signatures: readonly string[];
  /**
   * Whether messages of dialect 4 show the source of the arguments instead of their values, and `writtenType` instead
   * of their types, because some arguments may not be evaluated.
   */
  readonly isLazy?: boolean;
  /** @returns undefined for arguments that match none of the signatures */
  readonly apply: (args: readonly Argument[], call: Call) => Value | undefined;
}

/** A native as a value. Code can have such values only in dialect 5. */
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
 * A function with its first arguments. In dialect 5, a variable of `let` can have such a value. Only natives can call
 * it.
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

/**
 * @param apply evaluates an argument by reading its value
 * @returns a native that need not evaluate all its arguments. Unless a signature has a binding, the native refuses
 *   applications with a binding
 */
export function lazy(name: string, signatures: string | readonly string[], apply: Native['apply']): Native {
  const all = typeof signatures === 'string' ? [signatures] : signatures;
  const takesBinding = all.some((signature) => signature.includes(':binding:'));
  const applied: Native['apply'] = (args, call) => (call.binding ? undefined : apply(args, call));
  return { name, signatures: all, isLazy: true, apply: takesBinding ? apply : applied };
}

/**
 * @param run gets the values of all arguments, which are evaluated from the first to the last
 * @returns a native that refuses applications with a binding
 */
export function strict(
  name: string,
  signatures: string | readonly string[],
  run: (values: readonly Value[], call: Call) => Value | undefined,
): Native {
  const apply: Native['apply'] = (args, call) => {
    const values = args.map((arg) => arg.value);
    chargeForArguments5(call.evaluator, name, values);
    return call.binding ? undefined : run(values, call);
  };
  return { ...lazy(name, signatures, apply), isLazy: false };
}

function chargeForArguments5(evaluator: Evaluator, name: string, values: readonly Value[]): void {
  if (!evaluator.gas.isTable5) return;
  const cost = costOfArguments5(name, values, new SteppedWalk(evaluator, { isBounded: false }));
  if (cost > 0) evaluator.gas.charge5(name, () => cost);
}

/** @returns the error for arguments that match none of the native's signatures */
export function wrongArguments(native: Native, args: readonly Argument[], evaluator: Evaluator): ContractError {
  const { name, signatures, takesList5 = false } = native;
  const { dialect } = evaluator;
  if (dialect === 4) return new ContractError('args', wrongArgumentsText(native, args, evaluator));
  const counts = new Set(signatures.map(parameterCount));
  const [count] = counts;
  if (counts.size === 1 && count !== args.length && !takesList5) {
    const supplied = `Incorrect number of arguments (${args.length}) for native function ${name} supplied`;
    return new ContractError('args', `${supplied}; expected (${count})`);
  }
  const typeOf = (arg: Argument) => (arg.isFunction ? 'closure' : typeText(arg.value, dialect));
  const types = takesList5 ? 'list' : args.map(typeOf).join(', ');
  const message = `Type error: failed to call native function ${name} with argument(s) of type(s): ${types}`;
  return new ContractError('args', message);
}

function wrongArgumentsText(native: Native, args: readonly Argument[], { environment, dialect }: Evaluator): string {
  const { name, signatures, isLazy } = native;
  // In these messages, the types of functions are not in parentheses.
  const shown = signatures.map((signature) => signature.replace(/[()]/g, ''));
  const expected = shown.length === 1 ? shown[0] : `[${shown.join(', ')}]`;
  if (hidesValues(environment)) {
    const types = args.map((arg) => (isLazy ? arg.writtenType : typeText(arg.value, dialect)));
    return `Invalid arguments in call to ${name}, received arguments of type [${types.join(' ')}], expected ${expected}`;
  }
  const received = args.map((arg) => (isLazy ? `"${abbreviated(arg.code.trim() || arg.text)}"` : arg.text));
  return `Invalid arguments, received [${received.join(' ')}] for ${expected}`;
}

/** @returns the number of parameters of the shortest signature; 0 if dialect 5 makes a list of any number */
export function fewestParameters({ signatures, takesList5 }: Native): number {
  return takesList5 ? 0 : Math.min(...signatures.map(parameterCount));
}

/** @returns the error with dialect 5's message for a native that has failed */
export function nativeFailure({ name }: { readonly name: string }, message: string): ContractError {
  return new ContractError('eval', `native execution failure, ${name} failed with message: ${message}`);
}

/** @param signature such as `app:(x:<a> -> bool) list:[<a>] -> [<a>]`, which has two parameters */
function parameterCount(signature: string): number {
  const outer = signature.replace(/\([^()]*\)/g, 'function');
  return outer
    .slice(0, outer.lastIndexOf(' -> '))
    .split(' ')
    .filter((part) => part.includes(':')).length;
}
