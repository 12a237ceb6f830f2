/** What comes out of a run of the interactive interpreter. */

import type { Position } from '../errors.ts';

/** The name of what somebody types, for places in it. */
export const TYPED = '<interactive>';

/** @returns `FILE:LINE:COLUMN`. The first line of what somebody types counts as 0, and lines of files from 1 */
export function positionText({ file, line, column }: Position): string {
  if (file !== undefined) return `${file}:${line}:${column}`;
  return `${TYPED}:${line === 1 ? 0 : line}:${column}`;
}

export interface Place {
  readonly file: string;
  readonly position: Position;
}

/** What `expect`, `expect-failure` or `expect-that` has found. */
export interface Expectation {
  readonly place: Place;
  readonly passed: boolean;
  /** `Expect: success: doc`, or `FAILURE: doc: …`. */
  readonly text: string;
}

/** Code outside of all brackets that has failed, which ends the run of a file. */
export interface Failure {
  readonly place: Place | undefined;
  readonly message: string;
  /** The calls through which the failure came, the innermost first: `f.repl:3:2: (m.f 1)`. */
  readonly frames: readonly string[];
}

export interface FileResult {
  readonly file: string;
  readonly expectations: readonly Expectation[];
  readonly error: Failure | undefined;
  /** What the run did not check, such as types. */
  readonly notes: readonly string[];
}

/** What came out of one input of the prompt. */
export interface TextResult {
  /** The printed values of all forms that did not fail. */
  readonly values: readonly string[];
  readonly expectations: readonly Expectation[];
  readonly error: Failure | undefined;
}
