/** Runs inputs one after another, as somebody types them. */

import type { Dialect } from '#pickaxe/contract/dialect.js';
import { Session } from '#pickaxe/contract/repl/session.js';

export interface Dialogue {
  /** @returns what the interpreter prints for the last form. @throws Error with the message of a failure */
  say: (code: string) => string;
  /** @returns the message of the failure. @throws Error if there is none */
  fault: (code: string) => string;
}

export function dialogue(dialect: Dialect = 4, ...before: readonly string[]): Dialogue {
  const readFile = (path: string) => {
    throw new Error(`There is no file ${path}`);
  };
  const session = new Session({ dialect, readFile, resolvePath: (_, path) => path });
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
