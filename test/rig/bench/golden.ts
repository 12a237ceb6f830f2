/**
 * The hash sums of seed `pickaxe`. They were computed with node:crypto's blake2s256 (OpenSSL) by hashing every nonce,
 * without any kernel of pickaxe. `challenge.test.ts` computes the smallest one again.
 */
export const GOLDEN = [
  { count: 100_000, candidates: 4_089, sum: '12a940be5c6bcae7' },
  { count: 131_072, candidates: 4_105, sum: 'fed0fe9a201da5b3' },
] as const;
