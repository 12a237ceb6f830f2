/** The database of contract code: modules, keysets, namespaces, defpacts, rows of tables, and a log of their writes. */

import type { Guard, KeysetGuard, StorableObject } from '../values/values.ts';
import type { DefpactState } from './defpact-state.ts';
import { Layered } from './layered.ts';
import type { LoadedModule } from './module.ts';

export interface Namespace {
  readonly name: string;
  /** The guard that must pass to install modules and keysets in the namespace. */
  readonly user: Guard;
  /** The guard that must pass to change the namespace. */
  readonly admin: Guard;
}

/** A write to a table. */
export interface LoggedWrite {
  /** The key of the row. */
  readonly key: string;
  /** The whole row after the write. */
  readonly row: StorableObject;
}

/** The writes of a transaction to a table, linked to the writes of earlier transactions to this table. */
interface TableHistory {
  /** The number of the transaction. */
  readonly transaction: bigint;
  /** The writes, from the first to the last. */
  readonly writes: readonly LoggedWrite[];
  readonly earlier: TableHistory | undefined;
}

/**
 * A version of the database. A version that is made above another version begins with the other version's entries. A
 * transaction runs on a new version above the present one. If the transaction succeeds, the present version absorbs the
 * changes of the new one. Branches of the chain share the versions of the blocks that they have in common.
 */
export class Database {
  readonly modules: Layered<LoadedModule>;
  readonly keysets: Layered<KeysetGuard>;
  readonly namespaces: Layered<Namespace>;
  /** The states of defpacts by their pact ids; `completed` for a defpact of which no step can run any more. */
  readonly defpacts: Layered<DefpactState | 'completed'>;
  /**
   * By `Table.name`, the writes of the latest transaction that has a number and wrote to the table. `absorb` gets the
   * numbers.
   */
  readonly histories: Layered<TableHistory>;
  /** The rows of each table by their keys, by `Table.name`. */
  readonly #tables = new Map<string, Layered<StorableObject>>();
  /** The writes to this version with `writeRow`, from the first to the last, by `Table.name`. */
  readonly #writes = new Map<string, LoggedWrite[]>();

  /** @param below the version to begin with. While the new version is used, `below` must not change */
  constructor(below?: Database) {
    this.modules = new Layered(below?.modules);
    this.keysets = new Layered(below?.keysets);
    this.namespaces = new Layered(below?.namespaces);
    this.defpacts = new Layered(below?.defpacts);
    this.histories = new Layered(below?.histories);
    if (!below) return;
    for (const [name, rows] of below.#tables) this.#tables.set(name, new Layered(rows));
  }

  /** @param name as `Table.name` @returns the rows by their keys; undefined if the table was not created */
  table(name: string): Layered<StorableObject> | undefined {
    return this.#tables.get(name);
  }

  /** @param name as `Table.name` @returns whether the table was created; false if it exists already */
  createTable(name: string): boolean {
    if (this.table(name)) return false;
    this.#tables.set(name, new Layered());
    return true;
  }

  /**
   * Writes a row if the table exists.
   * @param table as `Table.name`
   * @param row the whole row, including columns that did not change
   * @returns whether the table exists
   */
  writeRow(table: string, key: string, row: StorableObject): boolean {
    const rows = this.table(table);
    if (!rows) return false;
    rows.set(key, row);
    const writes = this.#writes.get(table) ?? [];
    writes.push({ key, row });
    this.#writes.set(table, writes);
    return true;
  }

  /**
   * Copies the changes of a version above this one into this version.
   * @param above a version that was made with this one as `below`
   * @param transaction the number under which the natives `txids`, `txlog` and `keylog` find the writes; if undefined,
   *   these natives do not find the writes
   */
  absorb(above: Database, transaction?: bigint): void {
    this.modules.absorb(above.modules);
    this.keysets.absorb(above.keysets);
    this.namespaces.absorb(above.namespaces);
    this.defpacts.absorb(above.defpacts);
    this.histories.absorb(above.histories);
    for (const [name, rows] of above.#tables) {
      this.createTable(name);
      this.table(name)?.absorb(rows);
    }
    if (transaction === undefined) return;
    for (const [name, writes] of above.#writes) {
      this.histories.set(name, { transaction, writes, earlier: this.histories.get(name) });
    }
  }
}
