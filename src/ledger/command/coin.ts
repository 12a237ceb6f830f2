/**
 * Code, data and capabilities of the commands about coins: transfers, transfers to another chain and their second step,
 * and reads. The amount in the code and in the capability come from the same decimal, so they are equal.
 */

import { decodeBase64url } from '../base64url.ts';
import { type Decimal, formatDecimal } from '../decimal.ts';
import { LedgerFormatError } from '../errors.ts';
import type { ExactJson } from '../exact-json.ts';
import { isPublicKey } from './keys.ts';
import type { Capability, Message } from './payload.ts';

/** Whose signatures an account needs. */
export interface Keyset {
  /** 64 hex digits each. */
  readonly keys: readonly string[];
  /** `keys-all`, `keys-any`, `keys-2`, or the name of a function. */
  readonly pred: string;
}

/** The ledger compares keys as a set. */
export function sameKeyset(one: Keyset, other: Keyset): boolean {
  const keysOf = ({ keys }: Keyset) => [...new Set(keys)].sort().join(' ');
  return one.pred === other.pred && keysOf(one) === keysOf(other);
}

export interface Payment {
  /** The token's module with its namespace, such as `coin`. */
  readonly module: string;
  readonly sender: string;
  readonly receiver: string;
  /** Above 0. */
  readonly amount: Decimal;
}

/** A payment to an account that need not exist yet. */
export interface PaymentToGuard extends Payment {
  readonly guard: Keyset;
}

export interface CrosschainPayment extends PaymentToGuard {
  /** The chain on which the coins arrive. */
  readonly targetChain: number;
}

/** What a command does, and what its sender has to sign for, besides gas. */
export interface CoinCall {
  readonly message: Message;
  readonly capabilities: readonly Capability[];
}

/** The key of `data` that a receiver's keyset is read from. */
const GUARD = 'receiver-guard';

/**
 * @throws LedgerFormatError for an amount that is not above 0, for impossible accounts, and for a module's name that is
 * none.
 */
export function transfer({ module, sender, receiver, amount }: Payment): CoinCall {
  const code = call(module, 'transfer', text(sender), text(receiver), positive(amount));
  return { message: exec(code), capabilities: [transferCapability({ module, sender, receiver, amount })] };
}

/** @throws LedgerFormatError as `transfer`, and for a keyset that is none or not that of the receiver's name. */
export function transferCreate({ guard, ...payment }: PaymentToGuard): CoinCall {
  const { module, sender, receiver, amount } = payment;
  const code = call(module, 'transfer-create', text(sender), text(receiver), keysetCode(), positive(amount));
  return { message: exec(code, guardData(guard, receiver)), capabilities: [transferCapability(payment)] };
}

/**
 * Step 0, on the chain where the coins are. They have left it once this is in a block, and arrive with step 1, which
 * `continueOnTarget` builds.
 * @throws LedgerFormatError as `transferCreate`.
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
 * Step 1 of a transfer to another chain, on the chain where the coins arrive. Anyone may send it, and nobody has to
 * sign for it.
 * @param pactId the request key of step 0
 * @param proof what /spv has answered for it
 * @throws LedgerFormatError unless the request key is that of a command, and the proof is there.
 */
export function continueOnTarget(pactId: string, proof: string): Message {
  decodeBase64url(pactId, 32);
  if (proof === '') throw new LedgerFormatError('The proof of step 0 is empty');
  return { cont: { pactId, step: 1, rollback: false, data: {}, proof } };
}

/** Reads an account's balance, a decimal. Nobody has to sign for it. */
export function getBalance(module: string, account: string): Message {
  return exec(call(module, 'get-balance', text(account)));
}

/** Reads an account's balance and guard. Nobody has to sign for it. */
export function getDetails(module: string, account: string): Message {
  return exec(call(module, 'details', text(account)));
}

/** What whoever pays for gas has to sign for. */
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

/** @returns a literal of the contract language */
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

/** Coins for a `k:` account with another guard would never arrive: the ledger lets nobody create it. */
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
