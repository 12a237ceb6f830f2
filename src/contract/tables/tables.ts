/** Reads and writes tables. Only code of a table's module may do so, and code with the module's governance. */

import { callingModule, requireModuleRights } from '../capabilities/guards.ts';
import { ContractError } from '../errors.ts';
import { databaseFault, requireAccess } from '../runtime/access.ts';
import type { LoggedWrite } from '../runtime/database.ts';
import type { Layered } from '../runtime/layered.ts';
import { requireModule } from '../runtime/lookup.ts';
import type { Table } from '../runtime/module.ts';
import type { Evaluation } from '../runtime/native.ts';
import {
  CHARACTERS_PER_STEP,
  type ContractObject,
  compareTexts,
  type StorableObject,
  sortedObject,
} from '../values/values.ts';
import { checkRow, rowOf } from './rows.ts';

/** `insert` makes a new row, `update` changes columns of an existing one, and `write` does either. */
export type WriteMode = 'insert' | 'update' | 'write';

/* Rights. */

/** @throws ContractError unless the running code may use the table, and its version of the module is still accepted */
function requireRights(evaluation: Evaluation, { module }: Table): void {
  requireModuleRights(evaluation, module);
  // In dialect 4, code with the module's governance may use the tables of all its versions.
  if (evaluation.dialect === 4 && callingModule(evaluation)?.name.text !== module.name.text) return;
  const { hash, blessed, name } = requireModule(evaluation, module.name);
  if (hash === module.hash || blessed.has(module.hash)) return;
  const message = `Execution aborted, hash not blessed for module ${name.text}: ${module.hash}`;
  throw new ContractError('eval', message);
}

function requireReadingRights(evaluation: Evaluation, table: Table): void {
  if (!evaluation.environment.flags.has('AllowReadInLocal')) requireRights(evaluation, table);
}

/* Tables. */

/** @throws ContractError if the table exists already */
export function createTable(evaluation: Evaluation, table: Table): void {
  requireRights(evaluation, table);
  evaluation.gas.createTable(table.name);
  requireAccess(evaluation, 'write', 'createUserTable');
  if (evaluation.database.createTable(table.name)) return;
  if (evaluation.dialect === 5) throw databaseFault(`Table ${table.name} already exists`);
  throw new ContractError('db', `Insert: value already at key: ${table.name}`);
}

/** @param operation its name in messages of dialect 4 @returns the rows by their keys */
function requireTable(evaluation: Evaluation, table: Table, operation: string): Layered<StorableObject> {
  const rows = evaluation.database.table(table.name);
  if (rows) return rows;
  if (evaluation.dialect === 5) throw databaseFault(`Table ${table.name} not found`);
  throw new ContractError('db', `${operation}: no such table: ${nameInLog(table)}`);
}

/** @returns the table's name in the natives `txlog` and `keylog`, and in database messages of dialect 4 */
export function nameInLog({ name }: Table): string {
  return `USER_${name}`;
}

/* Reading. */

/** @param native the reading native @returns undefined if there is no such row */
export function readRow(evaluation: Evaluation, table: Table, key: string, native: string): StorableObject | undefined {
  requireReadingRights(evaluation, table);
  return rowAt(evaluation, table, key, native);
}

function rowAt(evaluation: Evaluation, table: Table, key: string, native: string): StorableObject | undefined {
  requireAccess(evaluation, 'read', 'readRow');
  // In dialect 4, a table that was not created has no rows.
  const { dialect, database } = evaluation;
  const rows = dialect === 4 ? database.table(table.name) : requireTable(evaluation, table, 'readValue');
  const row = rows?.get(key);
  if (!row) return undefined;
  evaluation.spend(row.size);
  evaluation.gas.read(row.size, native);
  return row;
}

/** @returns the keys in the order of code points. Counts some steps for each */
export function readKeys(evaluation: Evaluation, table: Table): readonly string[] {
  requireReadingRights(evaluation, table);
  // Code that can only read rows cannot read all keys.
  requireAccess(evaluation, 'write', 'keys');
  const keys = [...requireTable(evaluation, table, 'query').entries().keys()];
  evaluation.spend(keys.length);
  return keys.sort((a, b) => {
    evaluation.spend(1 + Math.floor(Math.min(a.length, b.length) / CHARACTERS_PER_STEP));
    return compareTexts(a, b);
  });
}

/**
 * @param native the reading native
 * @returns the keys and rows in the order of the keys. Each row is read when its turn comes
 */
export function* readRows(
  evaluation: Evaluation,
  table: Table,
  native: string,
): Generator<readonly [string, StorableObject]> {
  for (const key of readKeys(evaluation, table)) {
    const row = rowAt(evaluation, table, key, native);
    if (!row) throw new ContractError('db', `Row ${key} was taken out of the table ${table.name} meanwhile`);
    yield [key, row];
  }
}

/* Writing. */

/**
 * Number of steps of a written column, which stays in memory until the transaction ends and takes as much as four list
 * items.
 */
const COLUMN_STEPS = 4;

/** @throws ContractError for a row that the schema does not allow, and for a key that the mode does not allow */
export function writeRow(
  evaluation: Evaluation,
  mode: WriteMode,
  table: Table,
  key: string,
  object: ContractObject,
): void {
  const row = rowOf(object, evaluation);
  evaluation.gas.write(key, object, mode);
  requireRights(evaluation, table);
  if (table.schema) checkRow(row, table.schema, mode === 'update', evaluation);
  requireAccess(evaluation, 'write', 'writeRow');
  const before = existingRow(evaluation, mode, table, key);
  const isMerged = before && (mode === 'update' || evaluation.dialect === 4);
  evaluation.spend(COLUMN_STEPS * (row.size + (before?.size ?? 0)));
  evaluation.kept?.addEntry([key, row]);
  evaluation.database.writeRow(table.name, key, isMerged ? sortedObject(new Map([...before, ...row])) : row);
}

function existingRow(evaluation: Evaluation, mode: WriteMode, table: Table, key: string): StorableObject | undefined {
  const { database, dialect } = evaluation;
  if (dialect === 5) requireTable(evaluation, table, 'writeValue');
  const before = database.table(table.name)?.get(key);
  if (mode === 'insert' && before) {
    if (dialect === 4) throw new ContractError('db', `Insert: row found for key ${key}`);
    throw databaseFault(`Value already found while in Insert mode in table ${table.name} at key "${key}"`);
  }
  if (mode === 'update' && !before) {
    if (dialect === 4) throw new ContractError('db', `Update: no row found for key ${key}`);
    throw databaseFault(`No row found during update in table ${table.name} at key ${key}`);
  }
  requireTable(evaluation, table, 'writeValue');
  return before;
}

/* History, which only dialect 4 can read. */

/**
 * @param from the first transaction number to report
 * @returns the numbers of the transactions that have written to the table
 */
export function readTransactions(evaluation: Evaluation, table: Table, from: bigint): readonly bigint[] {
  requireReadingRights(evaluation, table);
  requireAccess(evaluation, 'write', 'txids');
  requireTable(evaluation, table, 'query');
  const transactions: bigint[] = [];
  for (let it = evaluation.database.histories.get(table.name); it && it.transaction >= from; it = it.earlier) {
    evaluation.spend(1);
    transactions.push(it.transaction);
  }
  return transactions.reverse();
}

/** @returns the writes of a transaction to the table */
export function readWrites(evaluation: Evaluation, table: Table, transaction: bigint): readonly LoggedWrite[] {
  requireReadingRights(evaluation, table);
  requireAccess(evaluation, 'write', 'getTxLog');
  let it = evaluation.database.histories.get(table.name);
  for (; it && it.transaction > transaction; it = it.earlier) evaluation.spend(1);
  const writes = it?.transaction === transaction ? it.writes : [];
  evaluation.spend(writes.length);
  return writes;
}
