/** The interface between payloads and contracts: a block's transactions and their outputs. */

import { QualifiedName } from '../../contract/names.ts';
import { hashText } from '../../contract/values/hash.ts';
import type { Decimal } from '../../protocol/ledger/decimal.ts';
import { type ExactJson, LedgerFormatError } from '../../protocol/ledger/json.ts';
import type { Miner } from '../../protocol/ledger/payload.ts';
import type { Block } from '../ledger/block-store.ts';
import { coinsValue } from './block-environment.ts';
import type { ChainState } from './chain-state.ts';
import { COIN_MODULE } from './coin-contract.ts';
import { eventJson, type Failure } from './output.ts';

/** A block to be made. */
export interface NextBlock {
  readonly chain: number;
  readonly parent: Block;
  readonly miner: Miner;
  /** Whether a block, named by its hash as text, is an ancestor of the new block. */
  readonly hasAncestor: (id: string) => boolean;
}

/** A block being made. */
export interface BlockContext extends NextBlock {
  /** The state after the transactions so far. */
  readonly state: ChainState;
}

export interface Ran {
  /** Signed commands: JSON in UTF-8. */
  readonly transactions: readonly Uint8Array[];
  /** One for each transaction: JSON in UTF-8. */
  readonly outputs: readonly Uint8Array[];
}

export interface Transactions {
  /** Pays the miner, which changes the state unless the payment fails. @param amount in 10^-12 coins */
  reward(context: BlockContext, amount: Decimal): Reward;
  /** Runs the chain's waiting commands, which changes the state. */
  run(context: BlockContext): Ran;
  /**
   * Runs the transactions of another node's block, which changes the state.
   * @returns their outputs
   * @throws LedgerFormatError if this block cannot contain one of them
   */
  replay(context: BlockContext, transactions: readonly Uint8Array[]): readonly Uint8Array[];
}

/** The events of a payment, or its failure, as in the outputs of commands. */
export type Reward = { readonly events: readonly ExactJson[] } | { readonly failure: Failure };

/** A ledger without contracts, which pays miners without keeping accounts. */
export const NO_TRANSACTIONS: Transactions = {
  reward: ({ miner }, amount) => ({ events: [paymentJson(miner.account, amount)] }),
  run: () => ({ transactions: [], outputs: [] }),
  replay: (_, transactions) => {
    if (transactions.length > 0) throw new LedgerFormatError('this ledger has no transactions');
    return [];
  },
};

/** @returns the contract's event for a reward, where clients read the amount */
function paymentJson(account: string, amount: Decimal): ExactJson {
  const name = new QualifiedName(COIN_MODULE, 'TRANSFER');
  return eventJson({ name, args: ['', account, coinsValue(amount)], moduleHash: hashText(COIN_MODULE.text) });
}
