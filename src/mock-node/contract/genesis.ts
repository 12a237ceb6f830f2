/** The first state of each chain: the node's own contracts, those that its user loads, and accounts with coins. */

import { readFileSync } from 'node:fs';
import type { Dialect } from '../../contract/dialect.ts';
import { Database } from '../../contract/evaluator/database.ts';
import { type Environment, INITIAL_ENVIRONMENT } from '../../contract/evaluator/environment.ts';
import { Evaluator } from '../../contract/evaluator/evaluator.ts';
import { runTopLevel } from '../../contract/evaluator/top-level.ts';
import { NATIVES } from '../../contract/natives/natives.ts';
import { topLevelOf } from '../../contract/syntax/forms.ts';
import { readForms } from '../../contract/syntax/reader.ts';
import { KeysetGuard } from '../../contract/values/values.ts';
import { ONE, parseDecimal } from '../../ledger/decimal.ts';
import type { ContractSettings } from '../options.ts';
import { coinsValue, dialectOf, grant } from './environment.ts';
import { coinMember } from './gas-payment.ts';
import { HELPER, HELPER_ACCOUNT } from './helper.ts';
import { ACCOUNTS, ChainState } from './state.ts';

/** Each may use those before it. */
const CONTRACTS = ['fungible-v2', 'fungible-xchain-v1', 'coin', 'gas-payer-v1', 'gas-station', 'ns'];
const STATION_MODULE = 'gas-station';
/** Pays for the arrival of coins from other chains. */
export const GAS_STATION = 'kadena-xchain-gas';
const OWN_BALANCE = 1000n * ONE;

/** The node's own contracts are the same in all its chains, and are read once in a process. */
const loaded = new Map<Dialect, Database>();

function ownContracts(dialect: Dialect): Database {
  const known = loaded.get(dialect);
  if (known) return known;
  const database = new Database();
  for (const name of CONTRACTS) {
    const text = readFileSync(new URL(`../contracts/${name}.pact`, import.meta.url), 'utf8');
    load(database, dialect, text, `${name}.pact`);
  }
  loaded.set(dialect, database);
  return database;
}

/** Runs all forms of a text, as before the first block. @throws ContractError */
function load(
  database: Database,
  dialect: Dialect,
  text: string,
  file: string,
  environment = INITIAL_ENVIRONMENT,
): void {
  const evaluator = new Evaluator({ dialect, natives: NATIVES, environment, database });
  for (const form of readForms(text, dialect, file)) runTopLevel(evaluator, topLevelOf(form, dialect));
}

interface Account {
  readonly account: string;
  readonly keys: readonly string[];
  readonly pred: string;
  /** In 10^-12 coins. */
  readonly balance: bigint;
}

export class Genesis {
  readonly #settings: ContractSettings;
  readonly #dialect: Dialect;

  constructor(settings: ContractSettings) {
    this.#settings = settings;
    this.#dialect = dialectOf(settings.words);
  }

  /** @throws ContractError for an account that cannot be, or a contract that cannot be loaded */
  stateOf(chain: number): ChainState {
    const database = new Database(ownContracts(this.#dialect));
    const environment = this.#environment(chain);
    for (const account of this.#accountsOf(chain)) this.#credit(database, environment, account);
    if (this.#settings.gasStation) this.#openStation(database, environment);
    for (const { name, text } of this.#settings.contracts) load(database, this.#dialect, text, name, environment);
    return new ChainState(database);
  }

  #environment(chain: number): Environment {
    return { ...INITIAL_ENVIRONMENT, chain: { ...INITIAL_ENVIRONMENT.chain, chainId: String(chain) } };
  }

  #accountsOf(chain: number): readonly Account[] {
    const given = this.#settings.accounts.filter(({ chains }) => !chains || chains.includes(chain));
    return [
      { account: HELPER_ACCOUNT, keys: [HELPER.publicKey], pred: 'keys-all', balance: OWN_BALANCE },
      ...given.map(({ account, balance, keys, pred }) => {
        return { account, keys: keys ?? [account.replace(/^k:/, '')], pred, balance: parseDecimal(balance) };
      }),
    ];
  }

  #credit(database: Database, environment: Environment, { account, keys, pred, balance }: Account): void {
    const evaluator = new Evaluator({ dialect: this.#dialect, natives: NATIVES, environment, database });
    grant(evaluator, 'GENESIS');
    const args = [account, new KeysetGuard(keys, pred), coinsValue(balance)];
    evaluator.applyMember({ member: coinMember(evaluator, 'create-genesis-account'), args });
  }

  /** The station's account begins with coins of the node. */
  #openStation(database: Database, environment: Environment): void {
    load(database, this.#dialect, `(${STATION_MODULE}.open-account)`, 'genesis', environment);
    const table = database.table(ACCOUNTS);
    const row = table?.get(GAS_STATION);
    if (row) table?.set(GAS_STATION, new Map([...row, ['balance', coinsValue(OWN_BALANCE)]]));
  }
}
