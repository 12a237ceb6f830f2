/** Calls natives, closures, and members of modules. */

import { beginDefpact } from '../defpacts/defpacts.ts';
import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import { limited } from '../runtime/access.ts';
import type { Member, Names } from '../runtime/module.ts';
import {
  type Argument,
  CapabilityToken,
  type Evaluator,
  type MemberCall,
  type Native,
  wrongArguments,
} from '../runtime/native.ts';
import { type Closure, Scope } from '../runtime/scope.ts';
import { hidesValues } from '../runtime/shown.ts';
import { findFrame } from '../runtime/state.ts';
import { checked } from '../runtime/type-faults.ts';
import type { Application, Defcap, Defun, Parameter } from '../syntax/tree.ts';
import { Decimal } from '../values/decimal.ts';
import { printed, typeText } from '../values/printing.ts';
import type { Value } from '../values/values.ts';

/**
 * Number of steps counted when code catches a failure, and when a call is added to `ContractError.calls`. For the call,
 * each character of its text also counts as a step.
 */
export const FAILURE_STEPS = 64;

/**
 * @param application the application of the native; undefined if the native is called as a value
 * @throws ContractError if the native fails, does not accept the arguments, or must not be called by code of a module
 */
export function callNative(
  evaluator: Evaluator,
  native: Native,
  args: readonly Argument[],
  application: Application | undefined,
  scope: Scope,
): Value {
  const { binding, position } = application ?? {};
  if (native.isTopLevel) requireTopLevel(evaluator, native.name);
  // The functions of the interactive interpreter, which `findNative` does not find, are free of charge.
  if (evaluator.findNative(native.name) === native) evaluator.gas.native(native.name);
  const value = native.apply(args, { evaluator, scope, binding, position });
  if (value === undefined) throw wrongArguments(native, args, evaluator);
  return value;
}

function requireTopLevel({ context, dialect }: Evaluator, name: string): void {
  const { frame } = context;
  if (!frame) return;
  const where = dialect === 4 ? `${frame.member.module.name.text}: ${name}` : name;
  throw new ContractError('eval', `Top-level call used in module ${where}`);
}

/** How a closure is called. */
interface ClosureCall {
  readonly position: Position | undefined;
  /** Whether the closure got its first arguments before. */
  readonly isPartial: boolean;
}

/**
 * Calls a closure. In dialect 5, the types of a lambda's arguments are not checked if it gets all of them at once.
 * @throws ContractError for arguments of a wrong number or type, and for a result of a wrong type
 */
export function callClosure(
  evaluator: Evaluator,
  { lambda, scope, defun }: Closure,
  args: readonly Value[],
  { position, isPartial }: ClosureCall,
): Value {
  const { parameters, body } = lambda;
  requireCount(evaluator, () => 'lambda', args, parameters, position);
  const callee = defun ? defun.name : 'the lambda';
  const isChecked = evaluator.dialect === 4 || isPartial || defun !== undefined;
  const variables = isChecked
    ? bound(evaluator, parameters, args, scope, position, callee)
    : new Map(parameters.map(({ name }, at) => [name, args[at]]));
  const value = evaluator.evaluateBody(body, scope.with(variables));
  return defun ? checkedResult(evaluator, defun, value, { names: scope.names, name: callee, position }) : value;
}

/**
 * Calls a function, or begins a defpact. In dialect 5, a call of a capability gives a value, and does not acquire the
 * capability.
 * @throws ContractError for a capability in dialect 4, and if the call fails
 */
export function callMember(evaluator: Evaluator, call: MemberCall, position: Position | undefined): Value {
  const { definition } = call.member;
  switch (definition.kind) {
    case 'defcap':
      return tokenOf(evaluator, definition, call, position);
    case 'defpact':
      return beginDefpact(evaluator, call, position);
    case 'defun':
      return callFunction(evaluator, definition, call, position);
  }
}

function callFunction(evaluator: Evaluator, definition: Defun, call: MemberCall, position?: Position): Value {
  const value = inFrame(evaluator, call, position, (scope) => evaluator.evaluateBody(definition.body, scope));
  const { name, module } = call.member;
  return checkedResult(evaluator, definition, value, { names: module.names, name: name.text, position });
}

interface Called {
  /** What the names in the type of the result mean. */
  readonly names: Names;
  /** The name of the function, for `ContractError.subject`. */
  readonly name: string;
  readonly position: Position | undefined;
}

/** @returns the result of a function @throws ContractError if it has a wrong type */
function checkedResult(
  evaluator: Evaluator,
  { returnType: type, position: own }: Defun,
  value: Value,
  { names, name, position }: Called,
): Value {
  const flag = evaluator.dialect === 4 ? 'DisableRuntimeReturnTypeChecking' : 'DisableRuntimeRTC';
  if (evaluator.environment.flags.has(flag)) return value;
  try {
    return checked({ type, position: position ?? own }, value, names, evaluator);
  } catch (fault) {
    throw aboutSubject(fault, `the result of ${name}`);
  }
}

/** @returns the fault; if it is one of contract code, a copy that says what it is about */
function aboutSubject(fault: unknown, subject: string): unknown {
  return fault instanceof ContractError ? fault.about(subject) : fault;
}

/**
 * In dialect 5, the application of a capability is a value, and does not acquire the capability.
 * @throws ContractError in dialect 4, and for arguments of a wrong number or type
 */
function tokenOf(
  evaluator: Evaluator,
  { parameters }: Defcap,
  { member, args }: MemberCall,
  position: Position | undefined,
): CapabilityToken {
  if (evaluator.dialect === 4 || !member.is('defcap')) {
    throw new ContractError('eval', 'Cannot directly evaluate defcap', position);
  }
  if (args.length !== parameters.length) {
    throw new ContractError('eval', 'Attempted to apply a closure to too many arguments', position);
  }
  bound(evaluator, parameters, args, new Scope(member.module.names), position, member.name.text);
  return new CapabilityToken(member, args);
}

/* Frames. */

/**
 * Checks the arguments of a call, and runs an action in a new frame.
 * @param run gets a scope with the parameters as variables
 * @throws ContractError for arguments of a wrong number or type, and if an outer frame runs the same definition,
 *   because recursion is not allowed
 */
export function inFrame<T>(
  evaluator: Evaluator,
  call: MemberCall,
  position: Position | undefined,
  run: (scope: Scope) => T,
): T {
  const { member, args } = call;
  const { frame: outer, referring } = evaluator.context;
  const { module } = member;
  const name = member.name.text;
  if (findFrame(outer, (frame) => frame.member.name.text === name)) {
    throw new ContractError('eval', recursionText(name, evaluator.dialect), position);
  }
  const variables = variablesOf(evaluator, call, position);
  const enter = () => evaluator.within({ frame: { member, outer } }, () => run(new Scope(module.names, variables)));
  try {
    return referring.has(module.name.text) ? limited(evaluator, 'read', enter) : enter();
  } catch (fault) {
    if (!(fault instanceof ContractError) || hidesValues(evaluator.environment)) throw fault;
    const text = callText(name, args, evaluator.dialect);
    evaluator.spend(FAILURE_STEPS + text.length);
    throw fault.through({ position, text });
  }
}

/**
 * Runs a call through a module reference. In dialect 5, code of the calling module can only read tables until the call
 * returns, so that the called module cannot make changes by calling back.
 */
export function throughReference<T>(evaluator: Evaluator, run: () => T): T {
  const { frame, referring } = evaluator.context;
  if (evaluator.dialect === 4 || !frame) return run();
  return evaluator.within({ referring: new Set(referring).add(frame.member.module.name.text) }, run);
}

/* Arguments. */

/**
 * @returns the variables of the body: the values of the parameters
 * @throws ContractError for arguments of a wrong number or type
 */
export function variablesOf(
  evaluator: Evaluator,
  { member, args }: MemberCall,
  position: Position | undefined,
): ReadonlyMap<string, Value> {
  const { module } = member;
  const { parameters } = member.definition;
  requireCount(evaluator, () => shownName(member, evaluator.dialect), args, parameters, position);
  return bound(evaluator, parameters, args, new Scope(module.names), position, member.name.text);
}

function shownName({ definition, module, name }: Member, dialect: Dialect): string {
  return dialect === 4 ? definition.name : `function ${name.text}.{${module.hash}}`;
}

/** @param who gives the name of the callee for the message @throws ContractError for a wrong number of arguments */
function requireCount(
  { dialect }: Evaluator,
  who: () => string,
  { length: supplied }: readonly Value[],
  { length: expected }: readonly Parameter[],
  position: Position | undefined,
): void {
  if (supplied === expected) return;
  const message =
    dialect === 4
      ? `${who()}: Incorrect number of arguments (${supplied}) supplied; expected ${expected}`
      : `Incorrect number of arguments (${supplied}) for ${who()} supplied; expected (${expected})`;
  throw new ContractError('eval', message, position);
}

/**
 * @param callee its name, for `ContractError.subject`
 * @returns the values of the parameters by their names
 * @throws ContractError for an argument of a wrong type
 */
function bound(
  evaluator: Evaluator,
  parameters: readonly Parameter[],
  args: readonly Value[],
  { names }: Scope,
  position: Position | undefined,
  callee: string,
): ReadonlyMap<string, Value> {
  const variables = new Map<string, Value>();
  let current = '';
  try {
    for (const [at, { name, type, position: own }] of parameters.entries()) {
      current = name;
      variables.set(name, checked({ type, position: position ?? own }, args[at], names, evaluator));
    }
  } catch (fault) {
    throw aboutSubject(fault, `the argument ${current} of ${callee}`);
  }
  return variables;
}

/* Calls in messages. */

/** Number of UTF-16 code units after which a text argument is cut in `ContractError.calls`. */
const SHOWN_TEXT_LENGTH = 50;

/**
 * @returns a call for `ContractError.calls`. Long texts are cut. Arguments that are neither texts, numbers nor bools
 *   are shown by their types
 */
function callText(name: string, args: readonly Value[], dialect: Dialect): string {
  const shown = args.map((arg) => {
    if (typeof arg === 'string' && arg.length > SHOWN_TEXT_LENGTH) return `"${arg.slice(0, SHOWN_TEXT_LENGTH)}..."`;
    return typeof arg === 'object' && !(arg instanceof Decimal)
      ? `<${typeText(arg, dialect)}>`
      : printed(arg, { dialect });
  });
  return `(${[name, ...shown].join(' ')})`;
}

function recursionText(name: string, dialect: Dialect): string {
  return dialect === 4
    ? `Detected recursive call: ${name}`
    : `Recursion detected by the runtime. Recursing in function: ${name}`;
}
