/** The state of the interactive interpreter. Code changes it with functions such as `begin-tx` and `env-data`. */

import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import { TreeEvaluator } from '../evaluator/evaluator.ts';
import { runTopLevel } from '../evaluator/top-level.ts';
import { initialGasLimit, tableModel } from '../gas/model.ts';
import { NATIVES } from '../natives/natives.ts';
import { Database } from '../runtime/database.ts';
import { type Environment, INITIAL_ENVIRONMENT } from '../runtime/environment.ts';
import type { Kept } from '../runtime/kept.ts';
import { Member, type Names } from '../runtime/module.ts';
import type { Native } from '../runtime/native.ts';
import { INITIAL_STATE } from '../runtime/state.ts';
import type { Form } from '../syntax/forms.ts';
import { topLevelOf } from '../syntax/program.ts';
import type { Value } from '../values/values.ts';
import type { Coverage } from './coverage.ts';
import { CoveredEvaluator } from './covered-evaluator.ts';
import { type Expectation, type FailedDetails, type Measured, type TransactionGas, TYPED } from './result.ts';

/** The functions of the interactive interpreter, by their names. */
export type TestFunctions = ReadonlyMap<string, Native>;

interface RunOptions {
  readonly dialect: Dialect;
  /** Maximum number of evaluation steps of each top-level form; undefined for the evaluator's default. */
  readonly maxSteps: number | undefined;
  /** As `SessionOptions.stepsAdvice`. */
  readonly stepsAdvice: string | undefined;
  /** Counts the memory that the session keeps, in characters. */
  readonly kept: Kept;
  /** Counts the characters of expectations and notes. */
  readonly reported: Kept;
  /** Called from time to time while code runs. @throws RunEnded if the code must stop now */
  readonly look: (() => void) | undefined;
  /** As `SessionOptions.clock`. */
  readonly clock: (() => number) | undefined;
  /** The gas of transactions is added to this list; undefined if gas is counted only at the code's request. */
  readonly transactions: TransactionGas[] | undefined;
  /** As `SessionOptions.coverage`. */
  readonly coverage: Coverage | undefined;
  readonly makeFunctions: (run: TestRun, dialect: Dialect) => TestFunctions;
}

/** A transaction that `begin-tx` has begun. */
export interface TestTransaction {
  /** The number of transactions that were committed before it. */
  readonly number: number;
  /** The argument of `begin-tx`; undefined if there was none. */
  readonly name: string | undefined;
}

/** A proof that `mock-spv` has added. */
export interface MockProof {
  readonly type: string;
  readonly payload: Value;
  /** The result of `verify-spv` for this type and payload. */
  readonly output: Value;
}

/** A call of `load`. */
interface Load {
  readonly path: string;
  /** Whether a new `TestRun` replaces the present one before the file is loaded. */
  readonly reset: boolean;
}

export class TestRun {
  readonly evaluator: TreeEvaluator;
  /** The proofs that `mock-spv` has added, in order. */
  readonly proofs: MockProof[] = [];
  readonly expectations: Expectation[];
  /** As `FileResult.notes`. */
  readonly notes: Set<string>;
  readonly functions: TestFunctions;
  /** The flags that `env-exec-config` has set, in the spelling of its argument. */
  shownFlags: readonly string[] = [];
  /** The database, without the changes of a transaction that is open. */
  readonly #committed = new Database();
  readonly #options: RunOptions;
  readonly #dialect: Dialect;
  #environment: Environment;
  /** Number of transactions that were committed. */
  #number = 0;
  /** Whether modules and contract files (`.pact`) can use the functions of the interpreter. */
  #allowsInModules = false;
  /** The names of modules that an earlier transaction has loaded. */
  readonly #restored = new WeakSet<Names>();
  #transaction: TestTransaction | undefined;
  /** The gas used before the open transaction. */
  #gasBefore = 0n;
  #loads: Load[] = [];
  #printed: string[] = [];

  constructor(options: RunOptions, expectations: Expectation[] = [], notes = new Set<string>()) {
    const { dialect, maxSteps, stepsAdvice, makeFunctions, transactions, coverage } = options;
    this.#options = options;
    this.#dialect = dialect;
    this.expectations = expectations;
    this.notes = notes;
    const gas = transactions ? { gasModel: tableModel(), gasLimit: undefined } : { gasLimit: initialGasLimit(dialect) };
    this.#environment = { ...INITIAL_ENVIRONMENT, ...gas };
    this.functions = makeFunctions(this, dialect);
    const given = {
      dialect,
      natives: NATIVES,
      ...(maxSteps === undefined ? {} : { maxSteps }),
      stepsAdvice,
      testFunctions: this.functions,
      allowsTestFunctions: (names?: Names) =>
        this.#allowsInModules || (names !== undefined && !this.#restored.has(names)),
      kept: options.kept,
      note: (text: string) => this.note(text),
      look: options.look,
      environment: this.#environment,
      database: this.#committed,
    };
    this.evaluator = coverage ? new CoveredEvaluator(given, coverage) : new TreeEvaluator(given);
  }

  /** @returns a new state with an empty database, which continues the lists of expectations and notes */
  renewed(): TestRun {
    return new TestRun(this.#options, this.expectations, this.notes);
  }

  /**
   * The environment of the next top-level form. In dialect 4, the present form uses it only inside of
   * `with-applied-env`.
   */
  get environment(): Environment {
    return this.#environment;
  }

  /** Sets the environment of the next top-level form and, in dialect 5, also of the code that runs now. */
  set environment(environment: Environment) {
    this.#environment = environment;
    if (this.#dialect === 5) this.evaluator.environment = environment;
  }

  /**
   * Changes `environment`, for functions such as `env-hash`.
   * @param change the new values of some fields
   * @param answer the result of the function that makes the change
   * @returns `answer`
   */
  set(change: Partial<Environment>, answer: string): string {
    this.environment = { ...this.#environment, ...change };
    return answer;
  }

  /**
   * Evaluates a top-level form. If the form fails, its changes of the state and its calls of `load` are undone, and in
   * dialect 4 also its changes of the environment. Its changes of the database remain.
   */
  evaluate(form: Form): Value {
    const { evaluator } = this;
    const { state } = evaluator;
    evaluator.resetSteps();
    try {
      const tree = topLevelOf(form, this.#dialect);
      if (tree.kind === 'module') this.#options.coverage?.add(tree);
      const value = runTopLevel(evaluator, tree);
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
   * Begins a transaction. Dialect 4 resets the state, and first rolls back a transaction that is open.
   * @returns the number of the new transaction, which is the number of transactions committed before
   * @throws ContractError in dialect 5 if a transaction is open
   */
  begin(name: string | undefined): number {
    if (this.#transaction && this.#dialect === 5) throw new ContractError('eval', 'tx-function failure Begin Tx');
    this.#noteGas();
    this.#transaction = { number: this.#number, name };
    this.#gasBefore = this.evaluator.gas.used;
    this.evaluator.database = new Database(this.#committed);
    if (this.#dialect === 4) this.#reset();
    return this.#number;
  }

  /**
   * Ends the open transaction, if there is one. In any case, dialect 4 resets the state and the gas used, and dialect 5
   * the state without the functions and constants that are defined outside of modules.
   * @returns the transaction that has ended; undefined if none was open
   */
  end(how: 'commit' | 'rollback'): TestTransaction | undefined {
    const transaction = this.#transaction;
    this.#noteGas();
    if (this.#dialect === 4) {
      this.#reset();
      this.evaluator.gas.set(0n);
    } else this.evaluator.state = { ...INITIAL_STATE, imported: this.#definitions() };
    if (!transaction) return undefined;
    if (how === 'commit') {
      this.#committed.absorb(this.evaluator.database, BigInt(transaction.number));
      this.#number++;
    }
    this.evaluator.database = this.#committed;
    this.#transaction = undefined;
    return transaction;
  }

  /** @returns what is defined outside of modules; all other names that code can use are members of modules */
  #definitions(): ReadonlyMap<string, Value> {
    return new Map([...this.evaluator.state.imported].filter(([, value]) => !(value instanceof Member)));
  }

  /** Notes the gas of the open transaction, if gas is counted. */
  #noteGas(): void {
    if (!this.#transaction || !this.#options.transactions) return;
    const { name } = this.#transaction;
    this.#options.kept.addEntry([name ?? '']);
    this.#options.transactions.push({ name, gas: this.#gasSince(this.#gasBefore) });
  }

  /** @returns the gas used since it was `before`; 0 if code has set it to less */
  #gasSince(before: bigint): number {
    const { used } = this.evaluator.gas;
    return used > before ? Number(used - before) : 0;
  }

  /** Resets the state in dialect 4, which from now on reads each module from the database. */
  #reset(): void {
    for (const { names } of this.evaluator.database.modules.entries().values()) this.#restored.add(names);
    this.evaluator.state = INITIAL_STATE;
    this.evaluator.gas.endLog();
  }

  /** Requests that a file be loaded after the present form. @param reset whether a new `TestRun` runs the file */
  load(path: string, reset: boolean): void {
    this.#loads.push({ path, reset });
  }

  /** @returns the loads that were requested since the last call, in order */
  takeLoads(): readonly Load[] {
    const loads = this.#loads;
    this.#loads = [];
    return loads;
  }

  /** Requests that a text be printed after the present form. */
  print(text: string): void {
    this.#options.kept.addPrinted(text);
    this.#printed.push(text);
  }

  /** @returns the texts that `print` got since the last call, in order */
  takePrinted(): readonly string[] {
    const texts = this.#printed;
    this.#printed = [];
    return texts;
  }

  /**
   * Begins to measure an expectation.
   * @returns a function of its first argument that returns what was measured; nothing without a clock
   */
  measure(): (name: string) => Measured {
    const { clock } = this.#options;
    if (!clock) return () => ({});
    const transaction = this.#transaction?.name;
    const begun = clock();
    const before = this.evaluator.gas.used;
    return (name) => ({
      name,
      ...(transaction !== undefined && { transaction }),
      seconds: (clock() - begun) / 1000,
      ...(this.#options.transactions && { gas: this.#gasSince(before) }),
    });
  }

  /** Adds a sentence to `notes`. The same sentence is added only once. */
  note(text: string): void {
    if (!this.notes.has(text)) this.#report(text);
    this.notes.add(text);
  }

  /**
   * Adds the result of an expectation.
   * @param position of the call; undefined if it is not known
   * @param details what is measured, and what is to be said of an expectation that is not met
   */
  expectation(
    passed: boolean,
    text: string,
    position: Position | undefined,
    details: FailedDetails & Measured = {},
  ): void {
    const place = { file: position?.file ?? TYPED, position: position ?? { line: 0, column: 0, offset: 0 } };
    this.#report(text);
    this.expectations.push({ place, passed, text, ...details });
  }

  #report(text: string): void {
    this.#options.kept.addEntry([text]);
    this.#options.reported.add(text.length);
  }

  /** Sets whether modules and contract files (`.pact`) can use the functions of the interpreter. */
  allowInModules(allows: boolean): void {
    this.#allowsInModules = allows;
  }

  /** Removes all names from `State.imported`. */
  clearImports(): void {
    this.evaluator.state = { ...this.evaluator.state, imported: new Map() };
  }

  /** Makes the functions of the interpreter unknown to code, unless `allowInModules` has allowed them. */
  hideFunctions(): void {
    if (!this.#allowsInModules) this.evaluator.testFunctions = new Map();
  }

  /** Undoes `hideFunctions`. */
  showFunctions(): void {
    this.evaluator.testFunctions = this.functions;
  }
}
