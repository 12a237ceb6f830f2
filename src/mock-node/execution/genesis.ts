/** The first state of each chain: the node's own contracts, contracts from the options, and accounts with coins. */

import { readFileSync } from 'node:fs';
import type { Dialect } from '../../contract/dialect.ts';
import { ContractError } from '../../contract/errors.ts';
import { runTopLevel } from '../../contract/evaluator/top-level.ts';
import { type Environment, INITIAL_ENVIRONMENT } from '../../contract/runtime/environment.ts';
import { readForms } from '../../contract/syntax/form-parser.ts';
import { topLevelOf } from '../../contract/syntax/program.ts';
import type { TopLevel } from '../../contract/syntax/tree.ts';
import { KeysetGuard } from '../../contract/values/values.ts';
import { ONE, parseDecimal } from '../../protocol/ledger/decimal.ts';
import { FINISHER, FINISHER_ACCOUNT } from '../commands/transfer-finisher.ts';
import { GenesisError } from '../genesis-error.ts';
import type { ContractSettings } from '../options.ts';
import { coinsValue, evaluatorOn } from './block-environment.ts';
import { ACCOUNTS, ChainState } from './chain-state.ts';
import { coinMember, grant } from './coin-contract.ts';

/** The node's own contracts, in the order of loading: each may use the earlier ones. */
const CONTRACTS = ['fungible-v2', 'fungible-xchain-v1', 'coin', 'gas-payer-v1', 'gas-station', 'ns'];
const STATION_MODULE = 'gas-station';
/** Account of the gas station, which pays for the second step of transfers from other chains. */
export const GAS_STATION = 'kadena-xchain-gas';
const OWN_BALANCE = 1000n * ONE;

/**
 * The state after the node's own contracts have been loaded, by dialect. It is the same on all chains, so a process
 * makes it only once.
 */
const loaded = new Map<Dialect, ChainState>();

function ownContracts(dialect: Dialect): ChainState {
  const known = loaded.get(dialect);
  if (known) return known;
  const state = new ChainState();
  for (const name of CONTRACTS) {
    const text = readFileSync(new URL(`../contracts/${name}.pact`, import.meta.url), 'utf8');
    run(state, dialect, formsOf(text, dialect, `${name}.pact`));
  }
  loaded.set(dialect, state);
  return state;
}

/** @param file the file name in the positions of errors @throws ContractError for a syntax error */
function formsOf(text: string, dialect: Dialect, file: string): readonly TopLevel[] {
  return readForms(text, dialect, file).map((form) => topLevelOf(form, dialect));
}

/** Runs forms before the first block, in one transaction. @throws ContractError if a form fails */
function run(state: ChainState, dialect: Dialect, forms: readonly TopLevel[], environment = INITIAL_ENVIRONMENT) {
  const evaluator = evaluatorOn({ state, dialect }, environment);
  for (const form of forms) runTopLevel(evaluator, form);
}

/**
 * Runs `action`, and replaces a ContractError by a GenesisError.
 * @param about the file of a contract, or a description of what `action` does
 * @throws GenesisError. Its message begins with `about`, followed by line and column if the error has a position in
 *   this file
 */
function orGenesisError<T>(about: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const { position, message } = error;
    const place = position?.file === about ? `${about}:${position.line}:${position.column}` : about;
    throw new GenesisError(`${place}: ${message}`, { cause: error });
  }
}

interface Account {
  readonly account: string;
  readonly keys: readonly string[];
  readonly pred: string;
  /** The balance in 10^-12 coins. */
  readonly balance: bigint;
}

export class Genesis {
  readonly #settings: ContractSettings;
  readonly #dialect: Dialect;
  readonly #contracts: readonly { readonly name: string; readonly forms: readonly TopLevel[] }[];

  /** @throws GenesisError for a contract that cannot be parsed */
  constructor(settings: ContractSettings) {
    this.#settings = settings;
    this.#dialect = settings.contractDialect;
    this.#contracts = settings.contracts.map(({ name, text }) => {
      return { name, forms: orGenesisError(name, () => formsOf(text, this.#dialect, name)) };
    });
  }

  /** @throws GenesisError for an account that cannot be created, or a contract that fails */
  stateOf(chain: number): ChainState {
    const state = ownContracts(this.#dialect).next();
    const environment = this.#environment(chain);
    for (const account of this.#accountsOf(chain)) {
      orGenesisError(`account ${account.account}`, () => this.#credit(state, environment, account));
    }
    if (this.#settings.gasStation) this.#openStation(state, environment);
    for (const { name, forms } of this.#contracts) {
      orGenesisError(name, () => run(state, this.#dialect, forms, environment));
    }
    return state;
  }

  #environment(chain: number): Environment {
    return { ...INITIAL_ENVIRONMENT, chain: { ...INITIAL_ENVIRONMENT.chain, chainId: String(chain) } };
  }

  #accountsOf(chain: number): readonly Account[] {
    const given = this.#settings.accounts.filter(({ chains }) => !chains || chains.includes(chain));
    return [
      { account: FINISHER_ACCOUNT, keys: [FINISHER.publicKey], pred: 'keys-all', balance: OWN_BALANCE },
      ...given.map(({ account, balance, keys, pred }) => {
        return { account, keys: keys ?? [account.replace(/^k:/, '')], pred, balance: parseDecimal(balance) };
      }),
    ];
  }

  #credit(state: ChainState, environment: Environment, { account, keys, pred, balance }: Account): void {
    const evaluator = evaluatorOn({ state, dialect: this.#dialect }, environment);
    grant(evaluator, 'GENESIS');
    const args = [account, new KeysetGuard(keys, pred), coinsValue(balance)];
    evaluator.applyMember({ member: coinMember(evaluator, 'create-genesis-account'), args });
  }

  /** Creates the gas station's account, and sets its balance to `OWN_BALANCE`. */
  #openStation(state: ChainState, environment: Environment): void {
    run(state, this.#dialect, formsOf(`(${STATION_MODULE}.open-account)`, this.#dialect, 'genesis'), environment);
    const table = state.database.table(ACCOUNTS);
    const row = table?.get(GAS_STATION);
    if (row) table?.set(GAS_STATION, new Map([...row, ['balance', coinsValue(OWN_BALANCE)]]));
  }
}
