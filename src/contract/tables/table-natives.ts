/** Natives that create, describe, read and write tables. */

import { ContractError, STORED_KEY_LENGTH, shortened } from '../errors.ts';
import { requireLocal } from '../runtime/access.ts';
import { Table, textOfName } from '../runtime/module.ts';
import { type Argument, type Call, type Evaluator, lazy, type Native, strict } from '../runtime/native.ts';
import { type BeforeShown, shownValue } from '../runtime/shown.ts';
import { isList, isObject, isText, type StorableObject, sortedObject, type Value } from '../values/values.ts';
import {
  createTable,
  nameInLog,
  readKeys,
  readRow,
  readRows,
  readTransactions,
  readWrites,
  type WriteMode,
  writeRow,
} from './tables.ts';

const TABLE = 'table:table:<{row}>';
const ROW = 'object:<{row}>';

function isTable(value: Value | undefined): value is Table {
  return value instanceof Table;
}

/* Reading. */

function read([table, key, columns = [], ...more]: readonly Value[], call: Call): Value | undefined {
  if (!isTable(table) || !isText(key) || !isList(columns) || more.length > 0) return undefined;
  const names = columnNames(columns, call);
  const row = names && requireRow('read', table, key, call);
  return row && (names.length === 0 ? row : selected(row, names, call));
}

/**
 * @returns the names; undefined in dialect 5 if one of them is not a text
 * @throws ContractError in dialect 4 if one of them is not a text
 */
function columnNames(columns: readonly Value[], { evaluator: { dialect } }: Call): readonly string[] | undefined {
  if (columns.every(isText)) return columns;
  if (dialect === 5) return undefined;
  throw new ContractError('eval', 'read: only Strings/Symbols allowed for col keys');
}

/** @param native the name of the reading native @throws ContractError if the table has no row with this key */
function requireRow(native: string, table: Table, key: string, { evaluator }: Call): StorableObject {
  const row = readRow(evaluator, table, key, native);
  if (row) return row;
  if (evaluator.dialect === 4) throw new ContractError('tx-failure', `${native}: row not found: ${key}`);
  const message = (shown: string) => `No value found in table ${table.name} for key: ${shown}`;
  const stored = message(shortened(key, STORED_KEY_LENGTH));
  throw new ContractError('tx-failure', message(key), undefined, { stored });
}

/**
 * @returns the named columns of a row, sorted by name
 * @throws ContractError in dialect 4 if the row lacks one of these columns
 */
function selected(row: StorableObject, names: readonly string[], { evaluator }: Call): StorableObject {
  evaluator.spend(names.length);
  const fields = names.flatMap((name) => {
    const value = row.get(name);
    if (value !== undefined) return [[name, value] as const];
    if (evaluator.dialect === 5) return [];
    throw new ContractError('eval', `read: invalid column: "${name}"`);
  });
  return sortedObject(new Map(fields));
}

function withRead(args: readonly Argument[], call: Call): Value | undefined {
  const { evaluator, scope, binding } = call;
  if (args.length !== 2 || !binding) return undefined;
  const [table, key] = args.map(({ value }) => value);
  if (!isTable(table) || !isText(key)) return undefined;
  return evaluator.evaluateBinding(binding, requireRow('with-read', table, key, call), scope);
}

function withDefaultRead(args: readonly Argument[], { evaluator, scope, binding }: Call): Value | undefined {
  if (args.length !== 3 || !binding) return undefined;
  const [table, key, defaults] = args.map(({ value }) => value);
  if (!isTable(table) || !isText(key) || !isObject(defaults)) return undefined;
  return evaluator.evaluateBinding(binding, readRow(evaluator, table, key, 'with-default-read') ?? defaults, scope);
}

function select(args: readonly Argument[], call: Call): Value | undefined {
  if (args.length !== 2 && args.length !== 3) return undefined;
  const columns = args.length === 3 ? args[1].value : [];
  const filter = args[args.length - 1];
  // Other natives of dialect 4 also take a lambda.
  const isTaken = call.evaluator.dialect === 5 || filter.isApplication;
  const accepts = isTaken ? filter.asFunction() : undefined;
  const table = args[0].value;
  if (!isTable(table) || !isList(columns) || !accepts) return undefined;
  const names = columnNames(columns, call);
  if (!names) return undefined;
  call.evaluator.gas.select(args.length === 3 ? names.length : undefined);
  const rows: StorableObject[] = [];
  for (const [, row] of readRows(call.evaluator, table, 'select')) {
    const isAccepted = requireBool(accepts(row), FILTER_TEXTS, call);
    if (isAccepted) rows.push(args.length === 3 ? selected(row, names, call) : row);
  }
  return rows;
}

function foldTable(args: readonly Argument[], call: Call): Value | undefined {
  if (args.length !== 3) return undefined;
  const [accepts, consume] = args.slice(1).map((arg) => arg.asFunction());
  if (!accepts || !consume) return undefined;
  const table = args[0].value;
  if (!isTable(table)) {
    if (call.evaluator.dialect === 5) return undefined;
    throw new ContractError('eval', shownValue(call.evaluator, table, TABLE_TEXTS));
  }
  call.evaluator.gas.foldDb();
  const results: Value[] = [];
  for (const [key, row] of readRows(call.evaluator, table, 'fold-db')) {
    const isAccepted = requireBool(accepts(key, row), CONDITION_TEXTS, call);
    if (isAccepted) results.push(consume(key, row));
  }
  return results;
}

/** The beginnings of the message for a result of the filter of `select` that is not a bool. */
const FILTER_TEXTS: BeforeShown = [
  'select: filter returned non-boolean value: ',
  'select: filter returned non-boolean value: ',
];
/** The beginnings of the message for a first argument of `fold-db` that is not a table. */
const TABLE_TEXTS: BeforeShown = [
  'Expected table as first argument to foldDB, got: ',
  'Expected table as first argument to foldDB, got argument of type: ',
];
/** The beginnings of the message for a result of the condition of `fold-db` that is not a bool. */
const CONDITION_TEXTS: BeforeShown = [
  'Unexpected return value from fold-db query condition ',
  'Unexpected return value from fold-db query condition, received value of type: ',
];

/** @param texts the beginnings of the message of dialect 4 @throws ContractError for a value that is not a bool */
function requireBool(value: Value, texts: BeforeShown, call: Call): boolean {
  if (typeof value === 'boolean') return value;
  const { evaluator } = call;
  if (evaluator.dialect === 5) throw new ContractError('eval', `expected bool value, got ${evaluator.print(value)}`);
  throw new ContractError('eval', shownValue(evaluator, value, texts));
}

/* Writing. */

/** @returns the native `insert`, `update` or `write` */
function writing(mode: WriteMode): Native {
  const object = mode === 'update' ? 'object:~<{row}>' : ROW;
  return strict(mode, `${TABLE} key:string object:${object} -> string`, ([table, key, row, ...more], { evaluator }) => {
    if (!isTable(table) || !isText(key) || row === undefined || !isObject(row) || more.length > 0) return undefined;
    writeRow(evaluator, mode, table, key, row);
    return 'Write succeeded';
  });
}

/* Tables themselves, and their history. */

/** @returns a native whose only argument is a table, and that only code outside of modules can call */
function ofTable(name: string, result: string, run: (table: Table, evaluator: Evaluator) => Value): Native {
  const native = strict(name, `${TABLE} -> ${result}`, ([table, ...more], { evaluator }) =>
    isTable(table) && more.length === 0 ? run(table, evaluator) : undefined,
  );
  return { ...native, isTopLevel: true };
}

function describe(table: Table, { dialect }: Evaluator): Value {
  const { definition, module, schema } = table;
  const name4 = definition.schema ? `{${textOfName(definition.schema)}}` : '*';
  const type = dialect === 5 && schema ? `table{${schema.name.text}}` : name4;
  return new Map(Object.entries({ module: module.name.text, name: definition.name, type }));
}

/** Number of bits of the number of a transaction. */
const NUMBER_BITS = 64;

/** @returns the integer modulo 2^64; undefined for a value that is not an integer */
function transactionNumber(value: Value | undefined): bigint | undefined {
  return typeof value === 'bigint' ? BigInt.asUintN(NUMBER_BITS, value) : undefined;
}

/** @returns a native that reads the writes of earlier transactions. Only dialect 4 has such natives */
function historical(
  name: string,
  signature: string,
  run: (values: readonly Value[], evaluator: Evaluator) => Value | undefined,
): Native {
  const native = strict(name, signature, (values, { evaluator }) => {
    requireLocal(evaluator, name);
    return run(values, evaluator);
  });
  return { ...native, dialect: 4 };
}

export const TABLES: readonly Native[] = [
  ofTable('create-table', 'string', (table, evaluator) => {
    createTable(evaluator, table);
    return 'TableCreated';
  }),
  ofTable('describe-table', 'object:*', describe),
  lazy('fold-db', `${TABLE} qry:(a:string b:${ROW} -> bool) consumer:(a:string b:${ROW} -> <b>) -> [<b>]`, foldTable),
  writing('insert'),
  historical('keylog', `${TABLE} key:string txid:integer -> [object:*]`, ([table, key, from, ...more], evaluator) => {
    const number = transactionNumber(from);
    if (!isTable(table) || !isText(key) || number === undefined || more.length > 0) return undefined;
    return readTransactions(evaluator, table, number).flatMap((txid) => {
      const writes = readWrites(evaluator, table, txid).filter((write) => write.key === key);
      return writes.map(({ row }) => {
        evaluator.gas.read(row.size, 'keylog');
        return sortedObject<Value>(Object.entries({ txid, value: row }));
      });
    });
  }),
  strict('keys', `${TABLE} -> [string]`, ([table, ...more], { evaluator }) => {
    if (!isTable(table) || more.length > 0) return undefined;
    const keys = readKeys(evaluator, table);
    evaluator.gas.keys(keys.length);
    return keys;
  }),
  strict('read', [`${TABLE} key:string -> ${ROW}`, `${TABLE} key:string columns:[string] -> ${ROW}`], read),
  lazy(
    'select',
    [
      `${TABLE} where:(row:${ROW} -> bool) -> [${ROW}]`,
      `${TABLE} columns:[string] where:(row:${ROW} -> bool) -> [${ROW}]`,
    ],
    select,
  ),
  historical('txids', `${TABLE} txid:integer -> [integer]`, ([table, from, ...more], evaluator) => {
    const number = transactionNumber(from);
    if (!isTable(table) || number === undefined || more.length > 0) return undefined;
    const transactions = readTransactions(evaluator, table, number);
    evaluator.gas.keys(transactions.length, 'txids');
    return transactions;
  }),
  historical('txlog', `${TABLE} txid:integer -> [object:*]`, ([table, transaction, ...more], evaluator) => {
    const number = transactionNumber(transaction);
    if (!isTable(table) || number === undefined || more.length > 0) return undefined;
    const name = nameInLog(table);
    return readWrites(evaluator, table, number).map(({ key, row }) => {
      evaluator.gas.read(row.size, 'txlog');
      return sortedObject<Value>(Object.entries({ key, table: name, value: row }));
    });
  }),
  writing('update'),
  lazy(
    'with-default-read',
    `${TABLE} key:string defaults:object:~<{row}> bindings:binding:~<{row}> -> <a>`,
    withDefaultRead,
  ),
  lazy('with-read', `${TABLE} key:string bindings:binding:<{row}> -> <a>`, withRead),
  writing('write'),
];
