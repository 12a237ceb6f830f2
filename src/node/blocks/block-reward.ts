/** Proves what a block earned against the header that this rig solved, so the node need not be trusted. */

import type { Decimal } from '../../protocol/ledger/decimal.ts';
import { parseHeader } from '../../protocol/ledger/header.ts';
import { LedgerFormatError } from '../../protocol/ledger/json.ts';
import type { PayloadWithOutputs, Proven } from '../../protocol/ledger/payload.ts';
import { rewardOf } from '../../protocol/ledger/reward.ts';
import type { BlockRecord, Keyset } from './record.ts';

export interface ProvenReward {
  readonly account: string;
  /** Present if that account has the miner's name but other keys, so that another party can spend its coins. */
  readonly hasOtherKeys?: true;
  /** The new coins; undefined for an old block of a network with unknown rewards. */
  readonly reward: Decimal | undefined;
  readonly fees: Decimal;
}

/** A node's answer about a reward is wrong. The message completes a sentence that begins with the node's name. */
export class RewardFault extends Error {
  override readonly name = 'RewardFault';
}

type Miner = Pick<BlockRecord, 'account' | 'keyset'>;

/**
 * The payee may differ from the miner: see `payeeInPlaceOf`. @throws RewardFault if the payload does not pay as it must
 */
export function proveReward(
  { header: bytes, ...miner }: Pick<BlockRecord, 'header'> & Miner,
  payload: Proven<PayloadWithOutputs>,
): ProvenReward {
  try {
    const { account, reward, fees, ...keyset } = rewardOf(parseHeader(bytes), payload);
    const hasOtherKeys = account === miner.account && miner.keyset !== undefined && !isSame(keyset, miner.keyset);
    return { account, reward, fees, ...(hasOtherKeys && { hasOtherKeys }) };
  } catch (fault) {
    if (!(fault instanceof LedgerFormatError)) throw fault;
    throw new RewardFault(`the payload is that of our block, but does not pay as it must: ${fault.message}`);
  }
}

/**
 * A node's work pays the account in its payload, whatever account the node was asked to work for.
 * @returns the account that was paid, for people, if it is not the miner's; the block has then earned nothing
 */
export function payeeInPlaceOf({ account }: Miner, paid: ProvenReward): string | undefined {
  if (paid.account !== account) return paid.account;
  return paid.hasOtherKeys ? `${account} with other keys` : undefined;
}

/** Whether the ledger compares the account's name with its key, so that nobody can create it with other keys. */
export function isNameOfKey(account: string): boolean {
  return account.startsWith('k:');
}

export function earnedBy({ reward = 0n, fees }: Pick<ProvenReward, 'reward' | 'fees'>): Decimal {
  return reward + fees;
}

function isSame(one: Keyset, other: Keyset): boolean {
  const [ones, others] = [new Set(one.publicKeys), new Set(other.publicKeys)];
  return one.predicate === other.predicate && ones.size === others.size && [...ones].every((key) => others.has(key));
}
