/** The interactive interpreter: runs files of tests, and input that is typed at a prompt. */

import { DEFAULT_DIALECT, type Dialect } from '../dialect.ts';
import { ContractError, type FailedCall, type Position } from '../errors.ts';
import { NATIVES } from '../natives/natives.ts';
import { Kept, RunEnded } from '../runtime/kept.ts';
import { readForms } from '../syntax/form-parser.ts';
import type { Form } from '../syntax/forms.ts';
import { printed } from '../values/printing.ts';
import type { Value } from '../values/values.ts';
import type { Coverage } from './coverage.ts';
import { testFunctions } from './functions/functions.ts';
import {
  type Failure,
  type FileResult,
  type Place,
  positionText,
  type TextResult,
  type TransactionGas,
  TYPED,
} from './result.ts';
import { TestRun } from './test-run.ts';

export interface SessionOptions {
  /** The dialect of all code in the session; `DEFAULT_DIALECT` by default. */
  readonly dialect?: Dialect | undefined;
  /** Maximum number of evaluation steps of each top-level form; `MAX_STEPS` by default. */
  readonly maxSteps?: number | undefined;
  /** A clause at the end of the error for too many steps: how the user can allow more. */
  readonly stepsAdvice?: string;
  /** Maximum memory that the session keeps, as a number of characters; `MAX_KEPT_CHARACTERS` by default. */
  readonly maxKept?: number;
  /**
   * The meter that counts the characters of expectations and notes. Several sessions can share one meter. By default,
   * the session makes a meter of its own.
   */
  readonly reported?: Kept;
  /**
   * Called before each top-level form, and from time to time while the form runs.
   * @returns the reason why the run must end now, as a clause; undefined if it may continue
   */
  readonly whyEnd?: () => string | undefined;
  /** @returns the time of a monotonic clock, in milliseconds. Without it, the time of expectations is not measured */
  readonly clock?: () => number;
  /** Whether the gas of expectations and transactions is counted, with the table model and without a limit. */
  readonly countsGas?: boolean;
  /** Gets what the code runs of modules; absent if that is not asked for. */
  readonly coverage?: Coverage | undefined;
  /** @returns the text of a file @throws Error if it cannot be read */
  readonly readFile: (path: string) => string;
  /** @param from path of the file that calls `load` @param path the argument of `load` @returns the path to read */
  readonly resolvePath: (from: string, path: string) => string;
  /** Called after each top-level form of a file, unless the form has failed. @param text the value of the form */
  readonly onTrace?: (place: Place, text: string) => void;
  /** Called with each text that code has printed, after the top-level form that printed it has ended. */
  readonly onPrint?: (text: string) => void;
}

/**
 * Maximum memory that a session keeps, as a number of characters. Rows, events, expectations and constants count with
 * their estimated memory. Printed texts count four times, and so do the texts of files, which become syntax trees.
 */
const MAX_KEPT_CHARACTERS = 2 ** 28;
/** Maximum number of characters of all expectations and notes together. Reports repeat these texts several times. */
const MAX_REPORTED_CHARACTERS = 2 ** 24;

/**
 * @param shared as for `Kept`
 * @returns a meter for the characters of expectations and notes, for `SessionOptions.reported`
 */
export function resultsMeter(shared?: Int32Array): Kept {
  return new Kept(MAX_REPORTED_CHARACTERS, 'the results have', shared);
}

/** The memory of a syntax tree for each character of its source, as a number of characters. */
const TREE = 4;

/** Maximum number of files in a chain in which each file loads the next one. */
export const MAX_LOAD_DEPTH = 100;
/**
 * Maximum number of files that one call of `runFile` or `runText` loads, including the file that `runFile` runs.
 * Without this maximum, a hundred files, each of which loads the next one twice, would cause 2^100 loads.
 */
export const MAX_LOADS = 10_000;

/** A session of the interpreter. Its state, such as the database, remains from one file or input to the next. */
export class Session {
  readonly #options: SessionOptions;
  readonly #dialect: Dialect;
  readonly #kept: Kept;
  #run: TestRun;
  /** Number of files that the present call of `runFile` or `runText` has loaded so far. */
  #loads = 0;
  /** The gas of all transactions; undefined if gas is not counted. */
  readonly #transactions: TransactionGas[] | undefined;
  /** The place of the top-level form that has begun last in the present call of `runFile` or `runText`. */
  #at: Place | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#dialect = options.dialect ?? DEFAULT_DIALECT;
    const { maxSteps, stepsAdvice, maxKept = MAX_KEPT_CHARACTERS, reported = resultsMeter() } = options;
    const { whyEnd, clock, coverage } = options;
    if (options.countsGas) this.#transactions = [];
    this.#kept = new Kept(maxKept, 'the session keeps');
    this.#run = new TestRun({
      dialect: this.#dialect,
      maxSteps,
      stepsAdvice,
      makeFunctions: testFunctions,
      kept: this.#kept,
      reported,
      look: whyEnd && (() => this.#look()),
      clock,
      transactions: this.#transactions,
      coverage,
    });
  }

  /** Runs a file. @returns the expectations and the error of this file, and the notes of the whole session */
  runFile(path: string): FileResult {
    const before = this.#run.expectations.length;
    const done = this.#transactions?.length;
    const error = this.#caught(path, () => this.#load(path, 0));
    const { expectations, notes } = this.#run;
    const transactions = this.#transactions && { transactions: this.#transactions.slice(done) };
    return { file: path, expectations: expectations.slice(before), error, notes: [...notes], ...transactions };
  }

  /**
   * Runs typed input. If a form fails, its changes of the state are undone, its changes of the database remain, and the
   * forms after it do not run.
   */
  runText(text: string): TextResult {
    const before = this.#run.expectations.length;
    const values: string[] = [];
    const error = this.#caught(TYPED, () => {
      for (const form of readForms(text, this.#dialect)) {
        const value = this.#runForm(form, TYPED, 0);
        values.push(printed(value, { dialect: this.#dialect }));
      }
    });
    return { values, expectations: this.#run.expectations.slice(before), error };
  }

  /**
   * @returns the names of the natives of both dialects, the functions of the interpreter, imports, modules, and members
   *   of all modules
   */
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

  /**
   * Runs all forms of a file.
   * @param depth number of files before this one in the chain in which each file loads the next one
   * @param loadedAt position of the form that loads the file, for errors; undefined if `runFile` loads it
   * @throws ContractError if a form fails, or if the file cannot be loaded
   */
  #load(path: string, depth: number, loadedAt?: Position): void {
    if (depth === MAX_LOAD_DEPTH) {
      throw new ContractError('eval', `More than ${MAX_LOAD_DEPTH} files load each other`, loadedAt);
    }
    if (this.#loads++ === MAX_LOADS) {
      throw new ContractError('eval', `More than ${MAX_LOADS} files are loaded`, loadedAt);
    }
    const isContract = path.endsWith('.pact');
    if (isContract) this.#run.clearImports();
    for (const form of readForms(this.#textOf(path, loadedAt), this.#dialect, path)) {
      // As on a node, contract files cannot use the functions of the interpreter.
      if (isContract) this.#run.hideFunctions();
      const value = this.#runForm(form, path, depth);
      this.#run.showFunctions();
      const text = typeof value === 'string' ? value : printed(value, { dialect: this.#dialect });
      if (!this.#options.onTrace) continue;
      this.#kept.addPrinted(text);
      this.#options.onTrace({ file: path, position: form.position }, text);
    }
  }

  /** @returns the text of a file @throws ContractError if it cannot be read; RunEnded if the session keeps too much */
  #textOf(path: string, loadedAt: Position | undefined): string {
    try {
      const text = this.#options.readFile(path);
      this.#kept.add(TREE * text.length);
      return text;
    } catch (error) {
      if (error instanceof RunEnded) throw error;
      const why = error instanceof Error ? error.message : `${error}`;
      throw new ContractError('eval', `load: file load failed: ${path}, ${why}`, loadedAt);
    }
  }

  /**
   * Runs a top-level form, and then loads the files for which the form has called `load`.
   * @param depth number of files before the form's file in the chain in which each file loads the next one
   */
  #runForm(form: Form, file: string, depth: number): Value {
    const run = this.#run;
    this.#at = { file, position: form.position };
    this.#look();
    const value = this.#evaluate(form);
    for (const { path, reset } of run.takeLoads()) {
      if (reset) this.#run = run.renewed();
      this.#load(this.#options.resolvePath(file, path), depth + 1, form.position);
    }
    return value;
  }

  /** @throws RunEnded if the run must end now */
  #look(): void {
    const why = this.#options.whyEnd?.();
    if (why !== undefined) throw new RunEnded(why);
  }

  /** Evaluates a top-level form. Calls `onPrint` with the texts that the form has printed, even if the form fails. */
  #evaluate(form: Form): Value {
    const run = this.#run;
    try {
      return run.evaluate(form);
    } finally {
      for (const text of run.takePrinted()) this.#options.onPrint?.(text);
    }
  }

  /** Runs the action. @returns its failure; undefined if it has not failed */
  #caught(file: string, action: () => void): Failure | undefined {
    this.#loads = 0;
    this.#at = undefined;
    try {
      action();
      return undefined;
    } catch (fault) {
      if (!(fault instanceof ContractError) && !(fault instanceof RunEnded)) throw fault;
      this.#run.showFunctions();
      if (fault instanceof ContractError) return failureOf(fault, file);
      return { place: this.#at, message: `The run has ended: ${fault.message}`, frames: [] };
    }
  }
}

/** @param file the path to return for a position without a file */
function failureOf({ message, position, calls, subject }: ContractError, file: string): Failure {
  const place = position && { file: position.file ?? file, position };
  return { place, message, ...(subject !== undefined && { subject }), frames: calls.map(frameText) };
}

/** @returns the text of a call that the failure has passed through: `f.repl:3:2: (m.f 1)` */
function frameText({ position, text }: FailedCall): string {
  return position ? `${positionText(position)}: ${text}` : text;
}
