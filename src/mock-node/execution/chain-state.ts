/**
 * The state of one chain after one block. Every block has a state of its own, so that a reorganisation can return to
 * the state of an earlier block.
 */

import { Database } from '../../contract/runtime/database.ts';
import { Layered } from '../../contract/runtime/layered.ts';
import { Decimal } from '../../contract/values/decimal.ts';
import { type Guard, isGuard } from '../../contract/values/values.ts';
import { type Decimal as Coins, parseDecimal } from '../../protocol/ledger/decimal.ts';

/** Name of the coin contract's table of accounts. */
export const ACCOUNTS = 'coin_coin-table';

interface Account {
  /** The balance in 10^-12 coins. */
  readonly balance: Coins;
  readonly guard: Guard;
}

export class ChainState {
  readonly database: Database;
  /** The height of the block that contains a command, by the command's request key. */
  readonly #commands: Layered<bigint>;

  constructor(database = new Database(), commands = new Layered<bigint>()) {
    this.database = database;
    this.#commands = commands;
  }

  /**
   * @returns a state on top of this one, for the next block or a trial. This state must not change while the upper one
   *   is in use
   */
  next(): ChainState {
    return new ChainState(new Database(this.database), new Layered(this.#commands));
  }

  /** Takes over the changes in a state that `next` has returned. */
  absorb(above: ChainState): void {
    this.database.absorb(above.database);
    this.#commands.absorb(above.#commands);
  }

  /** @returns an account of the coin contract; undefined if it does not exist */
  account(name: string): Account | undefined {
    const row = this.database.table(ACCOUNTS)?.get(name);
    const [balance, guard] = [row?.get('balance'), row?.get('guard')];
    if (!(balance instanceof Decimal) || guard === undefined || !isGuard(guard)) return undefined;
    return { balance: parseDecimal(`${balance}`), guard };
  }

  heightOf(requestKey: string): bigint | undefined {
    return this.#commands.get(requestKey);
  }

  setHeight(requestKey: string, height: bigint): void {
    this.#commands.set(requestKey, height);
  }
}
