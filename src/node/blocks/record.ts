/**
 * The record of a block. It has what is needed to follow the block, to prove its reward, and to compute luck and
 * latency.
 */

import { blockHash, parseHeader } from '../../protocol/ledger/header.ts';
import { encodeBase64url } from '../../protocol/ledger/json.ts';
import type { Miner } from '../../protocol/ledger/payload.ts';

/** The public keys of an account, and the rule for how many of them must sign. */
export type Keyset = Omit<Miner, 'account'>;

export interface BlockRecord {
  /** The block hash: 43 characters of base64url. */
  readonly hash: string;
  readonly chain: number;
  readonly height: bigint;
  /** The solved header as it was submitted, 286 bytes, without the block hash. */
  readonly header: Uint8Array;
  /** Time at which the block was recorded, usually when it was sent to the node: milliseconds since the UNIX epoch. */
  readonly foundMs: number;
  /** The network's name in the settings. */
  readonly network: string;
  /** The display name of the node that received the block. */
  readonly node: string;
  /**
   * Whether the node has answered that it accepted the block. If not, the node refused the block, or its answer was
   * lost or has not come yet. Only the chain then shows whether the block was accepted.
   */
  readonly isAnswered: boolean;
  readonly account: string;
  /**
   * The keys of the account. Absent for a `k:` account: its name contains its only key, so nobody else can take the
   * name. Older records of other accounts lack the keys, too.
   */
  readonly keyset?: Keyset;
  readonly device: string;
  readonly isRelay: boolean;
  /** Average number of hashes per block. */
  readonly difficulty: number;
  /**
   * Time from finding the solution to the node's answer, or to the end of the wait for the answer. 0 while neither has
   * happened.
   */
  readonly answerSeconds: number;
  /** Time from the last New Cut to the start of the search in the new work; absent if the device has had no New Cut. */
  readonly switchSeconds?: number;
  /** Number of blocks to expect from the devices' hashes since the previous record, or since the start of the run. */
  readonly expectedBlocks: number;
}

export type FoundBlock = Omit<BlockRecord, 'hash' | 'chain' | 'height'>;

/**
 * Completes a record from its header. This takes about 0.1 ms, so it is done for blocks only, not for shares.
 * @throws LedgerFormatError if the header is malformed
 */
export function recordOf(found: FoundBlock): BlockRecord {
  const header = parseHeader(found.header);
  return { hash: encodeBase64url(blockHash(header)), chain: header.chain, height: header.height, ...found };
}
