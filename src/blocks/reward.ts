/** What a block earned, proven against the header that this rig has solved: the node need not be trusted. */

import type { Decimal } from '../ledger/decimal.ts';
import { parseHeader } from '../ledger/header.ts';
import { LedgerFormatError } from '../ledger/json.ts';
import type { PayloadWithOutputs, Proven } from '../ledger/payload.ts';
import { rewardOf } from '../ledger/reward.ts';
import type { BlockRecord, Keyset } from './record.ts';

export interface ProvenReward {
  /** The account that was paid. */
  readonly account: string;
  /** Present where that account has the name of the miner's, but other keys, so that another can spend what it gets. */
  readonly hasOtherKeys?: true;
  /** The new coins; undefined for an old block of a network whose rewards are not known. */
  readonly reward: Decimal | undefined;
  readonly fees: Decimal;
}

/** A node's answer about a block's reward is wrong. The message says how, and is to follow the node's name. */
export class RewardFault extends Error {
  override readonly name = 'RewardFault';
}

/** The account that a block was mined for. */
type Miner = Pick<BlockRecord, 'account' | 'keyset'>;

/**
 * Proves the amount and the payee of a block's reward. The payee may be another account than the miner's: see
 * `payeeInPlaceOf`.
 * @throws RewardFault when the payload does not pay as it must
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
 * The work of a node is for the account in its payload, whatever account the node was asked to work for.
 * @returns the account that was paid, for people, if it is not the miner's: then the block has earned nothing
 */
export function payeeInPlaceOf({ account }: Miner, paid: ProvenReward): string | undefined {
  if (paid.account !== account) return paid.account;
  return paid.hasOtherKeys ? `${account} with other keys` : undefined;
}

/** Whether nobody can make the account of that name with other keys: the ledger compares the key with the name. */
export function isNameOfKey(account: string): boolean {
  return account.startsWith('k:');
}

/** @returns what a block earned in all */
export function earnedBy({ reward = 0n, fees }: Pick<ProvenReward, 'reward' | 'fees'>): Decimal {
  return reward + fees;
}

/** The order of keys does not matter. */
function isSame(one: Keyset, other: Keyset): boolean {
  const [ones, others] = [new Set(one.publicKeys), new Set(other.publicKeys)];
  return one.predicate === other.predicate && ones.size === others.size && [...ones].every((key) => others.has(key));
}
