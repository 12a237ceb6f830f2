/** What contract code leaves behind: modules, rows of tables, keysets, namespaces, flows. */

import type { Guard, KeysetGuard, StorableObject } from '../values/values.ts';
import type { FlowState } from './flow-state.ts';
import { Layered } from './layered.ts';
import type { LoadedModule } from './module.ts';

export interface Namespace {
  readonly name: string;
  /** Who may put modules and keysets into it. */
  readonly user: Guard;
  /** Who may change it. */
  readonly admin: Guard;
}

/**
 * One version of the database. A transaction works on a version above the one that it began with, which takes the
 * changes over when the transaction succeeds. Blocks of different branches share the versions below them.
 */
export class Database {
  readonly modules: Layered<LoadedModule>;
  readonly keysets: Layered<KeysetGuard>;
  readonly namespaces: Layered<Namespace>;
  readonly flows: Layered<FlowState>;
  readonly #below: Database | undefined;
  readonly #tables = new Map<string, Layered<StorableObject>>();

  /** @param below the version to begin with, which must not change as long as this one is in use */
  constructor(below?: Database) {
    this.#below = below;
    this.modules = new Layered(below?.modules);
    this.keysets = new Layered(below?.keysets);
    this.namespaces = new Layered(below?.namespaces);
    this.flows = new Layered(below?.flows);
  }

  /** @param name as `Table.name` @returns the rows by their keys; undefined for a table that was not created */
  table(name: string): Layered<StorableObject> | undefined {
    const own = this.#tables.get(name);
    if (own) return own;
    const below = this.#below?.table(name);
    if (!below) return undefined;
    const rows = new Layered(below);
    this.#tables.set(name, rows);
    return rows;
  }

  /** @returns whether there was no such table yet */
  createTable(name: string): boolean {
    if (this.table(name)) return false;
    this.#tables.set(name, new Layered());
    return true;
  }

  /** Takes over the changes of a version that was made above this one. */
  absorb(above: Database): void {
    this.modules.absorb(above.modules);
    this.keysets.absorb(above.keysets);
    this.namespaces.absorb(above.namespaces);
    this.flows.absorb(above.flows);
    for (const [name, rows] of above.#tables) {
      this.createTable(name);
      this.table(name)?.absorb(rows);
    }
  }
}
