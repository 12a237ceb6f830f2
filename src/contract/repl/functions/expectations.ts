/**
 * The functions `expect`, `expect-failure` and `expect-that`. After an expectation that is not met, the run continues.
 * The result of the run contains all expectations.
 */

import { ContractError, type ErrorKind, shortened } from '../../errors.ts';
import { type Argument, type Call, lazy, type Native, nativeFailure } from '../../runtime/native.ts';
import { SteppedWalk } from '../../runtime/steps.ts';
import { typeText } from '../../values/printing.ts';
import { areEqual, type Value } from '../../values/values.ts';
import { type FailedDetails, type Measured, positionText } from '../result.ts';
import type { TestRun } from '../test-run.ts';

/** The texts before the message of an error in dialect 4, by the kind of the error. Other kinds have no such text. */
const KIND_NAMES: Partial<Record<ErrorKind, string>> = {
  'tx-failure': 'Tx Failed: ',
  db: 'Database exception: ',
  syntax: 'Syntax error: ',
  gas: 'Gas Error: ',
  continuation: 'Continuation Error: ',
};

/** Maximum number of code points of the code before a message, without the `...` of shortened code. */
const SHOWN_CODE = 30;

export function expectations(run: TestRun): readonly Native[] {
  return [
    lazy('expect', 'doc:string expected:<a> actual:<a> -> string', (args, call) => {
      return args.length === 3 ? new Expecting(run, args[0], call, 'Expect').equal(args[1], args[2]) : undefined;
    }),
    lazy(
      'expect-failure',
      ['doc:string exp:<a> -> string', 'doc:string err:string exp:<a> -> string'],
      (args, call) => {
        if (args.length !== 2 && args.length !== 3) return undefined;
        const [doc, ...rest] = args;
        return new Expecting(run, doc, call, 'Expect failure').failure(rest[rest.length - 1], rest.at(-2));
      },
    ),
    lazy('expect-that', 'doc:string pred:(value:<a> -> bool) exp:<a> -> string', (args, call) => {
      return args.length === 3
        ? new Expecting(run, args[0], call, 'Expect-that').satisfied(args[1], args[2])
        : undefined;
    }),
  ];
}

/** Evaluates one expectation and reports its result. */
class Expecting {
  readonly #run: TestRun;
  readonly #call: Call;
  readonly #doc: string;
  readonly #what: string;
  readonly #measured: (name: string) => Measured;

  /**
   * @param doc the first argument, which describes the expectation
   * @param what the kind of expectation, as in printed results
   */
  constructor(run: TestRun, doc: Argument, call: Call, what: string) {
    this.#run = run;
    this.#measured = run.measure();
    this.#call = call;
    this.#doc = docOf(doc, call);
    this.#what = what;
  }

  /** The function `expect`, which tests whether two arguments have equal values. */
  equal(expected: Argument, actual: Argument): Value {
    return this.#attempt(actual, 'actual', (received) =>
      this.#attempt(expected, 'expected', (wanted) => {
        if (areEqual(wanted, received, new SteppedWalk(this.#call.evaluator))) return this.#success();
        const [text, other] = [this.#shown(wanted), this.#shown(received)];
        const details = { values: { expected: text, received: other } };
        if (this.#is5) return this.#failed(`expected: ${text}, received: ${other}`, details);
        return this.#failed(
          `expected ${text}:${typeText(wanted, 4)}, received ${other}:${typeText(received, 4)}`,
          details,
        );
      }),
    );
  }

  /**
   * The function `expect-failure`, which tests whether the evaluation of an argument fails.
   * @param second its value is a text that the message of the error must contain; undefined if any error is accepted
   * @returns undefined in dialect 4 if the value of `second` is not a text
   * @throws ContractError in dialect 5 if the value of `second` is not a text
   */
  failure(action: Argument, second: Argument | undefined): Value | undefined {
    if (second && !this.#is5 && typeof second.value !== 'string') return undefined;
    const message = second && textOf(second);
    const outcome = this.#caught(() => action.shownValue);
    if (!(outcome instanceof ContractError)) {
      if (!this.#is5) return this.#failed(`expected failure, got result = ${this.#shown(outcome)}`);
      if (message === undefined) return this.#failed('expected failure, got result');
      return this.#report(false, `FAILURE: ${message}: expected failure, got result: ${this.#shown(outcome)}`);
    }
    const shown = this.#is5 ? outcome.message : shownFailure(outcome);
    if (message === undefined || shown.includes(message)) return this.#success();
    const wanted = this.#is5 ? 'expected error message' : 'expected error message to contain';
    return this.#failed(`${wanted} '${message}', got '${shown}'`);
  }

  /**
   * The function `expect-that`, which tests whether a function returns true for the value of an argument.
   * @returns undefined if `predicate` is not a function
   */
  satisfied(predicate: Argument, action: Argument): Value | undefined {
    const test = predicate.asFunction();
    if (!test) return undefined;
    return this.#attempt(action, 'expression', (value) => {
      const answer = this.#caught(() => test(value));
      if (answer instanceof ContractError) return this.#raised('predicate', answer);
      if (answer === true) return this.#success();
      if (this.#is5) return this.#unsatisfied(answer);
      if (answer !== false) return this.#failed(`predicate did not return boolean: ${this.#shown(answer)}`);
      return this.#failed(`did not satisfy ${predicate.code}: ${this.#shown(value)}:${typeText(value, 4)}`);
    });
  }

  /** @throws ContractError for an answer that is no boolean, which the run of the file also counts as a failure */
  #unsatisfied(answer: Value): Value {
    if (answer === false) return this.#report(false, `FAILURE: Expect-that: Did not satisfy condition: ${this.#doc}`);
    this.#report(false, 'FAILURE: expect-that expression did not return a boolean');
    throw nativeFailure({ name: 'expect-that' }, 'Expect-that: condition did not return a boolean');
  }

  get #is5(): boolean {
    return this.#call.evaluator.dialect === 5;
  }

  #shown(value: Value): string {
    const text = this.#call.evaluator.print(value);
    // Every text that is shown stays in memory until the end of the run, so its characters count as steps.
    this.#call.evaluator.spend(text.length);
    return text;
  }

  /**
   * Runs the action. If the action fails, its changes of the state are undone. Its changes of the database and its
   * charges of gas remain.
   * @returns the action's value, or its error
   */
  #caught(action: () => Value): Value | ContractError {
    const { evaluator } = this.#call;
    const { state } = evaluator;
    try {
      return action();
    } catch (fault) {
      if (!(fault instanceof ContractError)) throw fault;
      evaluator.state = state;
      return fault;
    }
  }

  /**
   * Evaluates an argument.
   * @param what the argument's name, for the message of a failure
   * @param next gets the value, and makes the result of the expectation
   */
  #attempt(argument: Argument, what: string, next: (value: Value) => Value): Value {
    const outcome = this.#caught(() => argument.shownValue);
    return outcome instanceof ContractError ? this.#raised(what, outcome) : next(outcome);
  }

  #raised(what: string, { message, position, subject }: ContractError): Value {
    const file = position?.file;
    const details = {
      ...(subject !== undefined && { subject }),
      ...(position && file !== undefined && { cause: { file, position } }),
    };
    if (this.#is5) return this.#failed(`evaluation of ${what} failed with error message:\n${message}`, details);
    const place = position ? `${positionText(position)}: ` : '';
    return this.#failed(`evaluation of ${what} failed:${place}${message}`, details);
  }

  #success(): Value {
    if (!this.#is5) return this.#report(true, `${this.#what}: success: ${this.#doc}`);
    const success = this.#what === 'Expect failure' ? 'Success:' : 'success';
    return this.#report(true, `${this.#what}: ${success} ${this.#doc}`);
  }

  #failed(text: string, details?: FailedDetails): Value {
    // In dialect 5, only the text of a failed `expect-failure` has a colon after `doc`.
    const colon = this.#is5 && this.#what !== 'Expect failure' ? '' : ':';
    return this.#report(false, `FAILURE: ${this.#doc}${colon} ${text}`, details);
  }

  #report(passed: boolean, text: string, details?: FailedDetails): string {
    this.#run.expectation(passed, text, this.#call.position, { ...details, ...this.#measured(this.#doc) });
    return text;
  }
}

/**
 * @param argument the first argument of an expectation
 * @returns its value. In dialect 4, the names of the running functions come before the value: `outer.inner.value`
 */
function docOf(argument: Argument, { evaluator }: Call): string {
  let doc = textOf(argument);
  if (evaluator.dialect === 4) {
    for (let { frame } = evaluator.context; frame; frame = frame.outer) doc = `${frame.member.definition.name}.${doc}`;
  }
  return doc;
}

/** @returns the value of the argument @throws ContractError if the value is not a text */
function textOf({ value, position }: Argument): string {
  if (typeof value === 'string') return value;
  throw new ContractError('eval', 'Expected string', position);
}

/** @returns the text of an error as dialect 4 prints it: `(f 1): Failure: Tx Failed: message` */
function shownFailure({ code, kind, message }: ContractError): string {
  return `${shortened(code, SHOWN_CODE)}: Failure: ${KIND_NAMES[kind] ?? ''}${message}`;
}
