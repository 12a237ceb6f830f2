/** Evaluates expressions of contract code, by walking over their syntax trees. */

import { withCapability } from '../capabilities/capabilities.ts';
import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import { chargeForReading } from '../gas/loading5.ts';
import { GasMeter } from '../gas/meter.ts';
import { costOfLookUp, WRITTEN_ITEM } from '../gas/natives5.ts';
import { Database } from '../runtime/database.ts';
import { type Environment, INITIAL_ENVIRONMENT } from '../runtime/environment.ts';
import type { Kept } from '../runtime/kept.ts';
import { TransactionNames } from '../runtime/lookup.ts';
import { type LoadedModule, Member, type Names } from '../runtime/module.ts';
import {
  CapabilityToken,
  type Evaluator,
  type MemberCall,
  type Native,
  NativeFunction,
  PartialFunction,
} from '../runtime/native.ts';
import { Closure, Scope } from '../runtime/scope.ts';
import { shownValue, undecided } from '../runtime/shown.ts';
import { type Context, INITIAL_STATE, OUTERMOST, type State } from '../runtime/state.ts';
import { checked } from '../runtime/type-faults.ts';
import type { Application, Binding, Cond, Expression, Let } from '../syntax/tree.ts';
import { Decimal } from '../values/decimal.ts';
import { printed, typeText } from '../values/printing.ts';
import { isObject, UNIT, type Value } from '../values/values.ts';
import { GivenArgument, WrittenArgument } from './arguments.ts';
import { callClosure, callMember, callNative, FAILURE_STEPS, inFrame, throughReference, variablesOf } from './calls.ts';
import { calledMember, isNative, NameResolver, nameOf, parametersOf } from './resolver.ts';

/**
 * Maximum depth of nested evaluations. Each evaluation takes up to two kilobytes of the stack, which has about one
 * megabyte in Node.js. Public contracts stay below a depth of 100.
 */
export const MAX_NESTING = 300;
/**
 * Default maximum number of steps between two calls of `resetSteps`; in the interpreter, of each top-level form. 20
 * million steps take ten to twenty seconds. Nodes have the lower limit `MAX_NODE_STEPS`.
 */
export const MAX_STEPS = 20_000_000;
/** Least number of steps between two calls of `look`. These steps take some milliseconds. */
const LOOK_STEPS = 2 ** 14;

/** The natives that are lambdas in dialect 5 if they are applied to part of their arguments. */
const LAMBDAS: ReadonlySet<string> = new Set(['and', 'or', 'enforce', 'constantly']);

interface EvaluatorOptions {
  readonly dialect: Dialect;
  /** The natives by their names. */
  readonly natives: ReadonlyMap<string, Native>;
  /** The functions of the interactive interpreter, by their names. Code may define other functions with these names. */
  readonly testFunctions?: ReadonlyMap<string, Native>;
  /**
   * Whether code with these names may use them. Asked in dialect 4 when the code runs, and in dialect 5, without names,
   * when a module is loaded. By default, all code may.
   */
  readonly allowsTestFunctions?: (names?: Names) => boolean;
  /** Maximum number of steps between two calls of `resetSteps`; `MAX_STEPS` by default. */
  readonly maxSteps?: number;
  /** A clause for the message of the error for too many steps: how the user can allow more. */
  readonly stepsAdvice?: string | undefined;
  readonly environment?: Environment;
  readonly database?: Database;
  /** By default, a meter with the environment's gas model and limit. */
  readonly gas?: GasMeter;
  /** As `Evaluator.kept`. */
  readonly kept?: Kept | undefined;
  /** As `Evaluator.note`. */
  readonly note?: Evaluator['note'];
  /** Called about every `LOOK_STEPS` steps. @throws RunEnded if the program must stop now */
  readonly look?: (() => void) | undefined;
}

/**
 * The only implementation of `Evaluator`. The code that runs transactions replaces `state` and `environment` between
 * two transactions.
 */
export class TreeEvaluator implements Evaluator {
  readonly dialect: Dialect;
  database: Database;
  readonly gas: GasMeter;
  readonly kept: Kept | undefined;
  readonly note: Evaluator['note'];
  state: State = INITIAL_STATE;
  readonly transactionNames = new TransactionNames(this);
  /** The scope of code outside of modules. It has no variables. */
  readonly outermostScope = new Scope(this.transactionNames);
  readonly #resolver: NameResolver;
  readonly #maxSteps: number;
  readonly #stepsAdvice: string | undefined;
  readonly #look: (() => void) | undefined;
  #environment: Environment;
  #context: Context = OUTERMOST;
  #steps = 0;
  /** Once `#steps` exceeds this number, the program fails if `#maxSteps` is exceeded, too; if not, `look` is called. */
  #nextLook = 0;
  #nesting = 0;

  constructor({
    dialect,
    natives,
    testFunctions = new Map(),
    allowsTestFunctions = () => true,
    maxSteps = MAX_STEPS,
    stepsAdvice,
    environment = INITIAL_ENVIRONMENT,
    database = new Database(),
    gas = meterOf(environment, dialect),
    kept,
    note,
    look,
  }: EvaluatorOptions) {
    this.dialect = dialect;
    this.#environment = environment;
    this.database = database;
    this.gas = gas;
    this.#resolver = new NameResolver(this, natives, testFunctions, allowsTestFunctions);
    this.#maxSteps = maxSteps;
    this.#stepsAdvice = stepsAdvice;
    this.kept = kept;
    this.note = note;
    this.#look = look;
    this.resetSteps();
  }

  get environment(): Environment {
    return this.#environment;
  }

  /**
   * Sets the environment of the code that runs next. The gas meter gets its model, limit and flags from this
   * environment.
   */
  set environment(environment: Environment) {
    this.#environment = environment;
    this.gas.model = environment.gasModel;
    this.gas.limit = environment.gasLimit;
    this.gas.flags = environment.flags;
  }

  /** The functions of the interactive interpreter that code can use now, by their names. */
  get testFunctions(): ReadonlyMap<string, Native> {
    return this.#resolver.testFunctions;
  }

  set testFunctions(functions: ReadonlyMap<string, Native>) {
    this.#resolver.testFunctions = functions;
  }

  get context(): Context {
    return this.#context;
  }

  /**
   * @throws ContractError if the code fails. The failure has the position of the innermost application that failed,
   *   unless the failure already has a more exact position
   * @throws RunEnded if `look` does
   */
  evaluate(expression: Expression, scope = this.outermostScope): Value {
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

  evaluateShown(expression: Expression, scope = this.outermostScope): Value {
    return this.#resolver.detailsOf(expression, scope) ?? this.evaluate(expression, scope);
  }

  /** Sets the number of counted steps to 0. The code that runs next may again take `maxSteps` steps. */
  resetSteps(): void {
    this.#steps = 0;
    this.#planLook();
  }

  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps <= this.#nextLook) return;
    if (this.#steps > this.#maxSteps) {
      const advice = this.#stepsAdvice === undefined ? '' : `: ${this.#stepsAdvice}`;
      throw new ContractError('eval', `Code takes more than ${this.#maxSteps} steps${advice}`);
    }
    this.#look?.();
    this.#planLook();
  }

  #planLook(): void {
    this.#nextLook = this.#look ? Math.min(this.#maxSteps, this.#steps + LOOK_STEPS) : this.#maxSteps;
  }

  attempt(action: () => Value): Value | undefined {
    const { state } = this;
    const unspend = this.gas.mark();
    try {
      return action();
    } catch (fault) {
      if (!(fault instanceof ContractError)) throw fault;
      // Before version 4.4, code could catch every failure except an exceeded gas limit, and the gas of a failed
      // attempt was refunded.
      const isOlderRule = this.environment.flags.has('DisablePact44');
      if (isOlderRule ? fault.kind === 'gas' : fault.kind !== 'tx-failure') throw fault;
      if (isOlderRule) unspend();
      this.spend(FAILURE_STEPS);
      this.state = state;
      return undefined;
    }
  }

  within<T>(change: Partial<Context>, action: () => T): T {
    const before = this.#context;
    this.#context = { ...before, ...change };
    try {
      return action();
    } finally {
      this.#context = before;
    }
  }

  evaluateBody(body: readonly Expression[], scope: Scope): Value {
    const last = body.length - 1;
    for (let at = 0; at < last; at++) this.evaluate(body[at], scope);
    return this.evaluate(body[last], scope);
  }

  evaluateBinding({ pairs, body, position }: Binding, object: Value, scope: Scope): Value {
    if (!isObject(object)) throw new ContractError('eval', notBoundText(object, this), position);
    const variables = new Map<string, Value>();
    this.gas.call5('lambda', 1);
    for (const { key, variable } of pairs) {
      const name = this.evaluate(key, scope);
      if (typeof name === 'string') {
        this.gas.native5('at', () => costOfLookUp(name, object.size));
      }
      const value = typeof name === 'string' ? object.get(name) : undefined;
      if (value === undefined) {
        const shown = typeof name === 'string' ? name : this.print(name);
        throw new ContractError('eval', `Bad column in binding: ${shown}`, position);
      }
      variables.set(variable.name, checked(variable, value, scope.names, this));
    }
    return this.evaluateBody(body, scope.with(variables));
  }

  apply(application: Application, scope: Scope, last: readonly Value[] = []): Value {
    const { position, arguments: written } = application;
    try {
      const callee = this.#resolver.calleeOf(application, scope);
      if (isNative(callee)) {
        const args = written.map((arg) => new WrittenArgument(this, arg, scope));
        const all = [...args, ...last.map((value) => new GivenArgument(this, value))];
        if (callee.name === 'constantly') this.gas.call5(callee.name, all.length);
        return callNative(this, callee, all, application, scope);
      }
      // In dialect 5, applying a function with parameters to no arguments gives the function itself.
      if (this.dialect === 5 && written.length + last.length === 0 && parametersOf(callee).length > 0) return callee;
      // In dialect 5, an application of a capability only makes a value, so no call is charged for.
      const isCall = this.dialect === 4 || callee instanceof Closure || !callee.is('defcap');
      if (isCall) this.gas.call(nameOf(callee));
      const args = [...written.map((arg) => this.evaluate(arg, scope)), ...last];
      this.#charge5(callee, args.length);
      if (callee instanceof Closure) return callClosure(this, callee, args, { position, isPartial: last.length > 0 });
      const run = () => this.applyMember({ member: callee, args }, position);
      return application.callee.kind === 'dynamic-name' ? throughReference(this, run) : run();
    } catch (fault) {
      throw fault instanceof ContractError ? fault.at(position, application.code) : fault;
    }
  }

  applyValue(callable: Closure | NativeFunction | PartialFunction | Member, args: readonly Value[]): Value {
    if (callable instanceof PartialFunction) {
      this.#charge5(callable.callable, args.length);
      return this.#applyAll(callable.callable, [...callable.args, ...args], true);
    }
    this.#charge5(callable, args.length);
    return this.#applyAll(callable, args, false);
  }

  /** @param isPartial whether the function got its first arguments before */
  #applyAll(callable: Closure | NativeFunction | Member, args: readonly Value[], isPartial: boolean): Value {
    if (!(callable instanceof NativeFunction)) this.gas.call(nameOf(callable));
    if (callable instanceof Closure) return callClosure(this, callable, args, { position: undefined, isPartial });
    if (callable instanceof Member) return this.applyMember({ member: calledMember(callable, this), args });
    const given = args.map((value) => new GivenArgument(this, value));
    return callNative(this, callable.native, given, undefined, this.outermostScope);
  }

  /**
   * Charges for a call, or for the application to a part of the arguments, with the table model of dialect 5.
   * Natives are charged for elsewhere, and functions without arguments are free.
   */
  #charge5(callable: Closure | NativeFunction | Member, args: number): void {
    if (callable instanceof NativeFunction) {
      if (LAMBDAS.has(callable.native.name)) this.gas.call5(callable.native.name, args);
      return;
    }
    const isFree = args === 0 && (callable instanceof Closure || callable.is('defun'));
    if (!isFree) this.gas.call5(nameOf(callable) ?? 'lambda', args);
  }

  applyMember(call: MemberCall, position?: Position): Value {
    return callMember(this, call, position);
  }

  inFrame<T>(call: MemberCall, position: Position | undefined, run: (scope: Scope) => T): T {
    return inFrame(this, call, position, run);
  }

  checkArguments(call: MemberCall, position: Position | undefined): void {
    variablesOf(this, call, position);
  }

  callOf(expression: Expression, scope: Scope): MemberCall | undefined {
    if (expression.kind !== 'application' || expression.binding) return undefined;
    const callee = this.#resolver.calleeOf(expression, scope);
    if (isNative(callee) || callee instanceof Closure) return undefined;
    return { member: callee, args: expression.arguments.map((arg) => this.evaluate(arg, scope)) };
  }

  capabilityOf(expression: Expression, scope: Scope): MemberCall | undefined {
    if (this.dialect === 4) return this.callOf(expression, scope);
    const value = this.evaluate(expression, scope);
    return value instanceof CapabilityToken ? value : undefined;
  }

  chargeForReading(module: LoadedModule): void {
    // While a function runs, what it needs is known already.
    chargeForReading(this, module, this.#context.frame === undefined);
  }

  isNative = (name: string): boolean => this.findNative(name) !== undefined;

  isKnown = (name: string): boolean => this.#resolver.isKnown(name);

  isForTestsOnly = (name: string): boolean => this.#resolver.isForTestsOnly(name);

  isPartial(expression: Expression, scope: Scope): boolean {
    return this.#resolver.isPartial(expression, scope);
  }

  findNative(name: string): Native | undefined {
    return this.#resolver.findNative(name);
  }

  /** @throws ContractError for a name that code outside of modules cannot use */
  requireMeaning(name: string, position: Position | undefined): void {
    this.#resolver.requireMeaning(name, position);
  }

  print(value: Value): string {
    return printed(value, { dialect: this.dialect });
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
        this.gas.charge5('list', () => WRITTEN_ITEM * expression.items.length);
        return expression.items.map((item) => this.evaluate(item, scope));
      case 'object':
        this.gas.charge5('object', () => WRITTEN_ITEM * expression.fields.length);
        return new Map(expression.fields.map(({ key, value }) => [key, this.evaluate(value, scope)]));
      case 'application':
        return this.apply(expression, scope);
      case 'let':
        return this.#evaluateLet(expression, scope);
      case 'lambda':
        return new Closure(expression, scope);
      case 'cond':
        return this.#evaluateCond(expression, scope);
      case 'name':
      case 'dotted-name':
      case 'dynamic-name':
        return this.#resolver.valueOf(expression, scope);
      case 'with-capability': {
        const { capability, body, position } = expression;
        this.gas.native('with-capability');
        const call = this.capabilityOf(capability, scope);
        if (!call) throw new ContractError('eval', 'with-capability: expected a capability', position);
        return withCapability(this, call, position, () => this.evaluateBody(body, scope));
      }
      case 'unit':
        return UNIT;
    }
  }

  #evaluateCond({ branches, otherwise }: Cond, scope: Scope): Value {
    if (this.dialect === 5) this.gas.native('cond');
    for (const { condition, value } of branches) {
      // A `cond` costs as much gas as nested applications of `if`, which are free in dialect 5.
      this.gas.native('if');
      const isMet = this.evaluate(condition, scope);
      if (typeof isMet !== 'boolean') throw undecided(this, isMet, condition.position);
      if (isMet) return this.evaluate(value, scope);
    }
    return this.evaluate(otherwise, scope);
  }

  #evaluateLet({ isSequential, variables, body }: Let, outer: Scope): Value {
    // In dialect 5, every `let` is evaluated like `let*`.
    const isNested = isSequential || this.dialect === 5;
    let scope = outer;
    const together = new Map<string, Value>();
    for (const { variable, value } of variables) {
      const name = variable.name;
      const bound = checked(variable, this.functionOrValue(value, isNested ? scope : outer), outer.names, this);
      if (isNested) scope = scope.with(new Map([[name, bound]]));
      else together.set(name, bound);
    }
    return this.evaluateBody(body, isNested ? scope : outer.with(together));
  }

  functionOrValue(expression: Expression, scope: Scope): Value {
    const isPartial = this.dialect === 5 && this.isPartial(expression, scope);
    if (!isPartial || expression.kind !== 'application') return this.evaluate(expression, scope);
    const callee = this.#resolver.calleeOf(expression, scope);
    const args = expression.arguments.map((arg) => this.functionOrValue(arg, scope));
    if (isNative(callee) || args.length > 0)
      this.#charge5(isNative(callee) ? new NativeFunction(callee) : callee, args.length);
    return new PartialFunction(isNative(callee) ? new NativeFunction(callee) : callee, args);
  }
}

function meterOf({ gasModel, gasLimit, flags }: Environment, dialect: Dialect): GasMeter {
  return new GasMeter({ model: gasModel, limit: gasLimit, flags, dialect });
}

function notBoundText(value: Value, evaluator: Evaluator): string {
  const expected = 'bind: expected object';
  if (evaluator.dialect === 5) return `${expected}, found ${typeText(value, 5)}`;
  return `${expected}${shownValue(evaluator, value, [': ', ', received value of type: '])}`;
}
