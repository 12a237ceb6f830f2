/** Computes where a node's endpoints are (document 1, "Conventions that apply to every endpoint", 1). */

export interface NodeAddress {
  /** `http://host:port` */
  readonly origin: string;
  /** The path of the API, without a slash at the end. */
  readonly basePath: string;
  /** Whether the URL has named the path, which is then used as it is. */
  readonly isPathGiven: boolean;
  /** The network that the path names; otherwise the network that was given. */
  readonly network: string;
  /** For people: origin and path, shortened as by `shownUrl`. */
  readonly name: string;
}

/** The paths of the API: document 1's ("Conventions", 1) and Chainweb's. */
const API_PATH = /\/(?:ledger|chainweb)\/0\.0\/([^/]+)$/;

/** `/config` and `/health-check` are at the host root. */
export const CONFIG_PATH = '/config';
export const HEALTH_PATH = '/health-check';

/**
 * @param url a node's URL. Without a path it gets `/ledger/0.0/<network>`; a path is used as it is
 * @throws Error that says what a node URL looks like
 */
export function nodeAddress(url: string, network: string): NodeAddress {
  const parsed = /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed)
    throw new Error(`"${url}" is not a node URL: write it like http://127.0.0.1:1848 or https://node.example`);
  if (parsed.search || parsed.hash || parsed.username || parsed.password) {
    throw new Error(
      `the node URL for ${parsed.host} must be only a host and a path, without user, password, "?" or "#"`,
    );
  }
  const path = parsed.pathname.replace(/\/+$/, '');
  const basePath = path === '' ? `/ledger/0.0/${network}` : path;
  return {
    origin: parsed.origin,
    basePath,
    isPathGiven: path !== '',
    network: API_PATH.exec(basePath)?.[1] ?? network,
    name: parsed.origin + shownPath(basePath),
  };
}

/**
 * Shortens a URL for people. Hosted nodes have a customer's key in the path, so only the API's own part of the path is
 * shown: `http://host/…/chainweb/0.0/mainnet01`. A path without that part becomes `http://host/…`.
 * @param url a valid URL
 */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/+$/, '');
  const shown = shownPath(path);
  return shown === path ? url : origin + shown;
}

/** @param path without a slash at the end */
export function shownPath(path: string): string {
  const at = path.search(API_PATH);
  if (at === 0 || path === '') return path;
  return at < 0 ? '/…' : `/…${path.slice(at)}`;
}

/** @returns the text with the node's path replaced by its shown part, because answers may quote the request */
export function hidePath(text: string, { basePath }: NodeAddress): string {
  return text.replaceAll(basePath, shownPath(basePath));
}

/** @returns the names with numbers after repeated ones: `name`, `name (2)`. The URLs may differ in what is not shown */
export function numberRepeated(names: readonly string[]): string[] {
  return names.map((name, index) => {
    const number = names.slice(0, index + 1).filter((each) => each === name).length;
    return number === 1 ? name : `${name} (${number})`;
  });
}

/**
 * Whether a node's URL has a path, which then names the network.
 * @param url a valid URL
 */
export function hasPath(url: string): boolean {
  return new URL(url).pathname.replace(/\/+$/, '') !== '';
}

/* The identity of a miner at a node (document 1, "Miner information"), and its keys. This file imports nothing. */

/** The rules for which of an account's keys must sign. */
export const PREDICATES = ['keys-all', 'keys-any', 'keys-2'] as const;
type Predicate = (typeof PREDICATES)[number];

export interface MinerIdentity {
  /** The account that receives the rewards. */
  readonly account: string;
  readonly predicate: Predicate;
  /** 64 hex digits each. */
  readonly publicKeys: readonly string[];
}

/** The field and the constant of Ed25519's curve, −x² + y² = 1 + d·x²·y² (RFC 8032, 5.1). */
const P = 2n ** 255n - 19n;
const D = 37_095_705_934_669_439_343_138_083_508_754_565_189_542_113_879_843_219_016_388_785_533_085_940_283_555n;

/**
 * Whether 32 bytes are a point of the curve of Ed25519, as every public key is. Of other bytes, such as those of a
 * secret key, about half are none.
 * @param key 64 hex digits: y, little-endian, with the sign of x in its highest bit
 */
export function isOnCurve(key: string): boolean {
  const bytes = key.match(/../g) ?? [];
  const encoded = BigInt(`0x${bytes.reverse().join('')}`);
  const y = BigInt.asUintN(255, encoded);
  if (y >= P) return false;
  // x² = u/v has a root if u·v has one; v is never 0.
  const u = y * y - 1n;
  const v = D * y * y + 1n;
  const character = power((((u * v) % P) + P) % P, (P - 1n) / 2n);
  return character === 0n ? encoded === y : character === 1n;
}

/** @returns base^exponent modulo P */
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let [square, left] = [base, exponent]; left > 0n; left >>= 1n, square = (square * square) % P) {
    if (left & 1n) result = (result * square) % P;
  }
  return result;
}
