/** What the interactive interpreter returns after it has run a file or typed input. */

import type { Position } from '../errors.ts';

/** The name of typed input in places, instead of the name of a file. */
export const TYPED = '<interactive>';

/** @returns `FILE:LINE:COLUMN`. The first line is 1 in a file and 0 in typed input. The first column is 0 */
export function positionText({ file, line, column }: Position): string {
  if (file !== undefined) return `${file}:${line}:${column}`;
  return `${TYPED}:${line === 1 ? 0 : line}:${column}`;
}

export interface Place {
  /** The file's path; `TYPED` for typed input. */
  readonly file: string;
  readonly position: Position;
}

/** The result of a call of `expect`, `expect-failure` or `expect-that`. */
export interface Expectation {
  readonly place: Place;
  readonly passed: boolean;
  /** The value of the call, such as `Expect: success: DOC` or `FAILURE: DOC: …`. DOC is the first argument. */
  readonly text: string;
  /** The printed values that `expect` has found different. */
  readonly values?: { readonly expected: string; readonly received: string };
  /** As `Failure.subject`, if an argument has failed. */
  readonly subject?: string | undefined;
  /** Where an argument has failed, if that is in a file. */
  readonly cause?: Place;
  /** The first argument, which the texts of some failures do not have. */
  readonly name?: string;
  /** The name of the transaction in which it was; undefined outside of one, and if the transaction has none. */
  readonly transaction?: string | undefined;
  /** The time that it took. */
  readonly seconds?: number;
  /** The gas that it took, if it is counted. */
  readonly gas?: number;
}

/** What an expectation that is not met says beside its text. */
export type FailedDetails = Pick<Expectation, 'values' | 'subject' | 'cause'>;

/** What is measured of an expectation, if the session has a clock. */
export type Measured = Pick<Expectation, 'name' | 'transaction' | 'seconds' | 'gas'>;

/** The gas of a transaction, from `begin-tx` to its end. */
export interface TransactionGas {
  readonly name: string | undefined;
  readonly gas: number;
}

/** Why the run of a file or input has ended early: a form has failed, a file cannot be read, or a limit is reached. */
export interface Failure {
  /** The place of the fault; undefined if it is not known. */
  readonly place: Place | undefined;
  readonly message: string;
  /** What a message about a type is about: `the result of m.f`; absent if it is not known. */
  readonly subject?: string | undefined;
  /** Texts of the calls that the failure has passed through, the innermost call first: `f.repl:3:2: (m.f 1)`. */
  readonly frames: readonly string[];
}

/** The result of running a file. */
export interface FileResult {
  readonly file: string;
  readonly expectations: readonly Expectation[];
  readonly error: Failure | undefined;
  /** Sentences about the calls of `typecheck` and `verify`, which check nothing in this interpreter. */
  readonly notes: readonly string[];
  /** The transactions that have ended, if gas is counted. */
  readonly transactions?: readonly TransactionGas[];
}

/** The result of running typed input. */
export interface TextResult {
  /** The printed values of the forms, in order. If a form has failed, only the forms before it have values here. */
  readonly values: readonly string[];
  readonly expectations: readonly Expectation[];
  readonly error: Failure | undefined;
}
