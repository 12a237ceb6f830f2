import type { BlockHeader } from '#pickaxe/protocol/ledger/header.js';
import { type PayloadWithOutputs, provePayload } from '#pickaxe/protocol/ledger/payload.js';
import { type BlockReward, rewardOf } from '#pickaxe/protocol/ledger/reward.js';

/** Proves the payload, and reads the reward. @throws LedgerFormatError */
export function provenReward(header: BlockHeader, payload: PayloadWithOutputs, token?: string): BlockReward {
  return rewardOf(header, provePayload(payload, header.payloadHash), token);
}
