/** Natives that decide what is evaluated: conditions, failures, and natives that call functions. */

import { ContractError } from '../errors.ts';
import { limited } from '../runtime/access.ts';
import { type Argument, type Call, type Evaluator, lazy, type Native, strict } from '../runtime/native.ts';
import { shownValue, undecided } from '../runtime/shown.ts';
import { printed } from '../values/printing.ts';
import type { Value } from '../values/values.ts';

/** @returns undefined for a value that is not a bool, which makes the call fail for wrong arguments */
function bool(argument: Argument): boolean | undefined {
  const { value } = argument;
  return typeof value === 'boolean' ? value : undefined;
}

/** `and` and `or`: the second argument is evaluated only if the first does not decide. */
function connective(name: string, decides: boolean): Native {
  return lazy(name, 'x:bool y:bool -> bool', (args) => {
    if (args.length !== 2) return undefined;
    const first = bool(args[0]);
    return first === undefined || first === decides ? first : bool(args[1]);
  });
}

/** `and?` and `or?`, which apply two functions to one value. */
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
 * The result for a function that has not returned a bool.
 * @returns undefined in dialect 5, and if no function was called
 * @throws ContractError in dialect 4
 */
function unanswered(name: string, answer: Value | undefined, { dialect }: Evaluator): undefined {
  if (answer === undefined || dialect === 5) return undefined;
  throw new ContractError('eval', `${name}: Non-boolean result from delegate: ${printed(answer)}`);
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
    // Since version 4.5, the message is evaluated, and charged for, only if it is needed.
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

/** Fails with the message. @throws ContractError */
function failWith({ value }: Argument, evaluator: Evaluator): never {
  if (typeof value === 'string') return fail(value);
  const { dialect } = evaluator;
  if (dialect === 5) throw new ContractError('eval', `expected string value, got: ${printed(value, { dialect })}`);
  const expected = 'Invalid message argument, expected string';
  const shown = shownValue(evaluator, value, [' ', ', received argument of type: ']);
  throw new ContractError('eval', `${expected}${shown}`);
}

/** Tries the tests in order. A test that fails counts as false. Tests can read tables, but not write. */
function enforceOne(args: readonly Argument[], { evaluator }: Call): Value | undefined {
  const [message, { items = undefined } = {}] = args;
  if (args.length !== 2 || !items) return undefined;
  return limited(evaluator, 'read', () => {
    // Dialect 5 evaluates the message only if it is needed.
    if (evaluator.dialect === 4 && typeof message.value !== 'string') return undefined;
    for (const test of items) {
      const isMet = evaluator.attempt(() => requireTest(test, evaluator));
      // Before version 4.4, the first test that did not fail gave the result.
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

/** The native `try`. The tried action can read tables, but not write. */
function attempt(args: readonly Argument[], { evaluator }: Call): Value | undefined {
  if (args.length !== 2) return undefined;
  const [fallback, action] = args;
  // Before version 4.4, the default value was always evaluated.
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
  // The ignored arguments are not evaluated.
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
    ...lazy('do', 'first:<a> last:<b> -> <b>', (args, { binding }) =>
      binding ? undefined : args.map((arg) => arg.value).at(-1),
    ),
    dialect: 5,
  },
];
