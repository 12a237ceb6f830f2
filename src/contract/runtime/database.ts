/** The database of contract code: modules, rows of tables, keysets, namespaces, defpacts. */

import type { Guard, KeysetGuard, StorableObject } from '../values/values.ts';
import type { DefpactState } from './defpact-state.ts';
import { Layered } from './layered.ts';
import type { LoadedModule } from './module.ts';

export interface Namespace {
  readonly name: string;
  /** Decides who may install modules and keysets in the namespace. */
  readonly user: Guard;
  /** Decides who may change the namespace. */
  readonly admin: Guard;
}

export interface LoggedWrite {
  readonly key: string;
  /** The whole row after the write. */
  readonly row: StorableObject;
}

/** The writes of one transaction to a table, linked to the writes of earlier transactions. */
interface TableHistory {
  readonly transaction: bigint;
  /** In the order of writing. */
  readonly writes: readonly LoggedWrite[];
  readonly earlier: TableHistory | undefined;
}

/**
 * One version of the database. A transaction works on a new version above an existing one. If the transaction
 * succeeds, the existing version absorbs its changes. Blocks of different branches share the versions below them.
 */
export class Database {
  readonly modules: Layered<LoadedModule>;
  readonly keysets: Layered<KeysetGuard>;
  readonly namespaces: Layered<Namespace>;
  /** The states of defpacts by their pact ids; `completed` if no step can follow. */
  readonly defpacts: Layered<DefpactState | 'completed'>;
  /** The writes of all numbered transactions, by the names of tables. */
  readonly histories: Layered<TableHistory>;
  readonly #tables = new Map<string, Layered<StorableObject>>();
  /** The writes to this version of the database, by the names of tables. */
  readonly #writes = new Map<string, LoggedWrite[]>();

  /** @param below the version to begin with. It must not change while the new version is in use */
  constructor(below?: Database) {
    this.modules = new Layered(below?.modules);
    this.keysets = new Layered(below?.keysets);
    this.namespaces = new Layered(below?.namespaces);
    this.defpacts = new Layered(below?.defpacts);
    this.histories = new Layered(below?.histories);
    if (!below) return;
    for (const [name, rows] of below.#tables) this.#tables.set(name, new Layered(rows));
  }

  /** @param name as `Table.name` @returns the rows by their keys; undefined for a table that was not created */
  table(name: string): Layered<StorableObject> | undefined {
    return this.#tables.get(name);
  }

  /** @returns false if the table exists already */
  createTable(name: string): boolean {
    if (this.table(name)) return false;
    this.#tables.set(name, new Layered());
    return true;
  }

  /** @param table as `Table.name` @param row all columns of the row @returns whether the table exists */
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
   * Absorbs the changes of a version that began with this version.
   * @param transaction the number under which the natives `txids`, `txlog` and `keylog` find the writes; without a
   *   number, the natives do not find them
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
