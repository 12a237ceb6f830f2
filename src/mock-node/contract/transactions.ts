/** What a payload needs of the contract: the transactions of a block, and what they have come to. */

import { LedgerFormatError } from '../../ledger/json.ts';
import type { Miner } from '../../ledger/payload.ts';
import type { Block } from '../ledger/block-store.ts';
import type { CoinState } from './state.ts';

/** A block that is to be made. */
export interface NextBlock {
  readonly chain: number;
  /** The block below it. */
  readonly parent: Block;
  readonly miner: Miner;
  /** Whether a block, named by its hash as text, is one that the new block builds on. */
  readonly hasAncestor: (id: string) => boolean;
}

/** A block that is being made. */
export interface BlockContext extends NextBlock {
  /** What the accounts are so far. */
  readonly state: CoinState;
}

export interface Ran {
  /** Signed commands: JSON in UTF-8. */
  readonly transactions: readonly Uint8Array[];
  /** One for each of them: JSON in UTF-8. */
  readonly outputs: readonly Uint8Array[];
}

export interface Transactions {
  /** Runs what waits for the chain, and changes the state accordingly. */
  run(context: BlockContext): Ran;
  /**
   * Runs the transactions of a block that another node has made, and changes the state accordingly.
   * @returns their outputs
   * @throws LedgerFormatError when one of them cannot be in this block.
   */
  replay(context: BlockContext, transactions: readonly Uint8Array[]): readonly Uint8Array[];
}

/** No transactions at all. */
export const NO_TRANSACTIONS: Transactions = {
  run: () => ({ transactions: [], outputs: [] }),
  replay: (_, transactions) => {
    if (transactions.length > 0) throw new LedgerFormatError('this ledger has no transactions');
    return [];
  },
};
