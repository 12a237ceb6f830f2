/** Runs one command: buys gas, runs its code or its step, and pays the miner. */

import type { Miner } from '../../ledger/coinbase.ts';
import type { Payload, Signer } from '../../ledger/command/payload.ts';
import { type Decimal, parseDecimal } from '../../ledger/decimal.ts';
import { runArrival } from './arrival.ts';
import { Authority } from './authority.ts';
import { readCalls } from './code.ts';
import { accountOf, type CallResult, debit, type Environment, runCall } from './coin.ts';
import { ContractError, type Words } from './contract-error.ts';
import { type Output, transferEvent } from './output.ts';
import type { CoinState } from './state.ts';

/** What a command runs on. */
export interface Ground {
  readonly state: CoinState;
  readonly chain: number;
  readonly chains: number;
  readonly words: Words;
  /** Whether a block, named by its hash as text, is one that the new block builds on. */
  readonly hasAncestor: (id: string) => boolean;
}

export type Finished = Omit<Output, 'txId' | 'requestKey'>;

/** Why a command cannot be in a block at all: nobody would pay for it. */
export class BuyGasError extends Error {
  override readonly name = 'BuyGasError';
}

/** What the gas station pays for at most. */
const STATION_GAS_LIMIT = 850;
const STATION_GAS_PRICE = parseDecimal('0.00000001');

/**
 * Runs a command, and changes the state as it does.
 * @throws BuyGasError when its gas cannot be paid.
 */
export function runPaid(requestKey: string, payload: Payload, ground: Ground, miner: Miner): Finished {
  const { state } = ground;
  const { gasLimit, gasPrice, sender } = payload.meta;
  buyGas(payload, ground);
  const attempt = state.next();
  const finished = runUnpaid(requestKey, payload, { ...ground, state: attempt });
  const isSuccess = 'data' in finished.outcome;
  if (isSuccess) state.absorb(attempt);
  const payer = state.account(sender)!;
  state.setAccount(sender, { ...payer, balance: payer.balance + BigInt(gasLimit - finished.gas) * gasPrice });
  const fee = BigInt(finished.gas) * gasPrice;
  pay(state, miner, fee);
  const { events = [] } = finished;
  return { ...finished, events: [transferEvent(sender, miner.account, fee), ...(isSuccess ? events : [])] };
}

/** Runs a command without payment, and changes the state as it does. */
export function runUnpaid(requestKey: string, payload: Payload, ground: Ground): Finished {
  const { gasLimit } = payload.meta;
  try {
    const { data, events, continuation = null, gas } = runMessage(requestKey, payload, ground);
    if (gas > gasLimit) throw new ContractError(`Gas limit (${gasLimit}) exceeded: ${gas}`);
    return { outcome: { data }, gas, events, continuation };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return { outcome: { error: error.message }, gas: gasLimit, events: [], continuation: null };
  }
}

function runMessage(requestKey: string, { payload, signers }: Payload, ground: Ground): CallResult {
  const environment: Environment = { ...ground, requestKey, authority: new Authority(signers) };
  if ('cont' in payload) return runArrival(payload.cont, environment, ground.hasAncestor);
  const { code, data } = payload.exec;
  const results = readCalls(code, data).map((call) => runCall(call, environment));
  const last = results[results.length - 1];
  return {
    ...last,
    events: results.flatMap(({ events }) => events),
    gas: results.reduce((sum, { gas }) => sum + gas, 0),
  };
}

/** Takes all the gas that the command may use from its sender. */
function buyGas({ meta, signers, payload }: Payload, { state, words }: Ground): void {
  const { sender, gasLimit, gasPrice } = meta;
  try {
    const { guard } = accountOf(state, sender, words);
    if (guard !== 'gas station') enforceGas(guard, signers);
    else if (!('cont' in payload) || gasLimit > STATION_GAS_LIMIT || gasPrice > STATION_GAS_PRICE) {
      throw new ContractError('the gas station does not pay for this');
    }
    debit(state, sender, BigInt(gasLimit) * gasPrice, words);
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    throw new BuyGasError(error.message);
  }
}

function enforceGas(guard: Parameters<Authority['enforce']>[0], signers: readonly Signer[]): void {
  new Authority(signers).enforce(guard, { name: 'coin.GAS' });
}

/** The miner's account exists: the coinbase came first. */
function pay(state: CoinState, { account, publicKeys, predicate }: Miner, fee: Decimal): void {
  const { balance, guard } = state.account(account) ?? { balance: 0n, guard: { keys: publicKeys, pred: predicate } };
  state.setAccount(account, { balance: balance + fee, guard });
}
