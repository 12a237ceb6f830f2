/** What a block earned, proven against the header that this rig has solved: the node need not be trusted. */

import type { Decimal } from '../ledger/decimal.ts';
import { LedgerFormatError } from '../ledger/errors.ts';
import { parseHeader } from '../ledger/header.ts';
import { checkPayload, type PayloadWithOutputs } from '../ledger/payload.ts';
import { rewardOf } from '../ledger/reward.ts';
import type { BlockRecord } from './record.ts';

export interface ProvenReward {
  /** The account that was paid. */
  readonly account: string;
  /** The new coins; undefined for an old block of a network whose rewards are not known. */
  readonly reward: Decimal | undefined;
  readonly fees: Decimal;
}

/** What a node says of a block's reward is not so. The message says what, and is to follow the node's name. */
export class RewardFault extends Error {
  override readonly name = 'RewardFault';
}

/** @throws RewardFault when the payload is not that of our block, or does not pay its miner. */
export function proveReward({ header: bytes }: Pick<BlockRecord, 'header'>, payload: PayloadWithOutputs): ProvenReward {
  const header = parseHeader(bytes);
  try {
    checkPayload(payload, header.payloadHash);
  } catch (fault) {
    throw named(fault, 'the payload does not have the root that is in our header');
  }
  try {
    return rewardOf(header, payload);
  } catch (fault) {
    throw named(fault, 'the payload is that of our block, but does not pay as it must');
  }
}

/** @returns what a block earned in all */
export function earnedBy({ reward = 0n, fees }: Pick<ProvenReward, 'reward' | 'fees'>): Decimal {
  return reward + fees;
}

function named(fault: unknown, what: string): unknown {
  return fault instanceof LedgerFormatError ? new RewardFault(`${what}: ${fault.message}`) : fault;
}
