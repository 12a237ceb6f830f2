/** The interface between the ledger and the contracts: pays miners, and runs the transactions of blocks. */

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
  /** Whether the block with this hash (as text) is an ancestor of the new block. */
  readonly hasAncestor: (id: string) => boolean;
}

/** A block whose transactions are being run. */
export interface BlockContext extends NextBlock {
  /** The state after those transactions of the block that have been run. */
  readonly state: ChainState;
}

export interface Ran {
  /** The signed commands: JSON in UTF-8. */
  readonly transactions: readonly Uint8Array[];
  /** One output for each transaction: JSON in UTF-8. */
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
   * @throws LedgerFormatError if the block cannot contain one of the transactions
   */
  replay(context: BlockContext, transactions: readonly Uint8Array[]): readonly Uint8Array[];
}

/** The events of a payment to a miner, or the failure of the payment, in the form that outputs contain. */
export type Reward = { readonly events: readonly ExactJson[] } | { readonly failure: Failure };

/** The transactions of a ledger without contracts, which pays miners but does not keep accounts. */
export const NO_TRANSACTIONS: Transactions = {
  reward: ({ miner }, amount) => ({ events: [paymentJson(miner.account, amount)] }),
  run: () => ({ transactions: [], outputs: [] }),
  replay: (_, transactions) => {
    if (transactions.length > 0) throw new LedgerFormatError('this ledger has no transactions');
    return [];
  },
};

/** @returns the event that the coin contract emits for a reward. Clients read the amount of the reward in it */
function paymentJson(account: string, amount: Decimal): ExactJson {
  const name = new QualifiedName(COIN_MODULE, 'TRANSFER');
  return eventJson({ name, args: ['', account, coinsValue(amount)], moduleHash: hashText(COIN_MODULE.text) });
}
