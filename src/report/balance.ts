/** What the account that is mined for has, as a node says. pickaxe cannot prove it. */

export interface Balance {
  readonly account: string;
  /** The node that gave the answer, as it is shown. */
  readonly node: string;
  /** In the order of the chains. */
  readonly chains: readonly ChainBalance[];
  /** An exact decimal number of coins: the sum; null unless every chain answered. */
  readonly total: string | null;
}

export interface ChainBalance {
  readonly chain: number;
  /** An exact decimal number of coins, 0 where the account does not exist; null when the chain did not answer. */
  readonly balance: string | null;
  /** Whether the account exists there; null when the chain did not answer. */
  readonly exists: boolean | null;
  /** Why the chain did not answer; null when it did. */
  readonly fault: string | null;
}

/**
 * Asks now.
 * @param stop ends the question, with its reason
 * @throws NoBalance when no node has an answer
 */
export type AskBalance = (stop: AbortSignal) => Promise<Balance>;

/** No node has an answer; the message says why. */
export class NoBalance extends Error {
  override readonly name = 'NoBalance';
}
