/**
 * Proves what a block has earned. The payload is checked against the header that this rig solved, so the node need not
 * be trusted.
 */

import type { Decimal } from '../../protocol/ledger/decimal.ts';
import { parseHeader } from '../../protocol/ledger/header.ts';
import { LedgerFormatError } from '../../protocol/ledger/json.ts';
import type { PayloadWithOutputs, Proven } from '../../protocol/ledger/payload.ts';
import { rewardOf } from '../../protocol/ledger/reward.ts';
import type { BlockRecord, Keyset } from './record.ts';

export interface ProvenReward {
  /** The account that the block pays. */
  readonly account: string;
  /**
   * Present if the account has the name of the miner's account but other keys, so that somebody else can spend its
   * coins. Always absent if the block's record does not have the miner's keys.
   */
  readonly hasOtherKeys?: true;
  /** The new coins; undefined for an old block of a network with unknown rewards. */
  readonly reward: Decimal | undefined;
  readonly fees: Decimal;
}

/**
 * A block's payload does not pay as the rules of the ledger demand. The message follows the node's name and a colon.
 */
export class RewardFault extends Error {
  override readonly name = 'RewardFault';
}

type Miner = Pick<BlockRecord, 'account' | 'keyset'>;

/**
 * Proves which account a block pays, and how much. It may be another account than the miner's: see `payeeInPlaceOf`.
 * @throws RewardFault if the payload is not the block's, or does not pay as the rules of the ledger demand
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
 * A block pays the account in its payload, even if the node was asked to work for another account.
 * @returns the account that was paid, as a text for people, if it is not the miner's account: the block has then earned
 *   nothing. Undefined if it is the miner's account
 */
export function payeeInPlaceOf({ account }: Miner, paid: ProvenReward): string | undefined {
  if (paid.account !== account) return paid.account;
  return paid.hasOtherKeys ? `${account} with other keys` : undefined;
}

/**
 * Whether the account is named after its key: `k:` and the key. The ledger compares the name with the key, so nobody
 * can create the account with another key.
 */
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
