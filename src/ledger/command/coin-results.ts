/**
 * What the reads of `coin.ts` have found. That an account does not exist is an answer; every other failure is an error.
 */

import { type Decimal, decimalOf, type TokenAmount, tokenAmountOf } from '../decimal.ts';
import { LedgerFormatError } from '../errors.ts';
import { type ExactJson, isExactJsonObject } from '../exact-json.ts';
import { COIN } from '../transfers.ts';
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
 * @param outcome that of a read of a token's balance
 * @param module the token's; coins have at most 12 decimal places, other tokens up to 255
 * @returns the balance; undefined when the account does not exist
 * @throws LedgerFormatError with the ledger's message for every other failure, and for data that are no decimal from 0 on.
 */
export function tokenBalanceOf(outcome: Outcome, account: string, module: string): TokenAmount | undefined {
  if (isMissing(outcome, account)) return undefined;
  const data = dataOf(outcome);
  if (module === COIN) decimalOf(data);
  return notNegative(tokenAmountOf(data));
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
  return { account, balance: notNegative(decimalOf(balance)), guard, ...(keyset && { keyset }) };
}

function notNegative(amount: bigint): bigint {
  if (amount < 0n) throw new LedgerFormatError('The balance of an account must not be negative');
  return amount;
}

function dataOf(outcome: Outcome): ExactJson {
  if (outcome.status === 'success') return outcome.data;
  throw new LedgerFormatError(`The ledger cannot read the account: ${outcome.error.message}`);
}

/** How many characters of a key the contract language says since its last version. */
const KEY_SHOWN = 10;
/** The words of the contract language before and since its last version, of which the whole text must be one. */
const NO_ROW = /^(?:with-read|read): row not found: (?<row>.+)$/s;
const NO_VALUE = /^No value found in table \S+ for key: (?<key>.+)$/s;

function isMissing(outcome: Outcome, account: string): boolean {
  if (outcome.status === 'success') return false;
  const { message } = outcome.error;
  const key = NO_VALUE.exec(message)?.groups?.key;
  return NO_ROW.exec(message)?.groups?.row === account || key === account || key === shortened(account);
}

function shortened(key: string): string {
  const characters = [...key];
  return characters.length > KEY_SHOWN ? `${characters.slice(0, KEY_SHOWN).join('')}...` : key;
}

function keysetOf(guard: ExactJson): Keyset | undefined {
  if (!isExactJsonObject(guard)) return undefined;
  const { keys, pred } = guard;
  return isTexts(keys) && typeof pred === 'string' ? { keys, pred } : undefined;
}

function isTexts(value: ExactJson | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
