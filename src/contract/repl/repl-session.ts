/** The interactive interpreter: runs test files and typed input. */

import { DEFAULT_DIALECT, type Dialect } from '../dialect.ts';
import { ContractError, type FailedCall, type Position } from '../errors.ts';
import { NATIVES } from '../natives/natives.ts';
import { Kept, RunEnded } from '../runtime/kept.ts';
import { readForms } from '../syntax/form-parser.ts';
import type { Form } from '../syntax/forms.ts';
import { printed } from '../values/printing.ts';
import type { Value } from '../values/values.ts';
import { testFunctions } from './functions/functions.ts';
import { type Failure, type FileResult, type Place, positionText, type TextResult, TYPED } from './result.ts';
import { TestRun } from './test-run.ts';

export interface SessionOptions {
  /** 4 by default. */
  readonly dialect?: Dialect;
  /** Maximum number of steps of each top-level form; `MAX_STEPS` by default. */
  readonly maxSteps?: number | undefined;
  /** Maximum number of characters that the session keeps; `MAX_KEPT_CHARACTERS` by default. */
  readonly maxKept?: number;
  /** Counts the characters of results. Several sessions can share one meter; by default, each session has its own. */
  readonly reported?: Kept;
  /** Called before each form and while it runs. @returns the reason to stop now, as a clause; undefined to go on */
  readonly whyEnd?: () => string | undefined;
  /** @returns the text of a file @throws Error if it cannot be read */
  readonly readFile: (path: string) => string;
  /** @returns the path of a file that another file loads */
  readonly resolvePath: (from: string, path: string) => string;
  /** Called with the value of every top-level form of a file. */
  readonly onTrace?: (place: Place, text: string) => void;
  /** Called with each printed text. */
  readonly onPrint?: (text: string) => void;
}

/**
 * Maximum number of characters that a session keeps: texts, and estimates for rows, events, expectations and constants.
 * Printed texts and the texts of files, which become trees, count four times.
 */
const MAX_KEPT_CHARACTERS = 2 ** 28;
/** Maximum number of characters of the expectations and notes of a run. Reports repeat these texts several times. */
const MAX_REPORTED_CHARACTERS = 2 ** 24;

/** @returns a meter for the characters of results */
export function resultsMeter(): Kept {
  return new Kept(MAX_REPORTED_CHARACTERS, 'the results have');
}

/** Characters of memory that a syntax tree takes for each character of source text. */
const TREE = 4;

/** Maximum depth of files that load each other. */
export const MAX_LOAD_DEPTH = 100;
/** Maximum number of loads by one file or input. A hundred files can load each other 2^100 times. */
export const MAX_LOADS = 10_000;

export class Session {
  readonly #options: SessionOptions;
  readonly #dialect: Dialect;
  readonly #kept: Kept;
  #run: TestRun;
  /** Number of files loaded so far by the present `runFile` or `runText`. */
  #loads = 0;
  /** The place of the form that runs. */
  #at: Place | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#dialect = options.dialect ?? DEFAULT_DIALECT;
    const { maxSteps, maxKept = MAX_KEPT_CHARACTERS, reported = resultsMeter(), whyEnd } = options;
    this.#kept = new Kept(maxKept, 'the session keeps');
    this.#run = new TestRun({
      dialect: this.#dialect,
      maxSteps,
      makeFunctions: testFunctions,
      kept: this.#kept,
      reported,
      look: whyEnd && (() => this.#look()),
    });
  }

  /** Runs a file in the state that earlier files and inputs have left. */
  runFile(path: string): FileResult {
    const before = this.#run.expectations.length;
    const error = this.#caught(path, () => this.#load(path, 0));
    const { expectations, notes } = this.#run;
    return { file: path, expectations: expectations.slice(before), error, notes: [...notes] };
  }

  /** Runs typed input. A failed form's changes of the state are undone, but not its changes of the database. */
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

  /** @returns the names that code can use now: natives, functions of the interpreter, modules and their members */
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

  /** @param loadedAt position of the form that loads the file, for failures */
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

  /** Runs a form, then loads the files that the form has requested. */
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

  /** Evaluates a form, and passes on the texts that it has printed, even if the form fails. */
  #evaluate(form: Form): Value {
    const run = this.#run;
    try {
      return run.evaluate(form);
    } finally {
      for (const text of run.takePrinted()) this.#options.onPrint?.(text);
    }
  }

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

function failureOf({ message, position, calls }: ContractError, file: string): Failure {
  const place = position && { file: position.file ?? file, position };
  return { place, message, frames: calls.map(frameText) };
}

/** @returns a line for a failed call: `f.repl:3:2: (m.f 1)` */
function frameText({ position, text }: FailedCall): string {
  return position ? `${positionText(position)}: ${text}` : text;
}
