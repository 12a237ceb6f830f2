/** Natives for conditions and failures, and natives that apply functions. */

import { ContractError } from '../errors.ts';
import { ELEMENT } from '../gas/natives5.ts';
import { limited } from '../runtime/access.ts';
import { type Argument, type Call, type Evaluator, lazy, type Native, strict } from '../runtime/native.ts';
import { shownValue, undecided } from '../runtime/shown.ts';
import { printed } from '../values/printing.ts';
import type { Value } from '../values/values.ts';

/**
 * @returns the value of an argument; undefined if it is not a bool. If the native returns this undefined, its call
 *   fails because of wrong arguments
 */
function bool(argument: Argument): boolean | undefined {
  const { value } = argument;
  return typeof value === 'boolean' ? value : undefined;
}

/**
 * @param decides the value that decides alone. If the first argument has this value, the native returns it without
 *   evaluating the second argument
 * @returns the native `and` or `or`
 */
function connective(name: string, decides: boolean): Native {
  return lazy(name, 'x:bool y:bool -> bool', (args) => {
    if (args.length !== 2) return undefined;
    const first = bool(args[0]);
    return first === undefined || first === decides ? first : bool(args[1]);
  });
}

/**
 * @param decides the value that decides alone. If the first function returns this value, the native returns it without
 *   calling the second function
 * @returns the native `and?` or `or?`, which applies two functions to one value
 */
function connectiveOf(name: string, decides: boolean): Native {
  return lazy(name, 'a:(x:<r> -> bool) b:(x:<r> -> bool) value:<r> -> bool', (args, { evaluator }) => {
    if (args.length !== 3) return undefined;
    const functions = args.slice(0, 2).map((arg) => arg.asFunction());
    const { value } = args[2];
    for (const [at, test] of functions.entries()) {
      const result = test?.(value);
      if (typeof result !== 'boolean') return unanswered(name, result, evaluator);
      if (result === decides || at === 1) return result;
    }
    return undefined;
  });
}

/**
 * Called if the function that a native applies has not returned a bool, or was not called.
 * @param answer the result of the function; undefined if no function was called
 * @returns undefined in dialect 5, and if no function was called. The call of the native then fails because of wrong
 *   arguments
 * @throws ContractError in dialect 4, if the function was called
 */
function unanswered(name: string, answer: Value | undefined, { dialect }: Evaluator): undefined {
  if (answer === undefined || dialect === 5) return undefined;
  throw new ContractError('eval', `${name}: Non-boolean result from delegate: ${printed(answer, { dialect })}`);
}

function choose(args: readonly Argument[], { evaluator }: Call): Value | undefined {
  if (args.length !== 3) return undefined;
  const condition = args[0].value;
  if (typeof condition === 'boolean') return args[condition ? 1 : 2].value;
  throw undecided(evaluator, condition);
}

function enforce(args: readonly Argument[], { evaluator }: Call): Value | undefined {
  if (args.length !== 2) return undefined;
  if (evaluator.dialect === 5) {
    const access = evaluator.environment.flags.has('DisablePact53') ? 'none' : 'read';
    return limited(evaluator, access, () => enforce5(args, evaluator));
  }
  return limited(evaluator, 'none', () => {
    const isMet = bool(args[0]);
    // Since version 4.5, the message is evaluated, and charged for, only if the condition is false.
    if (evaluator.gas.flags.has('DisablePact45') && typeof args[1].value !== 'string') return undefined;
    return isMet === false ? failWith(args[1], evaluator) : isMet;
  });
}

function enforce5([condition, message]: readonly Argument[], evaluator: Evaluator): boolean {
  const isMet = requireBool5(condition, evaluator);
  return isMet || failWith(message, evaluator);
}

function requireBool5({ value }: Argument, { dialect }: Evaluator): boolean {
  if (typeof value === 'boolean') return value;
  throw new ContractError('eval', `expected bool value, got ${printed(value, { dialect })}`);
}

/**
 * @throws ContractError with the value of the argument as its message, or with another message if the value is not a
 *   text
 */
function failWith({ value }: Argument, evaluator: Evaluator): never {
  if (typeof value === 'string') return fail(value);
  const { dialect } = evaluator;
  if (dialect === 5) throw new ContractError('eval', `expected string value, got: ${printed(value, { dialect })}`);
  const expected = 'Invalid message argument, expected string';
  const shown = shownValue(evaluator, value, [' ', ', received argument of type: ']);
  throw new ContractError('eval', `${expected}${shown}`);
}

/**
 * The native `enforce-one`: evaluates the tests in order until one is true. A test that fails counts as false, if code
 * can catch the failure. The tests can read tables, but not write to them.
 */
function enforceOne(args: readonly Argument[], { evaluator }: Call): Value | undefined {
  const [message, { items = undefined } = {}] = args;
  if (args.length !== 2 || !items) return undefined;
  return limited(evaluator, 'read', () => {
    // Dialect 4 always evaluates the message first. Dialect 5 evaluates the message only if no test is true.
    if (evaluator.dialect === 4 && typeof message.value !== 'string') return undefined;
    if (items.length > 0) evaluator.gas.charge5('enforce-one', () => ELEMENT);
    for (const test of items) {
      const isMet = evaluator.attempt(() => requireTest(test, evaluator));
      // Before version 4.4, the result was the value of the first test that did not fail, even if this value was false.
      if (isMet === true || (isMet !== undefined && evaluator.environment.flags.has('DisablePact44'))) return isMet;
    }
    return failWith(message, evaluator);
  });
}

function requireTest(test: Argument, evaluator: Evaluator): boolean {
  const { value } = test;
  if (evaluator.dialect === 5) return requireBool5(test, evaluator);
  if (typeof value === 'boolean') return value;
  throw new ContractError('eval', 'Failure: expected boolean result in enforce-one');
}

/** The native `try`. Its second argument, the action, can read tables, but not write to them. */
function attempt(args: readonly Argument[], { evaluator }: Call): Value | undefined {
  if (args.length !== 2) return undefined;
  const [fallback, action] = args;
  evaluator.gas.charge5('try', () => ELEMENT);
  // Before version 4.4, the default value was evaluated first, even if it was not needed.
  const early = evaluator.environment.flags.has('DisablePact44') ? fallback.value : undefined;
  return limited(evaluator, 'read', () => evaluator.attempt(() => action.value)) ?? early ?? fallback.value;
}

function fail(message: string): never {
  throw new ContractError('tx-failure', message);
}

export const CONTROL: readonly Native[] = [
  connective('and', false),
  connective('or', true),
  connectiveOf('and?', false),
  connectiveOf('or?', true),
  strict('not', 'x:bool -> bool', ([x, ...more]) => (typeof x === 'boolean' && more.length === 0 ? !x : undefined)),
  lazy('not?', 'app:(x:<r> -> bool) value:<r> -> bool', (args, { evaluator }) => {
    const result = args.length === 2 ? args[0].asFunction()?.(args[1].value) : undefined;
    return typeof result === 'boolean' ? !result : unanswered('not?', result, evaluator);
  }),
  lazy('if', 'cond:bool then:<a> else:<a> -> <a>', choose),
  { ...lazy('enforce', 'test:bool msg:string -> bool', enforce), isLazy: false },
  lazy('enforce-one', 'msg:string tests:[bool] -> bool', enforceOne),
  {
    ...lazy('pure', 'expr:<a> -> <a>', (args, { evaluator }) =>
      args.length === 1 ? limited(evaluator, 'read', () => args[0].value) : undefined,
    ),
    dialect: 5,
  },
  {
    ...lazy('error', 'msg:string -> <a>', ([message, ...more], { evaluator }) =>
      message && more.length === 0 ? failWith(message, evaluator) : undefined,
    ),
    dialect: 5,
  },
  lazy('try', 'default:<a> action:<a> -> <a>', attempt),
  strict('identity', 'value:<a> -> <a>', ([value, ...more]) => (more.length === 0 ? value : undefined)),
  // `constantly` does not evaluate the arguments that it ignores.
  lazy(
    'constantly',
    [
      'value:<a> ignore1:<b> -> <a>',
      'value:<a> ignore1:<b> ignore2:<c> -> <a>',
      'value:<a> ignore1:<b> ignore2:<c> ignore3:<d> -> <a>',
    ],
    (args) => (args.length >= 2 ? args[0].value : undefined),
  ),
  lazy('compose', 'x:(x:<a> -> <b>) y:(x:<b> -> <c>) value:<a> -> <c>', (args) => {
    if (args.length !== 3) return undefined;
    const [first, second] = args.slice(0, 2).map((arg) => arg.asFunction());
    return first && second?.(first(args[2].value));
  }),
  lazy('bind', 'src:object:<{row}> binding:binding:<{row}> -> <a>', (args, { evaluator, scope, binding }) =>
    args.length === 1 && binding ? evaluator.evaluateBinding(binding, args[0].value, scope) : undefined,
  ),
  {
    ...lazy('do', 'first:<a> last:<b> -> <b>', (args) => args.map((arg) => arg.value).at(-1)),
    dialect: 5,
  },
];
