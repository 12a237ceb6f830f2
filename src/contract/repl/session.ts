/** The interactive interpreter: runs files of tests, and what somebody types. */

import { DEFAULT_DIALECT, type Dialect } from '../dialect.ts';
import { ContractError, type FailedCall, type Position } from '../errors.ts';
import { Evaluator } from '../evaluator/evaluator.ts';
import { runTopLevel } from '../evaluator/top-level.ts';
import { initialGasLimit } from '../gas/model.ts';
import { NATIVES } from '../natives/natives.ts';
import { Database } from '../runtime/database.ts';
import { type Environment, INITIAL_ENVIRONMENT } from '../runtime/environment.ts';
import type { Native } from '../runtime/native.ts';
import { INITIAL_STATE } from '../runtime/state.ts';
import type { Form } from '../syntax/forms.ts';
import { topLevelOf } from '../syntax/program.ts';
import { readForms } from '../syntax/reader.ts';
import { printed } from '../values/printing.ts';
import type { Value } from '../values/values.ts';
import { testFunctions } from './functions/functions.ts';
import {
  type Expectation,
  type Failure,
  type FileResult,
  type Place,
  positionText,
  type TextResult,
  TYPED,
} from './result.ts';
import type { TestRun } from './test-run.ts';

export interface SessionOptions {
  /** 4 by default. */
  readonly dialect?: Dialect;
  /** Maximum number of steps of each form outside of all brackets; `MAX_STEPS` by default. */
  readonly maxSteps?: number | undefined;
  /** @returns the text of a file @throws Error if it cannot be read */
  readonly readFile: (path: string) => string;
  /** @returns the path of a file that another file names */
  readonly resolvePath: (from: string, path: string) => string;
  /** Gets the value of every form outside of all brackets. */
  readonly onTrace?: (place: Place, text: string) => void;
  /** Gets what code prints. */
  readonly onPrint?: (text: string) => void;
}

/** Maximum number of files that load each other. */
export const MAX_LOADS = 100;

export class Session {
  readonly #options: SessionOptions;
  readonly #dialect: Dialect;
  #run: Run;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#dialect = options.dialect ?? DEFAULT_DIALECT;
    this.#run = new Run(this.#dialect, options.maxSteps);
  }

  /** Runs a file, in the state that earlier files and inputs have left. */
  runFile(path: string): FileResult {
    const before = this.#run.expectations.length;
    const error = this.#caught(path, () => this.#load(path, 0));
    const { expectations, notes } = this.#run;
    return { file: path, expectations: expectations.slice(before), error, notes: [...notes] };
  }

  /** Runs one input of the prompt. A form that has failed leaves the state as before it, apart from the database. */
  runText(text: string): TextResult {
    const before = this.#run.expectations.length;
    const values: string[] = [];
    const error = this.#caught(TYPED, () => {
      for (const form of readForms(text, this.#dialect)) {
        const value = this.#evaluate(form, TYPED, 0);
        values.push(printed(value, { dialect: this.#dialect }));
      }
    });
    return { values, expectations: this.#run.expectations.slice(before), error };
  }

  /** @returns the names that code can use now: natives, functions of the interpreter, modules and what is in them */
  names(): readonly string[] {
    const { evaluator, functions } = this.#run;
    const modules = [...evaluator.database.modules.entries().values()];
    const members = modules.flatMap(({ name, members }) => [...members.keys()].map((each) => `${name.text}.${each}`));
    return [
      ...NATIVES.keys(),
      ...functions.keys(),
      ...evaluator.state.imported.keys(),
      ...modules.map(({ name }) => name.text),
      ...members,
    ];
  }

  /** @param loadedAt where the form is that loads the file, for failures to do so */
  #load(path: string, depth: number, loadedAt?: Position): void {
    if (depth === MAX_LOADS) throw new ContractError('eval', `More than ${MAX_LOADS} files load each other`, loadedAt);
    const isContract = path.endsWith('.pact');
    if (isContract) this.#run.forgetNames();
    for (const form of readForms(this.#textOf(path, loadedAt), this.#dialect, path)) {
      // Files of contracts do not see the functions of the interpreter, as on a node.
      if (isContract) this.#run.hideFunctions();
      const value = this.#evaluate(form, path, depth);
      this.#run.showFunctions();
      const text = typeof value === 'string' ? value : printed(value, { dialect: this.#dialect });
      this.#options.onTrace?.({ file: path, position: form.position }, text);
    }
  }

  #textOf(path: string, loadedAt: Position | undefined): string {
    try {
      return this.#options.readFile(path);
    } catch (error) {
      const why = error instanceof Error ? error.message : `${error}`;
      throw new ContractError('eval', `load: file load failed: ${path}, ${why}`, loadedAt);
    }
  }

  /** Runs one form, and what it has put off until its end. */
  #evaluate(form: Form, file: string, depth: number): Value {
    const run = this.#run;
    const value = run.evaluate(form, this.#dialect);
    for (const text of run.takePrinted()) this.#options.onPrint?.(text);
    for (const { path, reset } of run.takeLoads()) {
      if (reset) this.#run = run.renewed();
      this.#load(this.#options.resolvePath(file, path), depth + 1, form.position);
    }
    return value;
  }

  #caught(file: string, action: () => void): Failure | undefined {
    try {
      action();
      return undefined;
    } catch (fault) {
      if (!(fault instanceof ContractError)) throw fault;
      this.#run.showFunctions();
      return failureOf(fault, file);
    }
  }
}

function failureOf({ message, position, calls }: ContractError, file: string): Failure {
  const place = position && { file: position.file ?? file, position };
  return { place, message, frames: calls.map(frameText) };
}

/** @returns a call that has failed: `f.repl:3:2: (m.f 1)` */
function frameText({ position, text }: FailedCall): string {
  return position ? `${positionText(position)}: ${text}` : text;
}

/** The state of an interpreter, which its functions change. */
class Run implements TestRun {
  readonly evaluator: Evaluator;
  readonly proofs: TestRun['proofs'] = [];
  readonly expectations: Expectation[];
  readonly notes: Set<string>;
  readonly functions: ReadonlyMap<string, Native>;
  readonly committed = new Database();
  readonly #dialect: Dialect;
  readonly #maxSteps: number | undefined;
  #environment: Environment;
  #number = 0;
  #allowsInModules = false;
  #transaction: { readonly number: number; readonly name: string | undefined } | undefined;
  #loads: { readonly path: string; readonly reset: boolean }[] = [];
  #printed: string[] = [];

  constructor(
    dialect: Dialect,
    maxSteps: number | undefined,
    expectations: Expectation[] = [],
    notes = new Set<string>(),
  ) {
    this.#dialect = dialect;
    this.#maxSteps = maxSteps;
    this.expectations = expectations;
    this.notes = notes;
    this.#environment = { ...INITIAL_ENVIRONMENT, gasLimit: initialGasLimit(dialect) };
    this.functions = testFunctions(this, dialect);
    this.evaluator = new Evaluator({
      dialect,
      natives: NATIVES,
      ...(maxSteps === undefined ? {} : { maxSteps }),
      testFunctions: this.functions,
      environment: this.#environment,
      database: this.committed,
    });
  }

  /** @returns a new state with the same record of expectations */
  renewed(): Run {
    return new Run(this.#dialect, this.#maxSteps, this.expectations, this.notes);
  }

  get environment(): Environment {
    return this.#environment;
  }

  /** In dialect 5, code sees it at once. */
  set environment(environment: Environment) {
    this.#environment = environment;
    if (this.#dialect === 5) this.evaluator.environment = environment;
  }

  evaluate(form: Form, dialect: Dialect): Value {
    const { evaluator } = this;
    const { state } = evaluator;
    evaluator.resetSteps();
    try {
      const value = runTopLevel(evaluator, topLevelOf(form, dialect));
      evaluator.environment = this.environment;
      return value;
    } catch (fault) {
      evaluator.state = state;
      this.environment = evaluator.environment;
      throw fault;
    }
  }

  begin(name: string | undefined): number {
    if (this.#transaction && this.#dialect === 5) throw new ContractError('eval', 'tx-function failure Begin Tx');
    this.#transaction = { number: this.#number, name };
    this.evaluator.database = new Database(this.committed);
    this.#reset();
    return this.#number;
  }

  end(how: 'commit' | 'rollback'): { readonly number: number; readonly name: string | undefined } | undefined {
    const transaction = this.#transaction;
    this.#reset();
    this.evaluator.gas.set(0n);
    if (!transaction) return undefined;
    if (how === 'commit') {
      this.committed.absorb(this.evaluator.database, BigInt(transaction.number));
      this.#number++;
    }
    this.evaluator.database = this.committed;
    this.#transaction = undefined;
    return transaction;
  }

  #reset(): void {
    this.evaluator.state = INITIAL_STATE;
    this.evaluator.gas.endLog();
  }

  load(path: string, reset: boolean): void {
    this.#loads.push({ path, reset });
  }

  takeLoads(): readonly { readonly path: string; readonly reset: boolean }[] {
    const loads = this.#loads;
    this.#loads = [];
    return loads;
  }

  print(text: string): void {
    this.#printed.push(text);
  }

  takePrinted(): readonly string[] {
    const texts = this.#printed;
    this.#printed = [];
    return texts;
  }

  note(text: string): void {
    this.notes.add(text);
  }

  expectation(passed: boolean, text: string, position: Position | undefined): void {
    const place = { file: position?.file ?? TYPED, position: position ?? { line: 0, column: 0, offset: 0 } };
    this.expectations.push({ place, passed, text });
  }

  allowInModules(allows: boolean): void {
    this.#allowsInModules = allows;
  }

  /** Takes away what `use` and definitions have brought to code outside of modules. */
  forgetNames(): void {
    this.evaluator.state = { ...this.evaluator.state, imported: new Map() };
  }

  /** Hides the functions of the interpreter from code, unless that was allowed to use them. */
  hideFunctions(): void {
    if (!this.#allowsInModules) this.evaluator.testFunctions = new Map();
  }

  showFunctions(): void {
    this.evaluator.testFunctions = this.functions;
  }
}
