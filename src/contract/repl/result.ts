/** The results of the interactive interpreter. */

import type { Position } from '../errors.ts';

/** The file name of typed input. */
export const TYPED = '<interactive>';

/** @returns `FILE:LINE:COLUMN`. Lines count from 1, but the first line of typed input has the number 0 */
export function positionText({ file, line, column }: Position): string {
  if (file !== undefined) return `${file}:${line}:${column}`;
  return `${TYPED}:${line === 1 ? 0 : line}:${column}`;
}

export interface Place {
  readonly file: string;
  readonly position: Position;
}

/** The result of `expect`, `expect-failure` or `expect-that`. */
export interface Expectation {
  readonly place: Place;
  readonly passed: boolean;
  /** `Expect: success: doc`, or `FAILURE: doc: …`. */
  readonly text: string;
}

/** The failure of a top-level form, which ends the run of a file. */
export interface Failure {
  readonly place: Place | undefined;
  readonly message: string;
  /** The calls that the failure has passed through, the innermost first: `f.repl:3:2: (m.f 1)`. */
  readonly frames: readonly string[];
}

export interface FileResult {
  readonly file: string;
  readonly expectations: readonly Expectation[];
  readonly error: Failure | undefined;
  /** Texts that name the checks, such as those of types, that the run has skipped. */
  readonly notes: readonly string[];
}

/** The result of one input of the prompt. */
export interface TextResult {
  /** The printed values of all forms that did not fail. */
  readonly values: readonly string[];
  readonly expectations: readonly Expectation[];
  readonly error: Failure | undefined;
}
