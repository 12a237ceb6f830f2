/** Pure functions that say what was probably meant where contract code has failed. */

import { meant } from '../../../app/config/known-names.ts';
import type { Failure, Place } from '../../../contract/repl/result.ts';
import { closingOf, unclosedIn } from '../unfinished.ts';

/** A sentence about a failure, and the place at which a reader should look. */
export interface Hint {
  readonly text: string;
  readonly place: Place;
}

/** Matches the messages for unknown names, in both dialects, at the end of a text. */
const UNKNOWN = /(?:Cannot resolve|Unbound variable) "?([^\s"]+)"?$/;
/** Matches the messages for a missing bracket, in both dialects. */
const UNCLOSED = /^(?:error: expected: "[)\]}]"|Expected: \['[)\]}]'\])/;
/** Matches the names in the source of contract code. */
const NAMES = /[\p{L}%#+\-_&$@<>=^?*!|/~][\p{L}\d%#+\-_&$@<>=^?*!|/~]*/gu;

/**
 * @param message of an error, or the text of a failed expectation
 * @param names the names that the session knows
 * @param source the text of the file in which the unknown name stands, whose variables may be meant as well
 */
export function nameHint(message: string, names: readonly string[], source: string): string | undefined {
  const [, unknown] = UNKNOWN.exec(message.trimEnd()) ?? [];
  // Every other name of one letter would be as similar.
  if (unknown === undefined || unknown.length === 1) return undefined;
  const written = source.match(NAMES) ?? [];
  const groups = [names, written].map((group) => {
    const others = group.filter((name) => name !== unknown);
    return new Map(others.map((name): [string, readonly string[]] => [name, []]));
  });
  const nearest = meant(unknown, ...groups);
  return nearest === undefined ? undefined : `did you mean ${nearest}?`;
}

/** @returns what to say of a bracket that lacks its end, at its place; undefined for any other failure */
export function bracketHint({ message, place }: Failure, source: string): Hint | undefined {
  if (place === undefined || !UNCLOSED.test(message)) return undefined;
  const unclosed = unclosedIn(source, place.position.offset);
  // Both dialects have the same message for a form with too many parts, which is closed.
  if (unclosed === undefined || ![undefined, ')', ']', '}'].includes(source[place.position.offset])) return undefined;
  const { offset, isGuess } = unclosed;
  const before = source.slice(0, offset).split('\n');
  const position = { line: before.length, column: Array.from(before.at(-1) ?? '').length, offset };
  const bracket = source[offset];
  const text = `${isGuess ? 'perhaps ' : ''}this ${bracket} lacks its ${closingOf(bracket)}`;
  return { text, place: { file: place.file, position } };
}
