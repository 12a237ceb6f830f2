/** How messages of dialect 4 show values. */

import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import { typeText } from '../values/printing.ts';
import type { Value } from '../values/values.ts';
import type { Environment } from './environment.ts';

/** Since version 4.7, messages of nodes show types instead of values, and no list of failed calls. */
export function hidesValues({ isOnChain, flags }: Environment): boolean {
  return isOnChain && !flags.has('DisablePact47');
}

const MESSAGE_LENGTH = 50;

/** @returns the text of a value; if it has more than 50 characters, only the first 50 and `...` */
export function abbreviated(text: string): string {
  const all = Array.from(text);
  return all.length > MESSAGE_LENGTH ? `${all.slice(0, MESSAGE_LENGTH).join('')}...` : text;
}

/** Two beginnings of a message: one to be followed by a value, the other by the value's type. */
export type BeforeShown = readonly [value: string, type: string];

interface Shower {
  readonly dialect: Dialect;
  readonly environment: Environment;
  print(value: Value): string;
}

/**
 * @param print shows a value that is not hidden
 * @returns the beginning of the message, followed by the value or, if values are hidden, by its type
 */
export function shownValue(
  shower: Shower,
  value: Value,
  [beforeValue, beforeType]: BeforeShown,
  print = (shown: Value) => shower.print(shown),
): string {
  return hidesValues(shower.environment) ? `${beforeType}${typeText(value)}` : `${beforeValue}${print(value)}`;
}

/** @returns the failure of `if` and `cond` for a condition that is not a bool */
export function undecided(shower: Shower, value: Value, position?: Position): ContractError {
  const message =
    shower.dialect === 5
      ? `expected bool value, got ${shower.print(value)}`
      : `if: conditional not boolean${shownValue(shower, value, [': ', ', received value of type: '])}`;
  return new ContractError('eval', message, position);
}
