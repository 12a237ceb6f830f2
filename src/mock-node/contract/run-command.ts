/** Runs one command: buys gas, runs its code or its step, and pays the miner. */

import { type Decimal, parseDecimal } from '../../ledger/decimal.ts';
import type { Miner } from '../../ledger/payload.ts';
import { runArrival } from './arrival.ts';
import { Authority } from './authority.ts';
import { readCalls } from './code.ts';
import { accountOf, type CallResult, debit, type Environment, runCall } from './coin.ts';
import { ContractError, gasExceeded, inResult, type Words } from './contract-error.ts';
import { type Failure, type Output, transferEvent } from './output.ts';
import type { ReadCommand } from './read-command.ts';
import type { CoinState } from './state.ts';

interface Ground {
  readonly state: CoinState;
  readonly chain: number;
  readonly chains: number;
  readonly words: Words;
  /** Whether a block, named by its hash as text, is an ancestor of the new block. */
  readonly hasAncestor: (id: string) => boolean;
}

export type Finished = Omit<Output, 'txId' | 'requestKey' | 'hasLogs'>;

/** A command cannot be in a block at all, because nobody would pay for it. */
export class BuyGasError extends Error {
  override readonly name = 'BuyGasError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Maximum gas limit and price that the gas station pays for. */
const STATION_GAS_LIMIT = 850;
const STATION_GAS_PRICE = parseDecimal('0.00000001');

const GAS_PER_BYTE = 0.01;
/** With more gas than this for its bytes, a command becomes expensive, with this power. */
const STEEP_FROM_GAS = 512;
const STEEPNESS = 7;
/** Far longer than any proof of real nodes. */
const MAX_COMMAND_BYTES = 300_000;

/** Runs a command, and changes the state. @throws BuyGasError if its gas cannot be paid */
export function runPaid(read: ReadCommand, ground: Ground, miner: Miner): Finished {
  const { state } = ground;
  const { gasLimit, gasPrice, sender } = read.payload.meta;
  buyGas(read, ground);
  const attempt = state.next();
  const finished = runUnpaid(read, { ...ground, state: attempt });
  const isSuccess = 'data' in finished.outcome;
  if (isSuccess) state.absorb(attempt);
  const payer = state.account(sender)!;
  state.setAccount(sender, { ...payer, balance: payer.balance + BigInt(gasLimit - finished.gas) * gasPrice });
  const fee = BigInt(finished.gas) * gasPrice;
  pay(state, miner, fee);
  const { events = [] } = finished;
  return { ...finished, events: [transferEvent(sender, miner.account, fee), ...(isSuccess ? events : [])] };
}

/** Runs a command without payment, and changes the state. */
export function runUnpaid(read: ReadCommand, ground: Ground): Finished {
  const { gasLimit } = read.payload.meta;
  try {
    const { data, events, continuation = null, gas } = runMessage(read, ground);
    if (gas > gasLimit) throw gasExceeded(gasLimit, gas, ground.words);
    return { outcome: { data }, gas, events, continuation };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const failure = { kind: error.kind, message: inResult(error.message, ground.words) };
    return { outcome: { error: failure }, gas: gasLimit, events: [], continuation: null };
  }
}

function runMessage({ command, payload: { payload, signers } }: ReadCommand, ground: Ground): CallResult {
  const environment: Environment = {
    ...ground,
    requestKey: command.hash,
    authority: new Authority(signers, ground.words),
  };
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
function buyGas({ command, payload: { meta, signers, payload } }: ReadCommand, { state, words }: Ground): void {
  const { sender, gasLimit, gasPrice } = meta;
  const bytes = Buffer.byteLength(command.cmd);
  const proofBytes = 'cont' in payload ? (payload.cont.proof ?? '').length : 0;
  if (gasOfSize(bytes - proofBytes) > gasLimit || bytes > MAX_COMMAND_BYTES) {
    // The misspelling is real nodes'.
    const message = `"${command.hash}" Failed to purchas gas: tx too big for gas limit`;
    throw new BuyGasError({ kind: 'EvalError', message });
  }
  try {
    const { guard } = accountOf(state, sender, words);
    if (guard !== 'gas station') new Authority(signers, words).enforce(guard, { name: 'coin.GAS' });
    else if (!('cont' in payload) || gasLimit > STATION_GAS_LIMIT || gasPrice > STATION_GAS_PRICE) {
      throw new ContractError('the gas station does not pay for this');
    }
    debit(state, sender, BigInt(gasLimit) * gasPrice, words);
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    // The newest nodes have one kind for all faults of payers.
    throw new BuyGasError(
      words === 'old'
        ? { kind: error.kind, message: error.message }
        : { kind: 'EvalError', message: `"${command.hash}" Failed to buy gas: ${error.unabridged}` },
    );
  }
}

/** @returns the minimum gas limit of a command of this size, without its proof */
function gasOfSize(bytes: number): number {
  const gas = bytes * GAS_PER_BYTE;
  return Math.ceil(gas + (gas / STEEP_FROM_GAS) ** STEEPNESS);
}

/** The miner's account exists, because the coinbase came first. */
function pay(state: CoinState, { account, publicKeys, predicate }: Miner, fee: Decimal): void {
  const { balance, guard } = state.account(account) ?? { balance: 0n, guard: { keys: publicKeys, pred: predicate } };
  state.setAccount(account, { balance: balance + fee, guard });
}
