/** What a session of the interactive interpreter takes and gives. */

import type { Dialect } from '../dialect.ts';
import type { Position } from '../errors.ts';

export interface Place {
  /** As the file was named to the session, or as it was loaded. */
  readonly file: string;
  readonly position: Position;
}

/** A test that has run. */
export interface Expectation {
  readonly place: Place;
  readonly passed: boolean;
  /** What the test function has returned, such as `Expect: success: doc`, or a text that begins with `FAILURE: `. */
  readonly text: string;
}

/** A top-level form that failed. */
export interface Failure {
  readonly place: Place | undefined;
  readonly message: string;
  /** The calls in which it happened, innermost first, each like ` at f.repl:3:2: (m.f 1)`. */
  readonly frames: readonly string[];
}

export interface FileResult {
  readonly file: string;
  /** Those of loaded files, too, in the order in which they ran. */
  readonly expectations: readonly Expectation[];
  /** The form that ended the run; undefined if the file has run to its end. */
  readonly error: Failure | undefined;
  /** What was not checked, each a sentence. */
  readonly notes: readonly string[];
}

export interface TextResult {
  /** The printed value of each top-level form. */
  readonly values: readonly string[];
  readonly expectations: readonly Expectation[];
  readonly error: Failure | undefined;
}

export interface SessionOptions {
  readonly dialect?: Dialect;
  /** @returns the text of a file @throws Error whose message says why there is none */
  readonly readFile: (path: string) => string;
  /** @param from the file in which the path stands @returns the path to read */
  readonly resolvePath: (from: string, path: string) => string;
  /** Gets the value of each top-level form of a file. */
  readonly onTrace?: (place: Place, text: string) => void;
  /** Gets what code prints. */
  readonly onPrint?: (text: string) => void;
}

/** A session as those who run one see it. */
export interface ContractSession {
  runFile(path: string): FileResult;
  /** Runs one input of a prompt. A failed form leaves the evaluation state as before it. */
  runText(text: string): TextResult;
  /** @returns the names for completion: native and REPL functions, modules, and members of loaded modules */
  names(): readonly string[];
}
