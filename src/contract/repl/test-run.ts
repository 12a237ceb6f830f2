/** The state of the interactive interpreter, which the interpreter's functions change. */

import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import { TreeEvaluator } from '../evaluator/evaluator.ts';
import { runTopLevel } from '../evaluator/top-level.ts';
import { initialGasLimit } from '../gas/model.ts';
import { NATIVES } from '../natives/natives.ts';
import { Database } from '../runtime/database.ts';
import { type Environment, INITIAL_ENVIRONMENT } from '../runtime/environment.ts';
import type { Kept } from '../runtime/kept.ts';
import type { Native } from '../runtime/native.ts';
import { INITIAL_STATE } from '../runtime/state.ts';
import type { Form } from '../syntax/forms.ts';
import { topLevelOf } from '../syntax/program.ts';
import type { Value } from '../values/values.ts';
import { type Expectation, TYPED } from './result.ts';

export type TestFunctions = ReadonlyMap<string, Native>;

interface RunOptions {
  readonly dialect: Dialect;
  readonly maxSteps: number | undefined;
  /** Counts the characters that the session keeps. */
  readonly kept: Kept;
  /** Counts the characters of the session's results. */
  readonly reported: Kept;
  /** As `EvaluatorOptions.look`. */
  readonly look: (() => void) | undefined;
  readonly makeFunctions: (run: TestRun, dialect: Dialect) => TestFunctions;
}

/** A transaction that `begin-tx` has begun. */
export interface TestTransaction {
  readonly number: number;
  readonly name: string | undefined;
}

/** The result of `verify-spv` for a type and a payload. */
export interface MockProof {
  readonly type: string;
  readonly payload: Value;
  readonly output: Value;
}

/** A requested load of a file. */
interface Load {
  readonly path: string;
  readonly reset: boolean;
}

export class TestRun {
  readonly evaluator: TreeEvaluator;
  readonly proofs: MockProof[] = [];
  readonly expectations: Expectation[];
  /** Texts that name the checks that the run has skipped. */
  readonly notes: Set<string>;
  readonly functions: TestFunctions;
  /** The database without the changes of the open transaction. */
  readonly #committed = new Database();
  readonly #options: RunOptions;
  readonly #dialect: Dialect;
  #environment: Environment;
  #number = 0;
  #allowsInModules = false;
  #transaction: TestTransaction | undefined;
  #loads: Load[] = [];
  #printed: string[] = [];

  constructor(options: RunOptions, expectations: Expectation[] = [], notes = new Set<string>()) {
    const { dialect, maxSteps, makeFunctions } = options;
    this.#options = options;
    this.#dialect = dialect;
    this.expectations = expectations;
    this.notes = notes;
    this.#environment = { ...INITIAL_ENVIRONMENT, gasLimit: initialGasLimit(dialect) };
    this.functions = makeFunctions(this, dialect);
    this.evaluator = new TreeEvaluator({
      dialect,
      natives: NATIVES,
      ...(maxSteps === undefined ? {} : { maxSteps }),
      testFunctions: this.functions,
      kept: options.kept,
      look: options.look,
      environment: this.#environment,
      database: this.#committed,
    });
  }

  /** @returns a new state that shares the expectations and notes */
  renewed(): TestRun {
    return new TestRun(this.#options, this.expectations, this.notes);
  }

  /**
   * The environment that applies after this form. Code of dialect 4 runs with it only then, or in `with-applied-env`.
   */
  get environment(): Environment {
    return this.#environment;
  }

  /** Code of dialect 5 sees the change at once. */
  set environment(environment: Environment) {
    this.#environment = environment;
    if (this.#dialect === 5) this.evaluator.environment = environment;
  }

  /** Changes the environment that applies after this form. @returns `answer`, the result of the calling function */
  set(change: Partial<Environment>, answer: string): string {
    this.environment = { ...this.#environment, ...change };
    return answer;
  }

  /**
   * Evaluates a form. A failed form loads no file, and its changes of the state are undone, but not those of the
   * database.
   */
  evaluate(form: Form): Value {
    const { evaluator } = this;
    const { state } = evaluator;
    evaluator.resetSteps();
    try {
      const value = runTopLevel(evaluator, topLevelOf(form, this.#dialect));
      evaluator.environment = this.environment;
      return value;
    } catch (fault) {
      evaluator.state = state;
      this.environment = evaluator.environment;
      this.#loads = [];
      throw fault;
    }
  }

  /**
   * Begins a transaction.
   * @returns the transaction's number, from 0
   * @throws ContractError in dialect 5 if a transaction is open; dialect 4 rolls that one back
   */
  begin(name: string | undefined): number {
    if (this.#transaction && this.#dialect === 5) throw new ContractError('eval', 'tx-function failure Begin Tx');
    this.#transaction = { number: this.#number, name };
    this.evaluator.database = new Database(this.#committed);
    this.#reset();
    return this.#number;
  }

  /** Ends the open transaction. @returns the transaction; undefined if none is open */
  end(how: 'commit' | 'rollback'): TestTransaction | undefined {
    const transaction = this.#transaction;
    this.#reset();
    this.evaluator.gas.set(0n);
    if (!transaction) return undefined;
    if (how === 'commit') {
      this.#committed.absorb(this.evaluator.database, BigInt(transaction.number));
      this.#number++;
    }
    this.evaluator.database = this.#committed;
    this.#transaction = undefined;
    return transaction;
  }

  #reset(): void {
    this.evaluator.state = INITIAL_STATE;
    this.evaluator.gas.endLog();
  }

  /** Requests that a file be loaded after this form. @param reset whether the file begins with a new state */
  load(path: string, reset: boolean): void {
    this.#loads.push({ path, reset });
  }

  takeLoads(): readonly Load[] {
    const loads = this.#loads;
    this.#loads = [];
    return loads;
  }

  /** Prints a text after this form. */
  print(text: string): void {
    this.#options.kept.addPrinted(text);
    this.#printed.push(text);
  }

  takePrinted(): readonly string[] {
    const texts = this.#printed;
    this.#printed = [];
    return texts;
  }

  /** Records a check that the run has skipped. */
  note(text: string): void {
    if (!this.notes.has(text)) this.#report(text);
    this.notes.add(text);
  }

  expectation(passed: boolean, text: string, position: Position | undefined): void {
    const place = { file: position?.file ?? TYPED, position: position ?? { line: 0, column: 0, offset: 0 } };
    this.#report(text);
    this.expectations.push({ place, passed, text });
  }

  #report(text: string): void {
    this.#options.kept.addEntry([text]);
    this.#options.reported.add(text.length);
  }

  /** Sets whether contract files (`.pact`) can use the functions of the interpreter. */
  allowInModules(allows: boolean): void {
    this.#allowsInModules = allows;
  }

  /** Removes the names that `use` and definitions have given to code outside of modules. */
  clearImports(): void {
    this.evaluator.state = { ...this.evaluator.state, imported: new Map() };
  }

  /** Hides the functions of the interpreter from code, unless `allowInModules` was called with true. */
  hideFunctions(): void {
    if (!this.#allowsInModules) this.evaluator.testFunctions = new Map();
  }

  showFunctions(): void {
    this.evaluator.testFunctions = this.functions;
  }
}
