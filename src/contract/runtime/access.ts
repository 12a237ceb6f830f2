/** Limits and checks the access of running code to tables. */

import { ContractError } from '../errors.ts';
import type { Evaluator } from './native.ts';
import type { TableAccess } from './state.ts';

const ORDER: readonly TableAccess[] = ['none', 'read', 'write'];

/** Runs an action with the given access to tables. If the present access is narrower, it remains. */
export function limited<T>(evaluator: Evaluator, access: TableAccess, action: () => T): T {
  const { access: outer } = evaluator.context;
  const narrower = ORDER.indexOf(outer) < ORDER.indexOf(access) ? outer : access;
  return evaluator.within({ access: narrower }, action);
}

/**
 * @param operation the name of the database operation, for the message of dialect 4
 * @throws ContractError if the running code does not have this access
 */
export function requireAccess(evaluator: Evaluator, access: TableAccess, operation: string): void {
  const { context, dialect } = evaluator;
  if (ORDER.indexOf(context.access) >= ORDER.indexOf(access)) return;
  if (dialect === 4) throw new ContractError('eval', `Illegal database access attempt (${operation})`);
  throw databaseFault('Operation disallowed in read-only or sys-only mode');
}

/**
 * Refuses a native in commands that pay for their gas. Nodes set the flag `DisableHistoryInTransactionalMode` for these
 * commands, but not for commands of `/local` without a preflight.
 * @param native the name of the native, for the message of dialect 5
 * @throws ContractError if the flag `DisableHistoryInTransactionalMode` is set
 */
export function requireLocal({ environment, dialect }: Evaluator, native: string): void {
  if (!environment.flags.has('DisableHistoryInTransactionalMode')) return;
  const message = 'Operation only permitted in local execution mode';
  throw new ContractError('eval', dialect === 4 ? message : `${message}: ${native}`);
}

/** @returns the error with dialect 5's message for a fault of the database */
export function databaseFault(message: string): ContractError {
  return new ContractError('db', `Error during database operation: ${message}`);
}
