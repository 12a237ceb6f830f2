/** Talks to the interpreter. */

import type { Dialect } from '#pickaxe/contract/dialect.js';
import { Session } from '#pickaxe/contract/repl/session.js';

/** A session without files. */
export function newSession(dialect: Dialect): Session {
  const readFile = (path: string) => {
    throw new Error(`There is no file ${path}`);
  };
  return new Session({ dialect, readFile, resolvePath: (_, path) => path });
}

/** @returns what the last input prints, or its failure. All others must not fail */
export function dialogue(dialect: Dialect, inputs: readonly string[]): string | undefined {
  const session = newSession(dialect);
  const results = inputs.map((input) => session.runText(input));
  const failed = results.slice(0, -1).find(({ error }) => error);
  if (failed) throw new Error(failed.error?.message);
  const last = results[results.length - 1];
  return last.error?.message ?? last.values.at(-1);
}
