/**
 * Creates, reads and writes tables. Only code of the table's module, and code with the admin rights of this module, may
 * use a table. With the flag `AllowReadInLocal`, all code may read tables.
 */

import { requireModuleRights } from '../capabilities/guards.ts';
import { ContractError } from '../errors.ts';
import { databaseFault, requireAccess } from '../runtime/access.ts';
import type { LoggedWrite } from '../runtime/database.ts';
import type { Layered } from '../runtime/layered.ts';
import { callingModule, requireModule } from '../runtime/lookup.ts';
import { isHashOf4, type Table } from '../runtime/module.ts';
import type { Evaluator } from '../runtime/native.ts';
import {
  CHARACTERS_PER_STEP,
  type ContractObject,
  compareTexts,
  type StorableObject,
  sortedObject,
} from '../values/values.ts';
import { checkRow, rowOf } from './rows.ts';

/** `insert` makes a new row, `update` changes columns of an existing row, and `write` does either. */
export type WriteMode = 'insert' | 'update' | 'write';

/* Rights. */

/**
 * @throws ContractError unless the running code may use the table, and the definition of the table is from the newest
 *   version of its module or from a version that the newest one has blessed
 */
function requireRights(evaluator: Evaluator, { module }: Table): void {
  requireModuleRights(evaluator, module);
  // In dialect 4, code of other modules, and code outside of modules, may use tables of every version of the module, if
  // it has the admin rights.
  if (evaluator.dialect === 4 && callingModule(evaluator)?.name.text !== module.name.text) return;
  const { hash, blessed, name } = requireModule(evaluator, module.name);
  if (hash === module.hash || blessed.has(module.hash)) return;
  const blessed4 = evaluator.dialect === 5 ? [...blessed].find((each) => isHashOf4(each, module)) : undefined;
  if (blessed4 !== undefined) {
    const where = 'only nodes that have loaded that version in generation 4 do';
    evaluator.note?.(`bless has taken ${blessed4}, generation 4's hash of ${name.text}: ${where}`);
    return;
  }
  const message = `Execution aborted, hash not blessed for module ${name.text}: ${module.hash}`;
  throw new ContractError('eval', message);
}

/** @throws ContractError as `requireRights`, unless the flag `AllowReadInLocal` is set */
function requireReadingRights(evaluator: Evaluator, table: Table): void {
  if (!evaluator.environment.flags.has('AllowReadInLocal')) requireRights(evaluator, table);
}

/* Tables. */

/** @throws ContractError if the table exists already, or if the running code may not create it */
export function createTable(evaluator: Evaluator, table: Table): void {
  requireRights(evaluator, table);
  evaluator.gas.createTable(table.name);
  requireAccess(evaluator, 'write', 'createUserTable');
  if (evaluator.database.createTable(table.name)) return;
  if (evaluator.dialect === 5) throw databaseFault(`Table ${table.name} already exists`);
  throw new ContractError('db', `Insert: value already at key: ${table.name}`);
}

/**
 * @param operation the name of the operation for the message of dialect 4
 * @returns the rows by their keys
 * @throws ContractError for a table that was not created
 */
function requireTable(evaluator: Evaluator, table: Table, operation: string): Layered<StorableObject> {
  const rows = evaluator.database.table(table.name);
  if (rows) return rows;
  if (evaluator.dialect === 5) throw databaseFault(`Table ${table.name} not found`);
  throw new ContractError('db', `${operation}: no such table: ${nameInLog(table)}`);
}

/**
 * @returns the name of the table in results of `txlog`, and in messages of dialect 4 for a table that was not created
 */
export function nameInLog({ name }: Table): string {
  return `USER_${name}`;
}

/* Reading. */

/**
 * @param native the name of the reading native, for the gas log
 * @returns the row; undefined if the table has no row with this key
 * @throws ContractError if the running code may not read the table; in dialect 5 also if the table was not created
 */
export function readRow(evaluator: Evaluator, table: Table, key: string, native: string): StorableObject | undefined {
  requireReadingRights(evaluator, table);
  return rowAt(evaluator, table, key, native);
}

function rowAt(evaluator: Evaluator, table: Table, key: string, native: string): StorableObject | undefined {
  requireAccess(evaluator, 'read', 'readRow');
  // In dialect 4, a table that was not created is read like a table without rows.
  const { dialect, database } = evaluator;
  const rows = dialect === 4 ? database.table(table.name) : requireTable(evaluator, table, 'readValue');
  const row = rows?.get(key);
  if (!row) return undefined;
  evaluator.spend(row.size);
  evaluator.gas.read(row.size, native);
  // In dialect 5, only natives that read one row pay for its size.
  if (native !== 'select' && native !== 'fold-db') evaluator.gas.read5(native, (sizes) => sizes.fields(row));
  return row;
}

/**
 * @returns the keys of all rows, in the order of code points. Counts a step for each key, and at least one for each
 *   comparison of two keys
 * @throws ContractError if the running code may not read all keys, or if the table was not created
 */
export function readKeys(evaluator: Evaluator, table: Table): readonly string[] {
  requireReadingRights(evaluator, table);
  // Code whose access is limited to reading cannot read the keys of a table.
  requireAccess(evaluator, 'write', 'keys');
  const keys = [...requireTable(evaluator, table, 'query').entries().keys()];
  evaluator.spend(keys.length);
  return keys.sort((a, b) => {
    evaluator.spend(1 + Math.floor(Math.min(a.length, b.length) / CHARACTERS_PER_STEP));
    return compareTexts(a, b);
  });
}

/**
 * @param native the name of the reading native, for the gas log
 * @returns the keys with their rows, in the order of the keys. A row is read only when the iteration reaches it
 * @throws ContractError as `readKeys`
 */
export function* readRows(
  evaluator: Evaluator,
  table: Table,
  native: string,
): Generator<readonly [string, StorableObject]> {
  for (const key of readKeys(evaluator, table)) {
    const row = rowAt(evaluator, table, key, native);
    if (!row) throw new ContractError('db', `Row ${key} was taken out of the table ${table.name} meanwhile`);
    yield [key, row];
  }
}

/* Writing. */

/**
 * Number of steps counted for each written column and each column of the old row. A written column stays in memory
 * until the transaction ends, and takes as much memory as four items of a list.
 */
const COLUMN_STEPS = 4;

/**
 * @param object the columns to write
 * @throws ContractError if the running code may not write to the table, the table was not created, the row cannot be
 *   stored, the schema does not allow the row, or the mode does not allow the key
 */
export function writeRow(
  evaluator: Evaluator,
  mode: WriteMode,
  table: Table,
  key: string,
  object: ContractObject,
): void {
  const row = rowOf(object, evaluator);
  evaluator.gas.write(key, object, mode);
  requireRights(evaluator, table);
  if (table.schema) checkRow(row, table.schema, mode === 'update', evaluator);
  evaluator.gas.write5(mode, (sizes) => sizes.fields(row));
  requireAccess(evaluator, 'write', 'writeRow');
  const before = existingRow(evaluator, mode, table, key);
  const isMerged = before && (mode === 'update' || evaluator.dialect === 4);
  evaluator.spend(COLUMN_STEPS * (row.size + (before?.size ?? 0)));
  evaluator.kept?.addEntry([key, row]);
  evaluator.database.writeRow(table.name, key, isMerged ? sortedObject(new Map([...before, ...row])) : row);
}

/**
 * @returns the row before this write; undefined if there is none
 * @throws ContractError for a table that was not created, if `insert` finds a row, and if `update` finds no row
 */
function existingRow(evaluator: Evaluator, mode: WriteMode, table: Table, key: string): StorableObject | undefined {
  const { database, dialect } = evaluator;
  if (dialect === 5) requireTable(evaluator, table, 'writeValue');
  const before = database.table(table.name)?.get(key);
  if (mode === 'insert' && before) {
    if (dialect === 4) throw new ContractError('db', `Insert: row found for key ${key}`);
    throw databaseFault(`Value already found while in Insert mode in table ${table.name} at key "${key}"`);
  }
  if (mode === 'update' && !before) {
    if (dialect === 4) throw new ContractError('db', `Update: no row found for key ${key}`);
    throw databaseFault(`No row found during update in table ${table.name} at key ${key}`);
  }
  requireTable(evaluator, table, 'writeValue');
  return before;
}

/* History, which only dialect 4 can read. */

/**
 * @param from the lowest number to return
 * @returns the numbers of the transactions that have written to the table, in ascending order
 * @throws ContractError if the running code may not read the table, or if the table was not created
 */
export function readTransactions(evaluator: Evaluator, table: Table, from: bigint): readonly bigint[] {
  requireReadingRights(evaluator, table);
  requireAccess(evaluator, 'write', 'txids');
  requireTable(evaluator, table, 'query');
  const transactions: bigint[] = [];
  for (let it = evaluator.database.histories.get(table.name); it && it.transaction >= from; it = it.earlier) {
    evaluator.spend(1);
    transactions.push(it.transaction);
  }
  return transactions.reverse();
}

/**
 * @returns the writes of a transaction to the table, in the order of writing; none for an unknown transaction
 * @throws ContractError if the running code may not read the table
 */
export function readWrites(evaluator: Evaluator, table: Table, transaction: bigint): readonly LoggedWrite[] {
  requireReadingRights(evaluator, table);
  requireAccess(evaluator, 'write', 'getTxLog');
  let it = evaluator.database.histories.get(table.name);
  for (; it && it.transaction > transaction; it = it.earlier) evaluator.spend(1);
  const writes = it?.transaction === transaction ? it.writes : [];
  evaluator.spend(writes.length);
  return writes;
}
