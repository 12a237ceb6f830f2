/** What the functions of the interactive interpreter change. */

import type { Position } from '../errors.ts';
import type { Evaluator } from '../evaluator/evaluator.ts';
import type { Database } from '../runtime/database.ts';
import type { Environment } from '../runtime/environment.ts';
import type { Value } from '../values/values.ts';

export interface TestRun {
  readonly evaluator: Evaluator;
  /** What the environment will be behind this form. Code of dialect 4 sees it only then, or in `with-applied-env`. */
  environment: Environment;
  /** Begins a transaction. One that is open is rolled back in dialect 4. @returns its number, from 0 */
  begin(name: string | undefined): number;
  /** Ends the transaction. @returns undefined if none is open */
  end(how: 'commit' | 'rollback'): { readonly number: number; readonly name: string | undefined } | undefined;
  /** Runs a file behind this form. */
  load(file: string, reset: boolean): void;
  /** Prints a value behind this form. */
  print(text: string): void;
  /** Notes what was not checked. */
  note(text: string): void;
  expectation(passed: boolean, text: string, position: Position | undefined): void;
  /** Lets code of modules use the functions of the interpreter, or not. */
  allowInModules(allows: boolean): void;
  /** What `verify-spv` answers: the output by type and payload. */
  readonly proofs: { readonly type: string; readonly payload: Value; readonly output: Value }[];
  /** The database, apart from the changes of the transaction. */
  readonly committed: Database;
}
