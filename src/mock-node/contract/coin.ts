/** The coin contract as the node itself uses it: its accounts, the payment of gas, and the reward of miners. */

import type { Environment } from '../../contract/evaluator/environment.ts';
import { Evaluator } from '../../contract/evaluator/evaluator.ts';
import { continueFlow } from '../../contract/evaluator/flows.ts';
import { findModule } from '../../contract/evaluator/lookup.ts';
import { type Callable, Member } from '../../contract/evaluator/module.ts';
import { INITIAL_STATE, NO_CAPABILITIES, type State } from '../../contract/evaluator/state.ts';
import { ModuleName, QualifiedName } from '../../contract/names.ts';
import { NATIVES } from '../../contract/natives/natives.ts';
import { areEqual, isGuard, KeysetGuard, type Guard, type Value } from '../../contract/values/values.ts';
import { Decimal } from '../../contract/values/decimal.ts';
import type { Decimal as Amount } from '../../ledger/decimal.ts';
import { PLACES } from '../../ledger/decimal.ts';
import { COIN, type Miner } from '../../ledger/payload.ts';
import type { ChainState } from './state.ts';

const COIN_MODULE = new ModuleName(COIN);
/** The name of the table of accounts in the database. */
export const ACCOUNTS = `${COIN}_coin-table`;

/** @returns an amount of 10^-12 coins as a value of the contract language */
export function coins(amount: Amount): Decimal {
  return new Decimal(amount, PLACES).normalised();
}
