/** The hashes of modules and interfaces. */

import { newSession } from './dialogue.ts';

/** @returns the hash that the interpreter of dialect 5 prints for the last input, a module or an interface */
export function hashOf5(...inputs: readonly string[]): string {
  const session = newSession(5);
  const results = inputs.map((input) => session.runText(input));
  const [, hash] = /, hash ([\w-]{43})"$/.exec(results.at(-1)?.values.at(-1) ?? '') ?? [];
  if (hash === undefined) throw new Error(results.map(({ error }) => error?.message).join(' '));
  return hash;
}
