/** Sends typed inputs to the interpreter. */

import type { Dialect } from '#pickaxe/contract/dialect.js';
import { Session } from '#pickaxe/contract/repl/repl-session.js';

/** The texts of files by their names. */
type Files = Readonly<Record<string, string>>;

export function newSession(dialect: Dialect, files: Files = {}, maxSteps?: number): Session {
  const readFile = (path: string) => {
    if (!Object.hasOwn(files, path)) throw new Error(`There is no file ${path}`);
    return files[path];
  };
  return new Session({ dialect, maxSteps, readFile, resolvePath: (_, path) => path });
}

/** The result of an input: what it prints, or the message of its failure. */
export type Outcome = { prints: string | undefined } | { fails: string };

/** @returns the result of the last input @throws Error if an earlier input fails */
export function outcome(dialect: Dialect, inputs: readonly string[], files: Files = {}, maxSteps?: number): Outcome {
  const session = newSession(dialect, files, maxSteps);
  const results = inputs.map((input) => session.runText(input));
  const failed = results.slice(0, -1).find(({ error }) => error);
  if (failed) throw new Error(failed.error?.message);
  const { error, values } = results[results.length - 1];
  return error ? { fails: error.message } : { prints: values.at(-1) };
}

/** @returns what the last input prints, or the message of its failure @throws Error if an earlier input fails */
export function lastOf(
  dialect: Dialect,
  inputs: readonly string[],
  files: Files = {},
  maxSteps?: number,
): string | undefined {
  const last = outcome(dialect, inputs, files, maxSteps);
  return 'fails' in last ? last.fails : last.prints;
}

export interface Dialogue {
  /** @returns what the interpreter prints for the last form @throws Error with the message of a failure */
  say: (code: string) => string;
  /** @returns the message of the failure @throws Error if nothing fails */
  fault: (code: string) => string;
}

export function dialogue(dialect: Dialect = 4, ...before: readonly string[]): Dialogue {
  const session = newSession(dialect);
  const say = (code: string): string => {
    const { values, error } = session.runText(code);
    if (error) throw new Error(error.message);
    return values.at(-1) ?? '';
  };
  const fault = (code: string): string => {
    const { values, error } = session.runText(code);
    if (!error) throw new Error(`${code} has not failed, but given ${values.at(-1)}`);
    return error.message;
  };
  for (const code of before) say(code);
  return { say, fault };
}
