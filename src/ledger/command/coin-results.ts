/**
 * What the reads of `coin.ts` have found. An account that does not exist has no coins; every other failure is an error.
 */

import { type Decimal, decimalOf, type TokenAmount, tokenAmountOf } from '../decimal.ts';
import { LedgerFormatError } from '../errors.ts';
import { type ExactJson, isExactJsonObject } from '../exact-json.ts';
import type { Keyset } from './coin.ts';
import type { Outcome } from './results.ts';

export interface AccountDetails {
  readonly account: string;
  readonly balance: Decimal;
  readonly guard: ExactJson;
  /** The guard, if it is a keyset. */
  readonly keyset?: Keyset;
}

/**
 * @param outcome that of a read of any token's balance
 * @returns the balance; 0 when the account does not exist
 * @throws LedgerFormatError with the ledger's message for every other failure, and for data that are no decimal.
 */
export function tokenBalanceOf(outcome: Outcome, account: string): TokenAmount {
  return isMissing(outcome, account) ? 0n : tokenAmountOf(dataOf(outcome));
}

/**
 * @returns undefined when the account does not exist
 * @throws LedgerFormatError with the ledger's message for every other failure, and for data that are no account's.
 */
export function detailsOf(outcome: Outcome, account: string): AccountDetails | undefined {
  if (isMissing(outcome, account)) return undefined;
  const data = dataOf(outcome);
  if (!isExactJsonObject(data) || data.account !== account || data.balance === undefined || data.guard === undefined) {
    throw new LedgerFormatError('The details of an account must be its name, its balance and its guard');
  }
  const { balance, guard } = data;
  const keyset = keysetOf(guard);
  return { account, balance: decimalOf(balance), guard, ...(keyset && { keyset }) };
}

function dataOf(outcome: Outcome): ExactJson {
  if (outcome.status === 'success') return outcome.data;
  throw new LedgerFormatError(`The ledger cannot read the account: ${outcome.error.message}`);
}

/** The words of the contract language before and since its last version. */
function isMissing(outcome: Outcome, account: string): boolean {
  if (outcome.status === 'success') return false;
  const { message } = outcome.error;
  const isNew = /No value found in table \S+ for key: /.exec(message)?.[0];
  return (
    message.endsWith(`row not found: ${account}`) || (isNew !== undefined && message.endsWith(`${isNew}${account}`))
  );
}

function keysetOf(guard: ExactJson): Keyset | undefined {
  if (!isExactJsonObject(guard)) return undefined;
  const { keys, pred } = guard;
  return isTexts(keys) && typeof pred === 'string' ? { keys, pred } : undefined;
}

function isTexts(value: ExactJson | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
