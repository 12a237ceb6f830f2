/** What a payload says about its miner, and the coinbase: the output that pays the miner. */

import { z } from 'zod';
import { decodeBase64url } from './base64url.ts';
import { LedgerFormatError, quoted } from './errors.ts';
import { type ExactJson, parseExactJsonBytes } from './exact-json.ts';
import { bytes, checked } from './fields.ts';
import { HASH_BYTES } from './merkle.ts';
import { COIN, type Transfer, transfersOf } from './transfers.ts';

/** Document 1, "Miner information". */
export interface Miner {
  readonly account: string;
  /** Most often `keys-all`. */
  readonly predicate: string;
  readonly publicKeys: readonly string[];
}

export interface Coinbase {
  /**
   * `failed` when the miner was not paid, for example because the account has other keys; `none` in a chain's first
   * block.
   */
  readonly outcome: 'paid' | 'failed' | 'none';
  /** The hash of the block's parent on the same chain, 32 bytes; something else if the outcome is `none`. */
  readonly parent: Uint8Array;
  /** The coins that moved; undefined in old blocks, whose outputs have no events. */
  readonly transfers: readonly Transfer[] | undefined;
}

const MinerObject = z.object({
  account: z.string(),
  predicate: z.string(),
  'public-keys': z.array(z.string()),
});

const CoinbaseObject = z.object({
  reqKey: bytes,
  result: z.object({ status: z.enum(['success', 'failure']), data: z.custom<ExactJson>().optional() }),
});

/** The result of the first block of a chain. */
const NO_COINBASE = 'NO_COINBASE';

/** @param minerData JSON in UTF-8 @throws LedgerFormatError for all else. */
export function parseMiner(minerData: Uint8Array): Miner {
  const { account, predicate, ...it } = checked(MinerObject, parseExactJsonBytes(minerData), 'minerData');
  return { account, predicate, publicKeys: it['public-keys'] };
}

/**
 * @param coinbase JSON in UTF-8
 * @param token the module that keeps the coins
 * @throws LedgerFormatError for all else.
 */
export function parseCoinbase(coinbase: Uint8Array, token: string = COIN): Coinbase {
  const json = parseExactJsonBytes(coinbase);
  const { reqKey, result } = checked(CoinbaseObject, json, 'coinbase');
  const outcome = result.data === NO_COINBASE ? 'none' : result.status === 'success' ? 'paid' : 'failed';
  return { outcome, parent: parentOf(reqKey), transfers: transfersOf(json, token) };
}

/** The request key holds the parent's hash: in old blocks as a JSON string, later as text, or as it is. */
function parentOf(reqKey: Uint8Array): Uint8Array {
  if (reqKey.length === HASH_BYTES) return reqKey;
  const text = Buffer.from(reqKey).toString('latin1');
  try {
    return decodeBase64url(text.replace(/^"(.*)"$/, '$1'), HASH_BYTES);
  } catch {
    throw new LedgerFormatError(`coinbase.reqKey: ${quoted(text)} is not the hash of a block`);
  }
}
