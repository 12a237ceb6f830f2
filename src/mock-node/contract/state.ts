/** The accounts of one chain after one block. Every block has its own, so branches can be abandoned. */

import type { Keyset } from '../../ledger/command/coin.ts';
import type { Decimal } from '../../ledger/decimal.ts';
import { Layered } from './layered.ts';

/** Keyholders, or for the gas station every continuation of a cross-chain transfer. */
export type Guard = Keyset | 'gas station';

export interface Account {
  readonly balance: Decimal;
  readonly guard: Guard;
}

export class CoinState {
  readonly #accounts: Layered<Account>;
  /** The height of each command's block, by request key. */
  readonly #commands: Layered<bigint>;
  /** Cross-chain transfers that have arrived on this chain, by the request key of the first step. */
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

  /** Takes over the changes of a state made with `next`. */
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

/** Whether two guards are equal, whatever the order of their keys. */
export function sameGuard(a: Guard, b: Guard): boolean {
  return a === b || textOf(a) === textOf(b);
}

function textOf(guard: Guard): string {
  return typeof guard === 'string' ? guard : JSON.stringify([guard.pred, ...[...new Set(guard.keys)].sort()]);
}
