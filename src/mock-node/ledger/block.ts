/** A block of the mock ledger, with everything that is below its hash. */

import { encodeBase64url } from '../../ledger/base64url.ts';
import { type BlockHeader, parseHeader } from '../../ledger/header.ts';
import type { PayloadWithOutputs } from '../../ledger/payload.ts';
import type { CoinState } from '../contract/state.ts';
import { blockHashOf } from './hashes.ts';

/** A payload, and what the accounts of its chain are after it. */
export interface BlockPayload extends PayloadWithOutputs {
  readonly state: CoinState;
}

export interface Block {
  readonly header: BlockHeader;
  /** The header without its hash: 286 bytes when its chain has three neighbours. */
  readonly bytes: Uint8Array;
  /** The block hash, 32 bytes. */
  readonly hash: Uint8Array;
  /** The block hash as text, 43 characters. */
  readonly id: string;
  readonly payload: BlockPayload;
}

/** @param bytes a header without its hash */
export function blockOf(bytes: Uint8Array, payload: BlockPayload): Block {
  const header = parseHeader(bytes);
  const hash = blockHashOf(bytes);
  return { header, bytes, hash, id: encodeBase64url(hash), payload };
}
