/** The parts of error messages that show values. */

import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import { typeText } from '../values/printing.ts';
import type { Value } from '../values/values.ts';
import type { Environment } from './environment.ts';

/**
 * Whether error messages hide values. Since version 4.7 of the language, messages of nodes show types instead of
 * values, and errors of nodes have no list of failed calls.
 */
export function hidesValues({ isOnChain, flags }: Environment): boolean {
  return isOnChain && !flags.has('DisablePact47');
}

/** Maximum number of characters of a text in a message, without `...`. */
const MESSAGE_LENGTH = 50;

/** @returns the text; if it has more than 50 characters, only the first 50 of them and `...` */
export function abbreviated(text: string): string {
  const all = Array.from(text);
  return all.length > MESSAGE_LENGTH ? `${all.slice(0, MESSAGE_LENGTH).join('')}...` : text;
}

/** Two beginnings of a message: the first for a message that ends with a value, the second for one with a type. */
export type BeforeShown = readonly [value: string, type: string];

interface Shower {
  readonly dialect: Dialect;
  readonly environment: Environment;
  print(value: Value): string;
}

/**
 * @param print returns the text of a value that is not hidden; `shower.print` by default
 * @returns the text before the value, and the value; if values are hidden, the text before the type, and the type
 */
export function shownValue(
  shower: Shower,
  value: Value,
  [beforeValue, beforeType]: BeforeShown,
  print = (shown: Value) => shower.print(shown),
): string {
  return hidesValues(shower.environment)
    ? `${beforeType}${typeText(value, shower.dialect)}`
    : `${beforeValue}${print(value)}`;
}

/** @returns the error of `if` or `cond` for a condition whose value is not a bool */
export function undecided(shower: Shower, value: Value, position?: Position): ContractError {
  const message =
    shower.dialect === 5
      ? `expected bool value, got ${shower.print(value)}`
      : `if: conditional not boolean${shownValue(shower, value, [': ', ', received value of type: '])}`;
  return new ContractError('eval', message, position);
}
