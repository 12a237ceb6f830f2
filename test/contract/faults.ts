/** Failures of contract code, for tests. */

import { expect } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { ContractError, type ErrorKind } from '#pickaxe/contract/errors.js';
import { printedValue } from './evaluate.ts';

/**
 * @returns the ContractError that the action throws
 * @throws Error if it does not fail, and every other error of the action
 */
export function faultOf(action: () => unknown): ContractError {
  try {
    action();
  } catch (fault) {
    if (fault instanceof ContractError) return fault;
    throw fault;
  }
  throw new Error('Nothing has failed');
}

export function messageOf(action: () => unknown): string {
  return faultOf(action).message;
}

/** @returns the failure of an expression */
export function faultOfCode(code: string, dialect?: Dialect, maxSteps?: number): ContractError {
  return faultOf(() => printedValue(code, dialect, maxSteps));
}

/** Expects that an expression fails. */
export function expectFault(
  code: string,
  dialect: Dialect,
  message: string,
  kind: ErrorKind = 'eval',
  maxSteps?: number,
): void {
  expect(faultOfCode(code, dialect, maxSteps)).toMatchObject({ kind, message });
}
