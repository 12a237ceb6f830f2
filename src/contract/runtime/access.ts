/** The rights of code to read and write tables, depending on where it runs. */

import { ContractError } from '../errors.ts';
import type { Evaluator } from './native.ts';
import type { TableAccess } from './state.ts';

const ORDER: readonly TableAccess[] = ['none', 'read', 'write'];

/** Runs an action with this access to tables, or with the access of the code around it if that is narrower. */
export function limited<T>(evaluator: Evaluator, access: TableAccess, action: () => T): T {
  const { access: outer } = evaluator.context;
  const narrower = ORDER.indexOf(outer) < ORDER.indexOf(access) ? outer : access;
  return evaluator.within({ access: narrower }, action);
}

/**
 * @param operation the operation's name in messages of dialect 4
 * @throws ContractError unless the code has this access
 */
export function requireAccess(evaluator: Evaluator, access: TableAccess, operation: string): void {
  const { context, dialect } = evaluator;
  if (ORDER.indexOf(context.access) >= ORDER.indexOf(access)) return;
  if (dialect === 4) throw new ContractError('eval', `Illegal database access attempt (${operation})`);
  throw databaseFault('Operation disallowed in read-only or sys-only mode');
}

/**
 * @param native the name of a native that may be limited to local queries, in messages of dialect 5
 * @throws ContractError with the flag `DisableHistoryInTransactionalMode`
 */
export function requireLocal({ environment, dialect }: Evaluator, native: string): void {
  if (!environment.flags.has('DisableHistoryInTransactionalMode')) return;
  const message = 'Operation only permitted in local execution mode';
  throw new ContractError('eval', dialect === 4 ? message : `${message}: ${native}`);
}

/** @returns a failure of the database, with the message of dialect 5 */
export function databaseFault(message: string): ContractError {
  return new ContractError('db', `Error during database operation: ${message}`);
}
