/** The functions of the module `coin` that the mock knows. */

import type { Keyset } from '../../ledger/command/coin.ts';
import type { Decimal } from '../../ledger/decimal.ts';
import { type ExactJson, type ExactJsonObject, jsonInteger } from '../../ledger/json.ts';
import type { Allowance, Authority } from './authority.ts';
import { type Argument, type Call, unknown } from './code.ts';
import { ContractError, noSuchAccount, type Words } from './contract-error.ts';
import { decimalJson, type Event, MODULE_HASH, transferEvent } from './output.ts';
import { type Account, type CoinState, type Guard, sameGuard } from './state.ts';

export interface Environment {
  readonly state: CoinState;
  readonly chain: number;
  readonly chains: number;
  readonly requestKey: string;
  readonly authority: Authority;
  readonly words: Words;
}

export interface CallResult {
  readonly data: ExactJson;
  readonly events: readonly Event[];
  readonly continuation?: ExactJson;
  readonly gas: number;
}

type Run = (args: readonly Argument[], environment: Environment) => CallResult;

const WRITTEN = 'Write succeeded';
const FUNCTIONS: Readonly<Record<string, Run>> = {
  'coin.get-balance': getBalance,
  'coin.details': details,
  'coin.transfer': transfer,
  'coin.transfer-create': transferCreate,
  'coin.transfer-crosschain': transferCrosschain,
};

/** @throws ContractError if the call fails, or the mock does not know the function */
export function runCall({ name, args }: Call, environment: Environment): CallResult {
  const run = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (!run) throw unknown(`(${name} …)`);
  return run(args, environment);
}

/** @throws ContractError if the account has another guard, or its name is not valid for the guard */
export function credit(state: CoinState, account: string, guard: Guard, amount: Decimal): void {
  const existing = state.account(account);
  if (existing && !sameGuard(existing.guard, guard)) throw new ContractError('account guards do not match');
  if (!existing) checkNew(account, guard);
  state.setAccount(account, { balance: (existing?.balance ?? 0n) + amount, guard });
}

/** @throws ContractError if the account does not exist, or has less */
export function debit(state: CoinState, name: string, amount: Decimal, words: Words): void {
  const account = accountOf(state, name, words);
  if (account.balance < amount) throw new ContractError('Insufficient funds');
  state.setAccount(name, { ...account, balance: account.balance - amount });
}

/** @throws ContractError if the account does not exist */
export function accountOf(state: CoinState, name: string, words: Words): Account {
  const account = state.account(name);
  if (!account) throw noSuchAccount(name, words);
  return account;
}

function getBalance(args: readonly Argument[], { state, words }: Environment): CallResult {
  const account = accountOf(state, textAt(args, 0, 1), words);
  return { data: decimalJson(account.balance), events: [], gas: 20 };
}

function details(args: readonly Argument[], { state, words }: Environment): CallResult {
  const name = textAt(args, 0, 1);
  const { balance, guard } = accountOf(state, name, words);
  return { data: { account: name, balance: decimalJson(balance), guard: guardJson(guard) }, events: [], gas: 22 };
}

function transfer(args: readonly Argument[], environment: Environment): CallResult {
  const [sender, receiver] = [textAt(args, 0, 3), textAt(args, 1, 3)];
  const { guard } = accountOf(environment.state, receiver, environment.words);
  return move({ sender, receiver, guard, amount: decimalAt(args, 2), gas: 509 }, environment);
}

function transferCreate(args: readonly Argument[], environment: Environment): CallResult {
  const [sender, receiver] = [textAt(args, 0, 4), textAt(args, 1, 4)];
  return move({ sender, receiver, guard: keysetAt(args, 2), amount: decimalAt(args, 3), gas: 607 }, environment);
}

interface Move {
  readonly sender: string;
  readonly receiver: string;
  /** The receiver's. */
  readonly guard: Guard;
  readonly amount: Decimal;
  readonly gas: number;
}

function move({ sender, receiver, guard, amount, gas }: Move, environment: Environment): CallResult {
  const { state, words } = environment;
  if (sender === receiver) throw new ContractError('sender cannot be the receiver of a transfer');
  spend({ name: 'coin.TRANSFER', args: [sender, receiver], amount }, environment);
  debit(state, sender, amount, words);
  credit(state, receiver, guard, amount);
  return { data: WRITTEN, events: [transferEvent(sender, receiver, amount)], gas };
}

/** The first step: the coins leave this chain. */
function transferCrosschain(args: readonly Argument[], environment: Environment): CallResult {
  const { state, chain, chains, words, requestKey } = environment;
  const [sender, receiver, target] = [textAt(args, 0, 5), textAt(args, 1, 5), textAt(args, 3, 5)];
  const [guard, amount] = [keysetAt(args, 2), decimalAt(args, 4)];
  if (target === String(chain)) throw new ContractError('cannot run cross-chain transfers to the same chain');
  if (!/^\d{1,9}$/.test(target) || Number(target) >= chains) {
    throw new ContractError('target chain is not a valid chainweb chain id');
  }
  checkNew(receiver, guard);
  spend({ name: 'coin.TRANSFER_XCHAIN', args: [sender, receiver, target], amount }, environment);
  debit(state, sender, amount, words);
  const callArgs = [sender, receiver, guardJson(guard), target, decimalJson(amount)];
  const data = { amount: decimalJson(amount), receiver, 'receiver-guard': guardJson(guard) };
  const yielded = { data, source: String(chain), provenance: { targetChainId: target, moduleHash: MODULE_HASH } };
  return {
    data,
    events: [
      transferEvent(sender, '', amount),
      { module: 'coin', name: 'TRANSFER_XCHAIN', params: [sender, receiver, decimalJson(amount), target] },
      { module: 'pact', name: 'X_YIELD', params: [target, 'coin.transfer-crosschain', callArgs] },
    ],
    continuation: continuationJson(requestKey, 0, yielded, callArgs),
    gas: 621,
  };
}

/** @param args of the first call */
export function continuationJson(pactId: string, step: number, yielded: ExactJson, args: ExactJson): ExactJsonObject {
  return {
    executed: null,
    pactId,
    stepHasRollback: false,
    step: jsonInteger(step),
    yield: yielded,
    continuation: { args, def: 'coin.transfer-crosschain' },
    stepCount: jsonInteger(2),
  };
}

function spend(allowance: Allowance, { authority, state, words }: Environment): void {
  if (allowance.amount <= 0n) throw new ContractError('transfer amount must be positive');
  const { guard } = accountOf(state, allowance.args[0], words);
  authority.enforce(guard, authority.spend(allowance));
}

/** Minimum and maximum length of an account's name. */
const MIN_NAME = 3;
const MAX_NAME = 256;
const BEYOND_LATIN_1 = /[^\p{ASCII}\u0080-\u00ff]/u;

/** @throws ContractError if no account can have this name and guard */
function checkNew(account: string, guard: Guard): void {
  const wrongLength = (bound: string) => `Account name does not conform to the ${bound} length requirement: ${account}`;
  if (BEYOND_LATIN_1.test(account)) {
    throw new ContractError(`Account does not conform to the coin contract charset: ${account}`);
  }
  if (account.length < MIN_NAME) throw new ContractError(wrongLength('min'));
  if (account.length > MAX_NAME) throw new ContractError(wrongLength('max'));
  if (account.startsWith('k:') && !sameGuard(guard, { keys: [account.slice(2)], pred: 'keys-all' })) {
    throw new ContractError('Single-key account protocol violation');
  }
}

function guardJson(guard: Guard): ExactJsonObject {
  if (guard === 'gas station') return { fun: 'coin.gas-station', args: [] };
  return { pred: guard.pred, keys: guard.keys };
}

function textAt(args: readonly Argument[], at: number, count: number): string {
  const arg = args[at];
  if (args.length !== count || !('text' in arg))
    throw new ContractError(`Type error: argument ${at} must be a string`, { kind: 'EvalError' });
  return arg.text;
}

function decimalAt(args: readonly Argument[], at: number): Decimal {
  const arg = args[at];
  if (!('decimal' in arg))
    throw new ContractError(`Type error: argument ${at} must be a decimal`, { kind: 'EvalError' });
  return arg.decimal;
}

function keysetAt(args: readonly Argument[], at: number): Keyset {
  const arg = args[at];
  if (!('keyset' in arg)) throw new ContractError(`Type error: argument ${at} must be a guard`, { kind: 'EvalError' });
  return arg.keyset;
}
