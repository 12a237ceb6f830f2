/** The first accounts of each chain: those of the options, and two of the mock itself. */

import type { Keyset } from '../../ledger/command/coin.ts';
import { type Decimal, ONE, parseDecimal } from '../../ledger/decimal.ts';
import type { ContractSettings } from '../options.ts';
import { HELPER, HELPER_ACCOUNT } from './helper.ts';
import { CoinState } from './state.ts';

/** Pays for the arrival of coins from other chains. */
export const GAS_STATION = 'kadena-xchain-gas';

const OWN_BALANCE: Decimal = 1000n * ONE;

export class FirstAccounts {
  readonly #settings: ContractSettings;

  constructor(settings: ContractSettings) {
    this.#settings = settings;
  }

  stateOf(chain: number): CoinState {
    const state = new CoinState();
    state.setAccount(HELPER_ACCOUNT, { balance: OWN_BALANCE, guard: { keys: [HELPER.publicKey], pred: 'keys-all' } });
    if (this.#settings.gasStation) state.setAccount(GAS_STATION, { balance: OWN_BALANCE, guard: 'gas station' });
    for (const { account, balance, keys, pred, chains } of this.#settings.accounts) {
      const guard: Keyset = { keys: keys ?? [account.replace(/^k:/, '')], pred };
      if (!chains || chains.includes(chain)) state.setAccount(account, { balance: parseDecimal(balance), guard });
    }
    return state;
  }
}
