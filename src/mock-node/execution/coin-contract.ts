/** The node's calls of the coin contract. They need capabilities that only the node can grant. */

import type { TreeEvaluator } from '../../contract/evaluator/evaluator.ts';
import { ModuleName, QualifiedName } from '../../contract/names.ts';
import { findModule } from '../../contract/runtime/lookup.ts';
import type { Callable, Member } from '../../contract/runtime/module.ts';
import { type Event, INITIAL_STATE, NO_CAPABILITIES } from '../../contract/runtime/state.ts';
import { KeysetGuard } from '../../contract/values/values.ts';
import type { Decimal as Coins } from '../../protocol/ledger/decimal.ts';
import { COIN, type Miner } from '../../protocol/ledger/payload.ts';
import { blockEnvironment, coinsValue, type ExecutionContext, evaluatorOn } from './block-environment.ts';

export const COIN_MODULE = new ModuleName(COIN);

/** Resets the evaluator's state, and grants one capability of the coin contract in it. */
export function grant(evaluator: TreeEvaluator, capability: string): void {
  const granted = { capability: { name: new QualifiedName(COIN_MODULE, capability), args: [] }, composed: [] };
  evaluator.state = { ...INITIAL_STATE, capabilities: { ...NO_CAPABILITIES, grants: [granted] } };
}

export function coinMember(evaluator: TreeEvaluator, name: string): Member<Callable> {
  const member = findModule(evaluator, COIN_MODULE)?.members.get(name);
  if (member?.is('defun') || member?.is('defpact')) return member;
  throw new TypeError(`the coin contract has no function ${name}`);
}

/** @returns the events of the payment @throws ContractError if the miner cannot be paid */
export function payReward(context: ExecutionContext, miner: Miner, amount: Coins): readonly Event[] {
  const evaluator = evaluatorOn(context, blockEnvironment(context, context.parent.id));
  grant(evaluator, 'COINBASE');
  const args = [miner.account, guardOf(miner), coinsValue(amount)];
  evaluator.applyMember({ member: coinMember(evaluator, 'coinbase'), args });
  return evaluator.state.events;
}

function guardOf({ publicKeys, predicate }: Miner): KeysetGuard {
  return new KeysetGuard(publicKeys, predicate);
}
