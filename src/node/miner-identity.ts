/** The identity of a miner at a node (document 1, "Miner information"). This file imports nothing. */

/** The rules for which of an account's keys must sign. */
export const PREDICATES = ['keys-all', 'keys-any', 'keys-2'] as const;
export type Predicate = (typeof PREDICATES)[number];

export interface MinerIdentity {
  /** The account that receives the rewards. */
  readonly account: string;
  readonly predicate: Predicate;
  /** 64 hex digits each. */
  readonly publicKeys: readonly string[];
}
