/** Looks up the names in code that runs, and decides what can be called. */

import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import { detailsOf, detailsOfNative } from '../modules/details.ts';
import { ModuleName } from '../names.ts';
import { BUILT_IN_SCHEMAS, CONSTANTS } from '../runtime/built-ins.ts';
import { requireModule, resolveModule } from '../runtime/lookup.ts';
import { type Callable, Member, type Names, referenceTo, tableOf, textOfName } from '../runtime/module.ts';
import { type Evaluator, fewestParameters, type Native, NativeFunction, PartialFunction } from '../runtime/native.ts';
import { Closure, type Scope } from '../runtime/scope.ts';
import { hidesValues } from '../runtime/shown.ts';
import type { Application, DynamicName, Expression, Name, Parameter } from '../syntax/tree.ts';
import { typeText } from '../values/printing.ts';
import { ModuleRef, type Value } from '../values/values.ts';

/** Number of nested scopes for which the look-up of a name counts one step. */
const SCOPES_PER_STEP = 16;

/**
 * Looks up names. The order of the search is: variables, built-in constants, natives, and the names of the module or
 * transaction. The search for a called name omits built-in constants, and ends with the functions of the interactive
 * interpreter. In dialect 5, these are also values.
 */
export class NameResolver {
  /** The functions of the interactive interpreter, by their names. Code may define other functions with these names. */
  testFunctions: ReadonlyMap<string, Native>;
  readonly #evaluator: Evaluator;
  readonly #natives: ReadonlyMap<string, Native>;
  readonly #allowsTestFunctions: (names?: Names) => boolean;

  /** @param allowsTestFunctions as `EvaluatorOptions.allowsTestFunctions` */
  constructor(
    evaluator: Evaluator,
    natives: ReadonlyMap<string, Native>,
    testFunctions: ReadonlyMap<string, Native>,
    allowsTestFunctions: (names?: Names) => boolean,
  ) {
    this.#evaluator = evaluator;
    this.#natives = natives;
    this.testFunctions = testFunctions;
    this.#allowsTestFunctions = allowsTestFunctions;
  }

  /**
   * @returns the callee of an application
   * @throws ContractError for an unknown name, and for a value that cannot be called
   */
  calleeOf({ callee }: Application, scope: Scope): Native | Closure | Member<Callable> {
    if (callee.kind === 'name') {
      const local = this.#found(callee.name, scope);
      if (local !== undefined) return callableOf(local, this.#evaluator);
      const native = this.findNative(callee.name);
      if (native) return native;
      const testFunction = this.testFunctions.get(callee.name);
      if (testFunction && !scope.names.find(callee.name)) {
        this.#requireAllowed(scope.names, callee.position);
        return testFunction;
      }
      return this.#calledBy(callee, scope);
    }
    if (callee.kind === 'dotted-name') return this.#calledBy(callee, scope);
    if (callee.kind === 'dynamic-name') return callableOf(this.#memberOf(callee, scope), this.#evaluator);
    if (this.#evaluator.dialect === 4) throw new ContractError('eval', 'Expected: name', callee.position);
    return callableOf(this.#evaluator.evaluate(callee, scope), this.#evaluator);
  }

  /**
   * @returns the value of a name
   * @throws ContractError for an unknown name. Dialect 4 also throws it for the name of a native and, unless the flag
   *   `DisablePact47` is set, for the name of a function, a capability or a defpact
   */
  valueOf(name: Name, scope: Scope): Value {
    if (name.kind === 'dynamic-name') return valueOfMember(this.#memberOf(name, scope));
    if (name.kind === 'name') {
      const value = this.#found(name.name, scope) ?? CONSTANTS.get(name.name);
      if (value !== undefined) return value;
      const native = this.findNative(name.name);
      // A native is a value only in dialect 5.
      if (native && this.#evaluator.dialect === 5) return new NativeFunction(native);
      if (native) throw new ContractError('eval', 'Invalid type in value location: defun', name.position);
      const testFunction = this.#evaluator.dialect === 5 ? this.testFunctions.get(name.name) : undefined;
      if (testFunction && !scope.names.find(name.name)) return new NativeFunction(testFunction);
    }
    const meant = this.#meant(name, scope);
    if (!(meant instanceof Member)) return meant;
    // A schema is not a value. If a schema and a module have the same name, the value is therefore the module.
    const module =
      meant.is('defschema') && name.kind === 'name' && resolveModule(this.#evaluator, new ModuleName(name.name));
    if (module) return referenceTo(module);
    if (this.#evaluator.dialect === 5 || !isCallable(meant)) return valueOfMember(meant);
    // Before version 4.7 of the language, the value of a function was a text that describes the function.
    if (this.#evaluator.environment.flags.has('DisablePact47')) return detailsOf(meant);
    throw hiddenDetails('function', name.position);
  }

  /**
   * @returns `details`
   * @throws ContractError on a node since version 4.7 of the language, where details of functions are not shown (see
   *   `hidesValues`)
   */
  #shown(details: string, what: string, position: Position): string {
    if (hidesValues(this.#evaluator.environment)) throw hiddenDetails(what, position);
    return details;
  }

  /** @returns the value of the innermost variable of this name; undefined if there is no such variable */
  #found(name: string, scope: Scope): Value | undefined {
    this.#evaluator.spend(Math.floor(scope.depth / SCOPES_PER_STEP));
    return scope.find(name);
  }

  /** @returns the value that the module or transaction has for this name @throws ContractError for an unknown name */
  #meant(name: Name, scope: Scope): Value {
    const text = textOfName(name);
    const meant = scope.names.find(text);
    if (meant) return meant;
    throw new ContractError('eval', unresolvedText(text, this.#evaluator.dialect), name.position);
  }

  /** @throws ContractError for an unknown name, and for a value that cannot be called */
  #calledBy(name: Name, scope: Scope): Native | Closure | Member<Callable> {
    const meant = this.#meant(name, scope);
    const { dialect, environment } = this.#evaluator;
    if (dialect === 5 || !(meant instanceof ModuleRef)) return callableOf(meant, this.#evaluator);
    // In dialect 4, the name of a module has other messages than a variable whose value is the module.
    const isHidden = environment.isOnChain && !environment.flags.has('DisablePact48');
    const what = isHidden ? `reduceApp: cannot apply non-function ${typeText(meant, dialect)}` : undefined;
    throw new ContractError('eval', what ?? `Expected def: ${meant.name.text}`);
  }

  /**
   * @returns the member that `reference::member` refers to
   * @throws ContractError if the reference is not a module reference, or if its module has no such member
   */
  #memberOf({ reference, member, position, code }: DynamicName, scope: Scope): Member {
    const name = { kind: 'name', name: reference, position, code } as const;
    const value = this.valueOf(name, scope);
    if (!(value instanceof ModuleRef)) {
      throw new ContractError(
        'eval',
        `reduceDynamic: expected module reference: ${this.#evaluator.print(value)}`,
        position,
      );
    }
    const found = requireModule(this.#evaluator, value.name).members.get(member);
    if (found) return found;
    // The constants of an interface are also constants of each module that implements the interface.
    for (const each of value.interfaces ?? []) {
      const constant = requireModule(this.#evaluator, each).members.get(member);
      if (constant?.is('defconst')) return constant;
    }
    throw new ContractError('eval', `resolveRef: dynamic ref not found: ${reference}::${member}`, position);
  }

  /** @returns the native of this name; undefined if the dialect has no such native */
  findNative(name: string): Native | undefined {
    const native = this.#natives.get(name);
    return (native?.dialect ?? this.#evaluator.dialect) === this.#evaluator.dialect ? native : undefined;
  }

  /**
   * @returns the text that the interpreter shows for the bare name of a function or a native; undefined for any other
   *   expression, and in dialect 5
   * @throws ContractError for a function or a native on a node since version 4.7 of the language (see `hidesValues`)
   */
  detailsOf(expression: Expression, scope: Scope): string | undefined {
    const isName = expression.kind === 'name' || expression.kind === 'dotted-name';
    if (this.#evaluator.dialect === 5 || !isName) return undefined;
    const name = textOfName(expression);
    const known = scope.find(name) ?? CONSTANTS.get(name) ?? scope.names.find(name);
    const native = known === undefined ? (this.findNative(name) ?? this.testFunctions.get(name)) : undefined;
    if (native) return this.#shown(detailsOfNative(native), 'native function', expression.position);
    if (!(known instanceof Member && isCallable(known))) return undefined;
    return this.#shown(detailsOf(known), 'function', expression.position);
  }

  /**
   * Whether the name is that of a native, a built-in constant, a function of the interactive interpreter or, in dialect
   * 4, a built-in schema.
   */
  isKnown(name: string): boolean {
    return (
      this.findNative(name) !== undefined ||
      CONSTANTS.has(name) ||
      this.testFunctions.has(name) ||
      (this.#evaluator.dialect === 4 && BUILT_IN_SCHEMAS.has(name))
    );
  }

  /** Whether the name is that of a function of the interactive interpreter, which new modules must not use. */
  isForTestsOnly(name: string): boolean {
    const isOfTests = this.testFunctions.has(name) && this.findNative(name) === undefined;
    return isOfTests && this.#evaluator.dialect === 5 && !this.#allowsTestFunctions();
  }

  /** @throws ContractError in dialect 4 if code with these names must not use functions of the interpreter */
  #requireAllowed(names: Names, position: Position): void {
    if (this.#evaluator.dialect === 5 || this.#allowsTestFunctions(names)) return;
    throw new ContractError('eval', 'module restore failed: Native lookup failed', position);
  }

  /** @throws ContractError for a name that code outside of modules cannot use */
  requireMeaning(name: string, position: Position | undefined): void {
    if (this.isKnown(name) || this.#evaluator.transactionNames.find(name)) return;
    throw new ContractError('eval', unresolvedText(name, this.#evaluator.dialect), position);
  }

  /**
   * Whether an expression is an application of a function to fewer arguments than it has parameters, or of a native to
   * fewer arguments than its shortest signature has. False for an application with a binding, unless a lambda is
   * applied.
   */
  isPartial(expression: Expression, scope: Scope): boolean {
    if (expression.kind !== 'application') return false;
    const { callee, arguments: args, binding } = expression;
    if (callee.kind === 'lambda') return callee.parameters.length > args.length;
    if ((callee.kind !== 'name' && callee.kind !== 'dotted-name') || binding) return false;
    const local = callee.kind === 'name' ? this.#found(callee.name, scope) : undefined;
    const native = local === undefined && callee.kind === 'name' ? this.findNative(callee.name) : undefined;
    if (native) return fewestParameters(native) > args.length;
    const known = local ?? scope.names.find(textOfName(callee));
    if (known instanceof Closure) return known.lambda.parameters.length > args.length;
    return known instanceof Member && isCallable(known) && known.definition.parameters.length > args.length;
  }
}

export function isNative(callee: Native | Closure | Member): callee is Native {
  return !(callee instanceof Closure) && !(callee instanceof Member);
}

function isCallable(member: Member): member is Member<Callable> {
  return member.is('defun') || member.is('defcap') || member.is('defpact');
}

function hiddenDetails(what: string, position: Position): ContractError {
  return new ContractError('eval', `Cannot display ${what} details in non-repl context`, position);
}

/**
 * @returns the value of a constant, the table that a `deftable` defines, or the member itself for all other definitions
 */
function valueOfMember(member: Member): Value {
  if (member.value !== undefined) return member.value;
  return member.is('deftable') ? tableOf(member) : member;
}

export function parametersOf(callable: Closure | Member<Callable>): readonly Parameter[] {
  return (callable instanceof Closure ? callable.lambda : callable.definition).parameters;
}

/** @returns the name of a member without its module; undefined for a closure */
export function nameOf(callable: Closure | Member): string | undefined {
  return callable instanceof Member ? callable.definition.name : undefined;
}

/** @returns the member, which is a function, a capability or a defpact @throws ContractError for any other member */
export function calledMember(member: Member, evaluator: Evaluator): Member<Callable> {
  if (isCallable(member)) return member;
  throw notCallable(valueOfMember(member), evaluator);
}

/** @throws ContractError for a value that cannot be called */
function callableOf(value: Value, evaluator: Evaluator): Native | Closure | Member<Callable> {
  if (value instanceof Member) return calledMember(value, evaluator);
  if (value instanceof NativeFunction) return value.native;
  if (value instanceof Closure) return value;
  if (value instanceof PartialFunction) {
    throw new ContractError('eval', 'Attempted to apply a closure outside of native callsite');
  }
  throw notCallable(value, evaluator);
}

function notCallable(value: Value, evaluator: Evaluator): ContractError {
  return new ContractError('eval', notCallableText(value, evaluator));
}

function notCallableText(value: Value, evaluator: Evaluator): string {
  const { dialect, environment } = evaluator;
  if (dialect === 5) return 'Cannot apply value to non-closure';
  // Before version 4.8 of the language, if code called a text like a function, this text was the message.
  if (!environment.flags.has('DisablePact48')) {
    return `Tried to call a value which is not a function, but a(n) ${typeText(value, dialect)}`;
  }
  return typeof value === 'string' ? value : `Unexpected non-native direct ref: ${evaluator.print(value)}`;
}

function unresolvedText(name: string, dialect: Dialect): string {
  return dialect === 4 ? `Cannot resolve ${name}` : `Unbound variable ${name}`;
}
