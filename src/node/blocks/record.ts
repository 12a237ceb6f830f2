/** The record of a block: enough to follow it, to prove its reward, and to compute luck and latency. */

import { blockHash, parseHeader } from '../../protocol/ledger/header.ts';
import { encodeBase64url } from '../../protocol/ledger/json.ts';
import type { Miner } from '../../protocol/ledger/payload.ts';

/** The keys that can spend the coins of an account. */
export type Keyset = Omit<Miner, 'account'>;

export interface BlockRecord {
  /** The block hash: 43 characters of base64url. */
  readonly hash: string;
  readonly chain: number;
  readonly height: bigint;
  /** The solved header as it was submitted, 286 bytes, without the block hash. */
  readonly header: Uint8Array;
  /** Time of sending the block to the node: milliseconds since the UNIX epoch. */
  readonly foundMs: number;
  /** The network's name in the settings. */
  readonly network: string;
  /** The display name of the node that received the block. */
  readonly node: string;
  /**
   * Whether the node has answered. Otherwise the answer was lost or has not come yet, and only the chain shows whether
   * the node accepted the block.
   */
  readonly isAnswered: boolean;
  readonly account: string;
  /** The keys of the account. Absent in older records, and for a `k:` account, whose name nobody else can take. */
  readonly keyset?: Keyset;
  readonly device: string;
  readonly isRelay: boolean;
  /** Average number of hashes per block. */
  readonly difficulty: number;
  /** Time from finding the solution to the node's answer, or to the end of the wait for it; 0 before that. */
  readonly answerSeconds: number;
  /** Time from the last New Cut to searching the new work; absent if the device has had no New Cut. */
  readonly switchSeconds?: number;
  /** Number of blocks to expect from the devices' hashes since the previous record, or since the start of the run. */
  readonly expectedBlocks: number;
}

export type FoundBlock = Omit<BlockRecord, 'hash' | 'chain' | 'height'>;

/**
 * Completes a record from its header. This takes about 0.1 ms, so it is for blocks only, not for shares.
 * @throws LedgerFormatError if the header is malformed
 */
export function recordOf(found: FoundBlock): BlockRecord {
  const header = parseHeader(found.header);
  return { hash: encodeBase64url(blockHash(header)), chain: header.chain, height: header.height, ...found };
}
