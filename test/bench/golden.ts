/**
 * Hash sums of seed `pickaxe`, as node:crypto's blake2s256 (OpenSSL) found them by hashing every nonce: no kernel of ours
 * was asked. `challenge.test.ts` computes the smallest again.
 */
export const GOLDEN = [
  { count: 100_000, candidates: 4_089, sum: '12a940be5c6bcae7' },
  { count: 131_072, candidates: 4_105, sum: 'fed0fe9a201da5b3' },
] as const;
