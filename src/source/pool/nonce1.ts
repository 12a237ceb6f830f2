/** Reads nonce1, the part of the nonce that a pool fixes, from the answer to `mining.subscribe` and `mining.set_extranonce`. Pure. */

import { NONCE_BYTES } from '../../chain/layout.ts';
import type { Nonce1 } from '../../chain/nonce.ts';

/** A whole lane. A nonce1 of more bytes would fix low bits of the counter, and no range of counters has such gaps. */
const MOST_BYTES = 2;

/**
 * Reads `[…, nonce1, size of nonce2]`; some pools leave the size out.
 * @returns nonce1, or one sentence that says why it cannot be used
 */
export function parseSubscription(result: unknown): Nonce1 | string {
  if (!Array.isArray(result) || result.length < 2)
    return 'it does not say which part of the nonce it has fixed (nonce1)';
  return parseNonce1(result[1], result[2]);
}

/**
 * @param hex hex digits, the most significant first; some servers leave out leading zeros
 * @param size how many bytes are left to the miner; undefined when the pool does not say
 * @returns nonce1, or one sentence that says why it cannot be used
 */
export function parseNonce1(hex: unknown, size: unknown): Nonce1 | string {
  if (typeof hex !== 'string' || !/^(0x)?[\da-f]{0,16}$/i.test(hex)) return 'its nonce1 is no number in hex digits';
  const digits = hex.replace(/^0x/i, '');
  const least = Math.ceil(digits.length / 2);
  if (size !== undefined && size !== null && !isSize(size)) return 'its size of nonce2 is no number of bytes';
  const bytes = isSize(size) ? NONCE_BYTES - size : least;
  if (least > bytes || (digits === '' && bytes > 0)) {
    return `it gives a nonce1 of ${least} bytes and leaves ${size} to the miner: together they must be ${NONCE_BYTES}`;
  }
  if (bytes > MOST_BYTES) {
    return `it fixes ${bytes} bytes of the nonce (nonce1), and pickaxe can leave at most ${MOST_BYTES} to a pool`;
  }
  return { value: bytes === 0 ? 0 : Number.parseInt(digits || '0', 16), bytes: bytes as Nonce1['bytes'] };
}

function isSize(size: unknown): size is number {
  return typeof size === 'number' && Number.isInteger(size) && size >= 0 && size <= NONCE_BYTES;
}
