/**
 * What is kept of a block that a node accepted, or may have accepted: enough to follow it, to prove its reward, and to
 * compute luck and latency.
 */

import { blockHash, parseHeader } from '../ledger/header.ts';
import { encodeBase64url } from '../ledger/json.ts';
import type { Miner } from '../ledger/payload.ts';

/** The keys that can spend the coins of an account. */
export type Keyset = Omit<Miner, 'account'>;

export interface BlockRecord {
  /** The block hash, by which the ledger names it: 43 characters of base64url. */
  readonly hash: string;
  readonly chain: number;
  readonly height: bigint;
  /** The solved header as it was submitted, 286 bytes, without the block hash. */
  readonly header: Uint8Array;
  /** When it was sent to the node: milliseconds since the UNIX epoch. */
  readonly foundMs: number;
  /** The name of the network, as the settings have it. */
  readonly network: string;
  /** The node that it was submitted to, as it is shown. */
  readonly node: string;
  /**
   * Whether that node answered that it accepted the block. Otherwise its answer was lost or has not come yet, and only
   * the chain shows whether it was taken.
   */
  readonly isAnswered: boolean;
  /** The account that it was mined for. */
  readonly account: string;
  /** The keys of that account. Absent where nobody else can take its name (`k:`), and in older records. */
  readonly keyset?: Keyset;
  /** The device that found it, or the relay that brought it. */
  readonly device: string;
  readonly isRelay: boolean;
  /** Average number of hashes for a block. */
  readonly difficulty: number;
  /** From finding the solution to the node's answer, or to the end of the wait for one; 0 before that. */
  readonly answerSeconds: number;
  /** From the last New Cut to searching the work that followed; absent where the device has had none. */
  readonly switchSeconds?: number;
  /**
   * Number of blocks to expect from what the rig's devices hashed since the record before this one, or since the start
   * of the run.
   */
  readonly expectedBlocks: number;
}

/** A record before it is known which block it is of. */
export type FoundBlock = Omit<BlockRecord, 'hash' | 'chain' | 'height'>;

/**
 * The block hash and where the block belongs follow from its header. This takes about 0.1 ms, so it is for accepted
 * blocks only.
 * @throws LedgerFormatError when the header is not one.
 */
export function recordOf(found: FoundBlock): BlockRecord {
  const header = parseHeader(found.header);
  return { hash: encodeBase64url(blockHash(header)), chain: header.chain, height: header.height, ...found };
}
