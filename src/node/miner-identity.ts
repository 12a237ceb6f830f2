/** Who is mining, as a node knows it (document 1, "Miner information"). A leaf. */

/** Which of an account's keys must sign. */
export const PREDICATES = ['keys-all', 'keys-any', 'keys-2'] as const;
export type Predicate = (typeof PREDICATES)[number];

export interface MinerIdentity {
  /** The account that rewards go to. */
  readonly account: string;
  readonly predicate: Predicate;
  /** 64 hex digits each. */
  readonly publicKeys: readonly string[];
}
