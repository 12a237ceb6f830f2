/**
 * What is known of a sweep: the transfer of each chain's coins to one chain. A payment is a sweep with one transfer, to another
 * account or within one chain. This is what is written to disk.
 */

import type { Keyset } from '../ledger/command/coin.ts';
import type { Command } from '../ledger/command/command.ts';
import type { Decimal } from '../ledger/decimal.ts';

export interface Sweep {
  /** The network's id. */
  readonly network: string;
  /** Whose coins are moved, on all chains. */
  readonly account: string;
  /** The guard of the account, the same on all chains on which it signs. */
  readonly guard: Keyset;
  /** Who gets the coins; null: the account itself. */
  readonly receiver: Receiver | null;
  readonly targetChain: number;
  /** In coins for each unit of gas, for commands that are still to be made. */
  readonly gasPrice: Decimal;
  /** The account on the target chain that pays for step 1; null: the account itself. */
  readonly gasStation: string | null;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  /** One for each chain that takes part. */
  readonly transfers: readonly Transfer[];
}

export interface Receiver {
  readonly account: string;
  /**
   * For whom the coins arrive: if the account has another guard, the transfer fails. Null: for whoever has the account, which
   * must exist; only within one chain.
   */
  readonly guard: Keyset | null;
}

/**
 * The coins of one chain on their way. Within one chain there is only step 0. Otherwise step 0 takes them from their chain, and
 * step 1 brings them to the target chain; in between, they are on no chain.
 */
export interface Transfer {
  /** Where the coins come from. */
  readonly chain: number;
  readonly amount: Decimal;
  /** Of step 0. */
  readonly gasLimit: number;
  /** Written before it is sent for the first time, so a node may have it. Null: it was never sent. */
  readonly step0: Command | null;
  /** The height of the block with step 0, when a node was last asked; null: no block with it was seen so far. */
  readonly leftAt: number | null;
  /** That step 0 was in a block, for step 1. A reorganisation can make it useless. */
  readonly proof: string | null;
  /** The newest step 1, written before it is sent. The ledger lets only one of them bring the coins. */
  readonly step1: Command | null;
  /** The steps 1 in whose place newer ones were made, the oldest first: a block may have them all the same. */
  readonly earlierStep1: readonly EarlierStep1[];
  /** Null while the transfer goes on. */
  readonly outcome: Outcome | null;
}

export interface EarlierStep1 {
  readonly requestKey: string;
  /** In coins for each unit of gas. */
  readonly gasPrice: Decimal;
}

export type Outcome =
  /** The coins are on the target chain, and enough blocks are above them. */
  | {
      readonly state: 'done';
      /** Who has sent the step 1 that brought them: services finish the transfers of others. */
      readonly by: 'us' | 'somebody else';
      /** What the account has paid for gas, as far as it is known. */
      readonly gasCost: Decimal;
    }
  /** No coins have left their chain, apart from gas. */
  | { readonly state: 'failed'; readonly reason: string; readonly gasCost: Decimal };

/** `pending`: it goes on. */
export type TransferState = 'pending' | Outcome['state'];

/** Of a transfer that has not begun. */
export function plannedTransfer(chain: number, amount: Decimal, gasLimit: number): Transfer {
  const nothing = { step0: null, leftAt: null, proof: null, step1: null, earlierStep1: [], outcome: null } as const;
  return { chain, amount, gasLimit, ...nothing };
}

export function stateOf({ outcome }: Transfer): TransferState {
  return outcome?.state ?? 'pending';
}

/** Whether the coins stay on their chain, and only change the account: then there is no step 1. */
export function staysOnChain({ transfers, targetChain }: Pick<Sweep, 'transfers' | 'targetChain'>): boolean {
  return transfers.every(({ chain }) => chain === targetChain);
}

export function isUnfinished({ transfers }: Sweep): boolean {
  return transfers.some(({ outcome }) => outcome === null);
}

/** Whether a command was signed, so that a node may have it. Otherwise no coins can have moved. */
export function isSigned({ transfers }: Sweep): boolean {
  return transfers.some(({ step0 }) => step0 !== null);
}
