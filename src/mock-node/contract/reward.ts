/** Pays the miner of a block. */

import type { Event } from '../../contract/runtime/state.ts';
import { areEqual, KeysetGuard } from '../../contract/values/values.ts';
import type { Decimal as Coins } from '../../ledger/decimal.ts';
import type { Miner } from '../../ledger/payload.ts';
import { blockEnvironment, coinsValue, evaluatorOn, type Ground, grant } from './environment.ts';
import { coinMember } from './gas-payment.ts';
import type { ChainState } from './state.ts';

/** @returns what the node tells of it @throws ContractError if the miner's account has another guard */
export function payReward(ground: Ground, miner: Miner, amount: Coins): readonly Event[] {
  const evaluator = evaluatorOn(ground, blockEnvironment(ground, ground.parent.id));
  grant(evaluator, 'COINBASE');
  const args = [miner.account, guardOf(miner), coinsValue(amount)];
  evaluator.applyMember({ member: coinMember(evaluator, 'coinbase'), args });
  return evaluator.state.events;
}

/** Whether the miner's account does not exist, or has the miner's own guard. */
export function canBePaid(state: ChainState, miner: Miner): boolean {
  const account = state.account(miner.account);
  return account === undefined || areEqual(account.guard, guardOf(miner));
}

function guardOf({ publicKeys, predicate }: Miner): KeysetGuard {
  return new KeysetGuard(publicKeys, predicate);
}
