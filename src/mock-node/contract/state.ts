/** What the accounts of one chain are after one block. Every block has its own, so a branch can be left at any time. */

import type { Keyset } from '../../ledger/command/coin.ts';
import type { Decimal } from '../../ledger/decimal.ts';
import { Layered } from './layered.ts';

/** Who may use an account: the holders of keys; of the gas station, every continuation of a cross-chain transfer. */
export type Guard = Keyset | 'gas station';

export interface Account {
  readonly balance: Decimal;
  readonly guard: Guard;
}

export class CoinState {
  readonly #accounts: Layered<Account>;
  /** The height of the block in which a command ran, by request key. */
  readonly #commands: Layered<bigint>;
  /** The cross-chain transfers that have arrived on this chain, by the request keys of their first steps. */
  readonly #arrived: Layered<true>;

  constructor(accounts = new Layered<Account>(), commands = new Layered<bigint>(), arrived = new Layered<true>()) {
    this.#accounts = accounts;
    this.#commands = commands;
    this.#arrived = arrived;
  }

  /** @returns a state that begins as this one, which must not change any more */
  next(): CoinState {
    return new CoinState(new Layered(this.#accounts), new Layered(this.#commands), new Layered(this.#arrived));
  }

  /** Makes the changes of a state that `next` has begun. */
  absorb(above: CoinState): void {
    this.#accounts.absorb(above.#accounts);
    this.#commands.absorb(above.#commands);
    this.#arrived.absorb(above.#arrived);
  }

  account(name: string): Account | undefined {
    return this.#accounts.get(name);
  }

  setAccount(name: string, account: Account): void {
    this.#accounts.set(name, account);
  }

  heightOf(requestKey: string): bigint | undefined {
    return this.#commands.get(requestKey);
  }

  setHeight(requestKey: string, height: bigint): void {
    this.#commands.set(requestKey, height);
  }

  hasArrived(pactId: string): boolean {
    return this.#arrived.get(pactId) === true;
  }

  setArrived(pactId: string): void {
    this.#arrived.set(pactId, true);
  }
}

/** Whether two guards are the same, whatever the order of their keys. */
export function sameGuard(a: Guard, b: Guard): boolean {
  return a === b || textOf(a) === textOf(b);
}

function textOf(guard: Guard): string {
  return typeof guard === 'string' ? guard : JSON.stringify([guard.pred, ...[...new Set(guard.keys)].sort()]);
}
