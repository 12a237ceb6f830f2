/** The interface from payloads to the contract: a block's transactions and their outputs. */

import { LedgerFormatError } from '../../ledger/json.ts';
import type { Miner } from '../../ledger/payload.ts';
import type { Block } from '../ledger/block-store.ts';
import type { CoinState } from './state.ts';

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
  /** The accounts so far. */
  readonly state: CoinState;
}

export interface Ran {
  /** Signed commands: JSON in UTF-8. */
  readonly transactions: readonly Uint8Array[];
  /** One for each transaction: JSON in UTF-8. */
  readonly outputs: readonly Uint8Array[];
}

export interface Transactions {
  /** Runs the chain's waiting commands, and changes the state. */
  run(context: BlockContext): Ran;
  /**
   * Runs the transactions of another node's block, and changes the state.
   * @returns their outputs
   * @throws LedgerFormatError if one of them cannot be in this block
   */
  replay(context: BlockContext, transactions: readonly Uint8Array[]): readonly Uint8Array[];
}

export const NO_TRANSACTIONS: Transactions = {
  run: () => ({ transactions: [], outputs: [] }),
  replay: (_, transactions) => {
    if (transactions.length > 0) throw new LedgerFormatError('this ledger has no transactions');
    return [];
  },
};
