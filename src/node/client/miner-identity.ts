/**
 * The identity of a miner at a node (document 1, "Miner information"), its keys, and its entry in a node's
 * configuration. This file imports nothing.
 */

/** The rules for how many of an account's keys must sign: all, any one, or any two. */
export const PREDICATES = ['keys-all', 'keys-any', 'keys-2'] as const;
type Predicate = (typeof PREDICATES)[number];

export interface MinerIdentity {
  readonly account: string;
  readonly predicate: Predicate;
  /** The public keys, 64 hex digits each. */
  readonly publicKeys: readonly string[];
}

interface MinerSettings {
  readonly account?: string | undefined;
  readonly predicate: Predicate;
  readonly publicKeys?: readonly string[] | undefined;
}

/** @returns the identity, by default with the account of the first key; undefined if there is no key */
export function minerIdentity({ account, predicate, publicKeys = [] }: MinerSettings): MinerIdentity | undefined {
  if (publicKeys.length === 0) return undefined;
  return { account: account ?? accountOf(publicKeys[0]), predicate, publicKeys };
}

export function accountOf(publicKey: string): string {
  return `k:${publicKey}`;
}

/** The prime of the field, and the constant d of Ed25519's curve, −x² + y² = 1 + d·x²·y² (RFC 8032, 5.1). */
const P = 2n ** 255n - 19n;
const D = 37_095_705_934_669_439_343_138_083_508_754_565_189_542_113_879_843_219_016_388_785_533_085_940_283_555n;

/**
 * Whether 32 bytes encode a point of Ed25519's curve. Every public key does so, but only about half of all other
 * values.
 * @param key 64 hex digits: y, little-endian, with the sign of x in its highest bit
 */
export function isOnCurve(key: string): boolean {
  const bytes = key.match(/../g) ?? [];
  const encoded = BigInt(`0x${bytes.reverse().join('')}`);
  const y = BigInt.asUintN(255, encoded);
  if (y >= P) return false;
  // x is the square root of u/v. It exists if u·v has a square root; v is never 0. If u is 0, x is 0, without a sign.
  const u = y * y - 1n;
  const v = D * y * y + 1n;
  const character = power((((u * v) % P) + P) % P, (P - 1n) / 2n);
  return character === 0n ? encoded === y : character === 1n;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let [square, left] = [base, exponent]; left > 0n; left >>= 1n, square = (square * square) % P) {
    if (left & 1n) result = (result * square) % P;
  }
  return result;
}

/**
 * @returns lines of YAML with which the node accepts this miner. The first line is a comment that names the section for
 *   the lines
 */
export function nodeConfigurationFor({ account, predicate, publicKeys }: MinerIdentity): string[] {
  // Accounts and keys are written as JSON strings, which are valid YAML whatever characters they contain.
  const keys = publicKeys.map((key) => JSON.stringify(key)).join(', ');
  return [
    '# for the node’s configuration: for its section chainweb, where it has one',
    'mining:',
    '  coordination:',
    '    enabled: true',
    '    miners:',
    `      - account: ${JSON.stringify(account)}`,
    `        predicate: ${predicate}`,
    `        public-keys: [${keys}]`,
  ];
}

export function explainMiner({ account, predicate, publicKeys }: MinerIdentity): string {
  const bare = /^[0-9a-f]{64}$/i.test(account);
  const prefixed = /^k:/.test(account) && publicKeys[0] !== account.slice(2);
  const hint = bare
    ? ` The account is a bare key. Most accounts begin with "k:", and "k:${account}" is a different account.`
    : prefixed
      ? ' The account begins with "k:", but the key behind that is not the first public key.'
      : ' "k:" followed by a key and the bare key are two different accounts.';
  return (
    `The account (${account}), the predicate (${predicate}) and the public keys must all equal those of a miner in the ` +
    `node's configuration.${hint}`
  );
}
