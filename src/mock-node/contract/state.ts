/** What one chain knows after one block. Every block has its own state, so branches can be abandoned. */

import { Database } from '../../contract/evaluator/database.ts';
import { Layered } from '../../contract/evaluator/layered.ts';

export class ChainState {
  readonly database: Database;
  /** The height of each command's block, by request key. */
  readonly #commands: Layered<bigint>;

  constructor(database = new Database(), commands = new Layered<bigint>()) {
    this.database = database;
    this.#commands = commands;
  }

  /** @returns a state that begins as this one, which must not change any more */
  next(): ChainState {
    return new ChainState(new Database(this.database), new Layered(this.#commands));
  }

  /** Takes over the changes of a state made with `next`. */
  absorb(above: ChainState): void {
    this.database.absorb(above.database);
    this.#commands.absorb(above.#commands);
  }

  heightOf(requestKey: string): bigint | undefined {
    return this.#commands.get(requestKey);
  }

  setHeight(requestKey: string, height: bigint): void {
    this.#commands.set(requestKey, height);
  }
}
