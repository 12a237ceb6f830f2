/**
 * `expect`, `expect-failure` and `expect-that`. A missed expectation does not stop the run. Only the end of the run
 * reports the failure.
 */

import { ContractError, type ErrorKind } from '../../errors.ts';
import { type Argument, type Call, lazy, type Native } from '../../runtime/native.ts';
import { SteppedWalk } from '../../runtime/steps.ts';
import { typeText } from '../../values/printing.ts';
import { areEqual, type Value } from '../../values/values.ts';
import { positionText } from '../result.ts';
import type { TestRun } from '../test-run.ts';

/** Prefixes of shown failures by kind. Failures of other kinds have no prefix. */
const KIND_NAMES: Partial<Record<ErrorKind, string>> = {
  'tx-failure': 'Tx Failed: ',
  db: 'Database exception: ',
  syntax: 'Syntax error: ',
  gas: 'Gas Error: ',
  continuation: 'Continuation Error: ',
};

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

  /** @param what the kind of expectation, as the interpreter prints it */
  constructor(run: TestRun, doc: Argument, call: Call, what: string) {
    this.#run = run;
    this.#call = call;
    this.#doc = docOf(doc, call);
    this.#what = what;
  }

  equal(expected: Argument, actual: Argument): Value {
    return this.#attempt(actual, 'actual', (received) =>
      this.#attempt(expected, 'expected', (wanted) => {
        if (areEqual(wanted, received, new SteppedWalk(this.#call.evaluator))) return this.#success();
        const [text, other] = [this.#shown(wanted), this.#shown(received)];
        if (this.#is5) return this.#failed(`expected: ${text}, received: ${other}`);
        return this.#failed(`expected ${text}:${typeText(wanted)}, received ${other}:${typeText(received)}`);
      }),
    );
  }

  /**
   * @param second a text that the failure's message must contain; undefined to accept any failure
   * @returns undefined in dialect 4 if the message is not a text
   */
  failure(action: Argument, second: Argument | undefined): Value | undefined {
    if (second && !this.#is5 && typeof second.value !== 'string') return undefined;
    const message = second && textOf(second);
    const outcome = this.#caught(() => action.shownValue);
    if (!(outcome instanceof ContractError)) {
      const result = this.#is5 ? '' : ` = ${this.#shown(outcome)}`;
      return this.#failed(`expected failure, got result${result}`);
    }
    const shown = this.#is5 ? outcome.message : shownFailure(outcome);
    if (message === undefined || shown.includes(message)) return this.#success();
    const wanted = this.#is5 ? 'expected error message' : 'expected error message to contain';
    return this.#failed(`${wanted} '${message}', got '${shown}'`);
  }

  /** @returns undefined for a predicate that is not a function */
  satisfied(predicate: Argument, action: Argument): Value | undefined {
    const test = predicate.asFunction();
    if (!test) return undefined;
    return this.#attempt(action, 'expression', (value) => {
      const answer = this.#caught(() => test(value));
      if (answer instanceof ContractError) return this.#raised('predicate', answer);
      if (answer === true) return this.#success();
      if (this.#is5) return this.#report(false, `FAILURE: Expect-that: Did not satisfy condition: ${this.#doc}`);
      if (answer !== false) return this.#failed(`predicate did not return boolean: ${this.#shown(answer)}`);
      return this.#failed(`did not satisfy ${predicate.code}: ${this.#shown(value)}:${typeText(value)}`);
    });
  }

  get #is5(): boolean {
    return this.#call.evaluator.dialect === 5;
  }

  #shown(value: Value): string {
    const text = this.#call.evaluator.print(value);
    // Shown texts are kept until the end of the run.
    this.#call.evaluator.spend(text.length);
    return text;
  }

  /**
   * @returns the value or the failure. A failure undoes the changes of the state, but not those of the database and
   *   gas
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

  #attempt(argument: Argument, what: string, next: (value: Value) => Value): Value {
    const outcome = this.#caught(() => argument.shownValue);
    return outcome instanceof ContractError ? this.#raised(what, outcome) : next(outcome);
  }

  #raised(what: string, { message, position }: ContractError): Value {
    if (this.#is5) return this.#failed(`evaluation of ${what} failed with error message:\n${message}`);
    const place = position ? `${positionText(position)}: ` : '';
    return this.#failed(`evaluation of ${what} failed:${place}${message}`);
  }

  #success(): Value {
    if (!this.#is5) return this.#report(true, `${this.#what}: success: ${this.#doc}`);
    const success = this.#what === 'Expect failure' ? 'Success:' : 'success';
    return this.#report(true, `${this.#what}: ${success} ${this.#doc}`);
  }

  #failed(text: string): Value {
    // In dialect 5, only `expect-failure` prints a colon here.
    const colon = this.#is5 && this.#what !== 'Expect failure' ? '' : ':';
    return this.#report(false, `FAILURE: ${this.#doc}${colon} ${text}`);
  }

  #report(passed: boolean, text: string): string {
    this.#run.expectation(passed, text, this.#call.position);
    return text;
  }
}

/** In dialect 4, the text begins with the names of the functions that are running, the outermost first. */
function docOf(argument: Argument, { evaluator }: Call): string {
  let doc = textOf(argument);
  if (evaluator.dialect === 4) {
    for (let { frame } = evaluator.context; frame; frame = frame.outer) doc = `${frame.member.definition.name}.${doc}`;
  }
  return doc;
}

function textOf({ value, position }: Argument): string {
  if (typeof value === 'string') return value;
  throw new ContractError('eval', 'Expected string', position);
}

/** @returns a failure as dialect 4 prints it when no code catches it */
function shownFailure({ code, kind, message }: ContractError): string {
  return `${code}: Failure: ${KIND_NAMES[kind] ?? ''}${message}`;
}
