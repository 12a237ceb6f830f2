/** The commands of a transfer: step 0, step 1, and both without signatures, to be tried out. */

import { buildCommand, cmdOf } from '../ledger/command/build.ts';
import {
  type CoinCall,
  continueOnTarget,
  gasCapability,
  transfer,
  transferCreate,
  transferCrosschain,
} from '../ledger/command/coin.ts';
import type { Command } from '../ledger/command/command.ts';
import { requestKeyOfCmd } from '../ledger/command/hash.ts';
import type { KeyPair } from '../ledger/command/keys.ts';
import { type Payload, type PublicMeta, parsePayload, publicMetaOf } from '../ledger/command/payload.ts';
import type { Decimal } from '../ledger/decimal.ts';
import { COIN } from '../ledger/transfers.ts';
import type { Sweep, Transfer } from './state.ts';

/**
 * How long a command may wait for its block, in seconds.
 */
const TTL_S = 1800;
/** A command that is tried out may use this much gas: several times what either step has ever used. */
export const TRIAL_GAS = 2500;
/** What the known gas stations pay for at most. */
const STATION_GAS = 850;

/** What makes a command. */
export interface CommandMaker {
  /** The public keys that sign. */
  readonly signers: readonly string[];
  /** The newest block's creation time, in seconds since 1970. Nodes take no command that is far ahead of it. */
  readonly timeS: number;
  /** A text that no other command has, so that equal transfers are different commands. */
  readonly nonce: string;
}

type Terms = Pick<Sweep, 'network' | 'account' | 'guard' | 'receiver' | 'targetChain' | 'gasPrice' | 'gasStation'>;

/** Takes the coins from their chain; within one chain, it brings them to their receiver at once. */
export function step0Of(
  terms: Terms,
  { chain, amount, gasLimit }: Pick<Transfer, 'chain' | 'amount' | 'gasLimit'>,
  maker: CommandMaker,
): Payload {
  const { account } = terms;
  const { message, capabilities } = callOf(terms, chain, amount);
  const clist = [gasCapability(COIN), ...capabilities];
  return {
    networkId: terms.network,
    payload: message,
    signers: maker.signers.map((pubKey) => ({ pubKey, clist })),
    meta: metaOf(terms, { chain, sender: account, gasLimit }, maker),
    nonce: maker.nonce,
  };
}

function callOf({ account, guard, receiver, targetChain }: Terms, chain: number, amount: Decimal): CoinCall {
  const to = receiver ?? { account, guard };
  const payment = { module: COIN, sender: account, receiver: to.account, amount };
  if (to.guard !== null) {
    const guarded = { ...payment, guard: to.guard };
    return chain === targetChain ? transferCreate(guarded) : transferCrosschain({ ...guarded, targetChain });
  }
  if (chain === targetChain) return transfer(payment);
  throw new Error('the guard of a receiver on another chain must be known');
}

/** Brings the coins to the target chain. @param pactId the request key of step 0 */
export function step1Of(terms: Terms, pactId: string, proof: string, gasLimit: number, maker: CommandMaker): Payload {
  const { account, targetChain: chain, gasStation } = terms;
  const signers = maker.signers.map((pubKey) => ({ pubKey, clist: [gasCapability(COIN)] }));
  return {
    networkId: terms.network,
    payload: continueOnTarget(pactId, proof),
    signers: gasStation === null ? signers : [],
    meta: metaOf(terms, { chain, sender: gasStation ?? account, gasLimit }, maker),
    nonce: maker.nonce,
  };
}

/** The most gas of a step 1 that is tried out. */
export function step1TrialGas({ gasStation }: Pick<Terms, 'gasStation'>): number {
  return gasStation === null ? TRIAL_GAS : STATION_GAS;
}

/** @returns the command without signatures: a node can try it out, but nobody can send it */
export function unsigned(payload: Payload): Command {
  const cmd = cmdOf(payload);
  return { cmd, hash: requestKeyOfCmd(cmd), sigs: [] };
}

/** @param pairs those of all signers */
export function signed(payload: Payload, pairs: readonly KeyPair[]): Command {
  return buildCommand(payload, pairs);
}

/** @returns what the gas limit should be of a command that has used this much: a fifth more, but not above `most`, and never 0 */
export function gasLimitFor(gas: number, most: number): number {
  return Math.max(1, Math.min(Math.ceil((gas * 6) / 5), most));
}

/** @returns when a command was made, and when its time to live ends, in seconds since 1970 */
export function lifeOf({ cmd }: Command): { readonly madeS: number; readonly endS: number } {
  const { creationTime, ttl } = publicMetaOf(parsePayload(cmd).meta);
  return { madeS: creationTime, endS: creationTime + ttl };
}

/** @returns what a command pays for each unit of gas, in coins */
export function gasPriceOf({ cmd }: Command): Decimal {
  return publicMetaOf(parsePayload(cmd).meta).gasPrice;
}

/** @returns the proof in a step 1 */
export function proofIn({ cmd }: Command): string | null {
  const { payload } = parsePayload(cmd);
  return 'cont' in payload ? payload.cont.proof : null;
}

function metaOf(
  { gasPrice }: Terms,
  { chain, sender, gasLimit }: { chain: number; sender: string; gasLimit: number },
  { timeS }: CommandMaker,
): PublicMeta {
  return { chainId: `${chain}`, sender, gasLimit, gasPrice, ttl: TTL_S, creationTime: timeS };
}
