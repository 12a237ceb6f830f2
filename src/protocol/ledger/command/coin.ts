/**
 * Builds messages for coins: transfers within a chain, both steps of transfers to another chain, and reads of accounts.
 * Also parses the results of the reads, and compares amounts in capabilities with the code. In the transfers that this
 * file builds, the amounts in the code and in the capability are equal, because both are written from one decimal.
 */

import { type Decimal, decimalOf, formatDecimal, parseDecimal, type TokenAmount, tokenAmountOf } from '../decimal.ts';
import { decodeBase64url, type ExactJson, isExactJsonObject, LedgerFormatError } from '../json.ts';
import { COIN } from '../payload.ts';
import { isPublicKey } from './command.ts';
import type { Capability, Message } from './command-payload.ts';
import type { Outcome } from './results.ts';

export interface Keyset {
  /** Public keys, 64 hex digits each. */
  readonly keys: readonly string[];
  /** The predicate: `keys-all`, `keys-any`, `keys-2`, or the name of a function. */
  readonly pred: string;
}

/** @returns whether the predicates are equal, and the keys are equal as sets, as on the ledger */
export function sameKeyset(one: Keyset, other: Keyset): boolean {
  const keysOf = ({ keys }: Keyset) => [...new Set(keys)].sort().join(' ');
  return one.pred === other.pred && keysOf(one) === keysOf(other);
}

export interface Payment {
  /** The token's module, with its namespace if it has one: for example `coin`. */
  readonly module: string;
  readonly sender: string;
  readonly receiver: string;
  /** The amount to pay, above 0. */
  readonly amount: Decimal;
}

/** A payment to an account that need not exist yet. */
export interface PaymentToGuard extends Payment {
  readonly guard: Keyset;
}

export interface CrosschainPayment extends PaymentToGuard {
  readonly targetChain: number;
}

/** A message, and the capabilities that the paying account must sign for, in addition to the capability for gas. */
export interface CoinCall {
  readonly message: Message;
  readonly capabilities: readonly Capability[];
}

const GUARD = 'receiver-guard';

/** @throws LedgerFormatError for an amount of 0 or less, an impossible account name or an invalid module name */
export function transfer({ module, sender, receiver, amount }: Payment): CoinCall {
  const code = call(module, 'transfer', text(sender), text(receiver), positive(amount));
  return { message: exec(code), capabilities: [transferCapability({ module, sender, receiver, amount })] };
}

/** @throws LedgerFormatError like `transfer`, and for a keyset that is invalid or does not match the receiver's name */
export function transferCreate({ guard, ...payment }: PaymentToGuard): CoinCall {
  const { module, sender, receiver, amount } = payment;
  const code = call(module, 'transfer-create', text(sender), text(receiver), keysetCode(), positive(amount));
  return { message: exec(code, guardData(guard, receiver)), capabilities: [transferCapability(payment)] };
}

/**
 * Step 0 of a transfer to another chain, for the chain that the coins leave. The coins arrive with step 1, which
 * `continueOnTarget` builds.
 * @throws LedgerFormatError like `transferCreate`, and for a chain that is not a number from 0 on
 */
export function transferCrosschain(payment: CrosschainPayment): CoinCall {
  const { module, sender, receiver, amount, guard, targetChain } = payment;
  const chain = chainText(targetChain);
  const parts = [text(sender), text(receiver), keysetCode(), text(chain), positive(amount)];
  const code = call(module, 'transfer-crosschain', ...parts);
  const args = [sender, receiver, decimalJson(amount), chain];
  const capabilities = [{ name: `${module}.TRANSFER_XCHAIN`, args }];
  return { message: exec(code, guardData(guard, receiver)), capabilities };
}

/**
 * Step 1 of a transfer to another chain, for the chain where the coins arrive. Anyone may send this step, without
 * signatures.
 * @param pactId the request key of step 0
 * @param proof the answer of /spv for step 0
 * @throws LedgerFormatError for a malformed request key or an empty proof
 */
export function continueOnTarget(pactId: string, proof: string): Message {
  decodeBase64url(pactId, 32);
  if (proof === '') throw new LedgerFormatError('The proof of step 0 is empty');
  return { cont: { pactId, step: 1, rollback: false, data: {}, proof } };
}

/** @returns a message that reads a balance. A command with this message needs no signature */
export function getBalance(module: string, account: string): Message {
  return exec(call(module, 'get-balance', text(account)));
}

/** @returns a message that reads an account. A command with this message needs no signature */
export function getDetails(module: string, account: string): Message {
  return exec(call(module, 'details', text(account)));
}

/** @returns the capability for gas. The account that pays for gas must sign for this capability */
export function gasCapability(module: string): Capability {
  return { name: `${moduleName(module)}.GAS`, args: [] };
}

function transferCapability({ module, sender, receiver, amount }: Payment): Capability {
  return { name: `${module}.TRANSFER`, args: [sender, receiver, decimalJson(amount)] };
}

function exec(code: string, data: ExactJson = {}): Message {
  return { exec: { code, data } };
}

function call(module: string, name: string, ...args: readonly string[]): string {
  return `(${moduleName(module)}.${name} ${args.join(' ')})`;
}

function moduleName(module: string): string {
  if (!/^[a-z][\w-]*(\.[a-z][\w-]*)?$/i.test(module))
    throw new LedgerFormatError('The token is not the name of a module');
  return module;
}

/** @returns a string literal of the contract language */
function text(value: string): string {
  if (value === '' || /\p{C}/u.test(value))
    throw new LedgerFormatError('An account is empty or has characters that no name has');
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
}

function positive(amount: Decimal): string {
  if (amount <= 0n) throw new LedgerFormatError(`The amount must be above 0, but is ${formatDecimal(amount)}`);
  return formatDecimal(amount);
}

function decimalJson(amount: Decimal): ExactJson {
  return { decimal: formatDecimal(amount) };
}

function chainText(chain: number): string {
  if (!Number.isSafeInteger(chain) || chain < 0) throw new LedgerFormatError('A chain is a number from 0 on');
  return `${chain}`;
}

function keysetCode(): string {
  return `(read-keyset "${GUARD}")`;
}

/**
 * A `k:` account must have the key in its name as its only key. The ledger refuses to create such an account with
 * another guard, and then the coins would never arrive.
 * @returns the data of a command whose code contains the text of `keysetCode`
 * @throws LedgerFormatError for an invalid keyset, and for a wrong guard of a `k:` account
 */
function guardData({ keys, pred }: Keyset, receiver: string): ExactJson {
  if (keys.length === 0 || !keys.every(isPublicKey)) {
    throw new LedgerFormatError('A keyset needs public keys, each of 64 lower-case hex digits');
  }
  const isOwn = keys.length === 1 && receiver === `k:${keys[0]}` && pred === 'keys-all';
  if (receiver.startsWith('k:') && !isOwn) {
    throw new LedgerFormatError(
      `The account ${receiver} can only have the key of its name, with the predicate keys-all`,
    );
  }
  return { [GUARD]: { keys, pred } };
}

/*
 * The amount in a transfer's capability must equal the sum of the literal amounts in the code. With a smaller amount,
 * the command would fail and still cost gas. A greater amount would grant an unintended right.
 */

/** A call in the code, with its arguments as written. An argument that is a list is undefined. */
interface Call {
  readonly name: string;
  readonly args: readonly (string | undefined)[];
}

/**
 * For each capability, the functions whose amounts the capability limits, with their numbers of arguments. The last
 * argument of each function is the amount.
 */
const FUNCTIONS = new Map([
  [
    'TRANSFER',
    new Map([
      ['transfer', 3],
      ['transfer-create', 4],
    ]),
  ],
  ['TRANSFER_XCHAIN', new Map([['transfer-crosschain', 5]])],
]);

const TOKEN = /\s+|;[^\n]*|"(?:[^"\\]|\\[\s\S])*"?|[()[\]{}]|[^\s()[\]{}";]+/g;
const LITERAL_AMOUNT = /^\d+(\.\d+)?$/;

/**
 * Checks the amount of `….TRANSFER [sender, receiver, amount]` or `….TRANSFER_XCHAIN [sender, receiver, amount, chain]`
 * against the code. The amount must be the sum of the code's transfers of the same token between the same accounts. The
 * sum is compared only if the amounts of all these transfers are literals.
 * @returns a clause that describes the fault, also for a malformed amount in the capability; undefined if there is no
 *   fault, or if nothing can be compared
 */
export function amountFault({ name, args }: Capability, code: string): string | undefined {
  const dot = name.lastIndexOf('.');
  const functions = FUNCTIONS.get(name.slice(dot + 1));
  const [sender, receiver, amount, chain] = args;
  const isTransfer = functions && typeof sender === 'string' && typeof receiver === 'string';
  // A module may have a capability of the same name with other arguments.
  if (!isTransfer || amount === undefined || typeof amount === 'string') return undefined;
  const allowed = readAmount(amount);
  if (typeof allowed === 'string') return allowed;
  const module = name.slice(0, dot);
  const parties = [sender, receiver];
  const amounts = callsIn(code)
    .filter(({ name, args }) => name.startsWith(`${module}.`) && functions.get(name.slice(dot + 1)) === args.length)
    .filter(({ args }) => parties.every((party, i) => textOf(args[i]) === party))
    .filter(({ args }) => chain === undefined || textOf(args[3]) === chain)
    .map(({ args }) => args.at(-1));
  return amounts.length > 0 && amounts.every(isLiteral) ? difference(allowed, amounts) : undefined;
}

function difference(allowed: Decimal, amounts: readonly string[]): string | undefined {
  let sum = 0n;
  for (const amount of amounts) {
    if (!amount.includes('.')) return `the amount ${amount} in the code needs a point: ${amount}.0`;
    if (amount.replace(/0+$/, '').split('.')[1].length > 12)
      return `the amount ${amount} in the code has more than 12 decimal places`;
    sum += parseDecimal(amount);
  }
  return sum === allowed
    ? undefined
    : `it allows ${formatDecimal(allowed)}, but the code transfers ${formatDecimal(sum)}`;
}

function readAmount(json: ExactJson): Decimal | string {
  try {
    return decimalOf(json);
  } catch (error) {
    if (error instanceof LedgerFormatError) return `its amount: ${error.message}`;
    throw error;
  }
}

function isLiteral(amount: string | undefined): amount is string {
  return amount !== undefined && LITERAL_AMOUNT.test(amount);
}

/** @param token a token of the contract language @returns the value of a string literal; undefined for other tokens */
function textOf(token: string | undefined): string | undefined {
  return token?.startsWith('"') ? token.slice(1, -1).replace(/\\(["\\])/g, '$1') : undefined;
}

/** @returns every list whose first item is not a list, with the first item as the call's name */
function callsIn(code: string): Call[] {
  const calls: Call[] = [];
  const open: (string | undefined)[][] = [];
  for (const [token] of code.matchAll(TOKEN)) {
    if (/^[\s;]/.test(token)) continue;
    if (/^[([{]/.test(token)) {
      open.push([]);
    } else if (/^[)\]}]/.test(token)) {
      const [name, ...args] = open.pop() ?? [];
      if (name !== undefined) calls.push({ name, args });
      open.at(-1)?.push(undefined);
    } else {
      open.at(-1)?.push(token);
    }
  }
  return calls;
}

/* Results of reads. An account that does not exist is a valid result. All other failures are thrown as errors. */

export interface AccountDetails {
  readonly account: string;
  readonly balance: Decimal;
  readonly guard: ExactJson;
  /** The guard, if it is a keyset. */
  readonly keyset?: Keyset;
}

/**
 * @param outcome the outcome of a command that `getBalance` built
 * @param module the token's module. A balance has at most 12 decimal places for coins, and 255 for other tokens
 * @returns the balance; undefined if the account does not exist
 * @throws LedgerFormatError with the ledger's message for any other failure, and for an invalid balance
 */
export function tokenBalanceOf(outcome: Outcome, account: string, module: string): TokenAmount | undefined {
  if (isMissing(outcome, account)) return undefined;
  const data = dataOf(outcome);
  if (module === COIN) decimalOf(data);
  return notNegative(tokenAmountOf(data));
}

/**
 * @param outcome the outcome of a command that `getDetails` built
 * @returns the details; undefined if the account does not exist
 * @throws LedgerFormatError with the ledger's message for any other failure, and for invalid details
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

/** In the contract language's latest version, messages show at most this many characters of a row's key. */
const KEY_SHOWN = 10;
/**
 * Messages for a missing row: `NO_ROW` matches those of older versions of the contract language, and `NO_VALUE` those
 * of its latest version. Each pattern must match the whole message.
 */
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
