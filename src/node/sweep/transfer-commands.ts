/** Makes the commands of a transfer, checks the cross-chain proof that step 1 needs, and checks guards. */

import { buildCommand, cmdOf } from '../../protocol/ledger/command/build.ts';
import {
  type CoinCall,
  continueOnTarget,
  gasCapability,
  type Keyset,
  transfer,
  transferCreate,
  transferCrosschain,
} from '../../protocol/ledger/command/coin.ts';
import { type Command, type KeyPair, requestKeyOfCmd } from '../../protocol/ledger/command/command.ts';
import {
  type Payload,
  type PublicMeta,
  parsePayload,
  publicMetaOf,
} from '../../protocol/ledger/command/command-payload.ts';
import { parseCommandResult } from '../../protocol/ledger/command/results.ts';
import type { Decimal } from '../../protocol/ledger/decimal.ts';
import { LedgerFormatError, parseExactJsonBytes, quoted } from '../../protocol/ledger/json.ts';
import { COIN } from '../../protocol/ledger/payload.ts';
import { parseSpvProof, spvRoot } from '../../protocol/ledger/spv-proof.ts';
import type { Sweep, Transfer } from './sweep-state.ts';

/** Time to live of a command, in seconds. */
const TTL_S = 1800;
/** Maximum gas limit of a trial, in units of gas: several times what any step 0 or step 1 is known to have used. */
export const TRIAL_GAS = 2500;
/** Highest gas limit for which the known gas stations pay, in units of gas. */
const STATION_GAS = 850;

export interface CommandMaker {
  readonly signers: readonly string[];
  /**
   * Creation time of the chain's newest block, in seconds since 1970. The command gets the same creation time, because
   * nodes refuse commands with a much later one.
   */
  readonly timeS: number;
  /** A unique text, so that two transfers of equal amounts are different commands. */
  readonly nonce: string;
}

type Terms = Pick<Sweep, 'network' | 'account' | 'guard' | 'receiver' | 'targetChain' | 'gasPrice' | 'gasStation'>;

/**
 * Makes step 0. Between two chains, step 0 takes the coins from their chain, and step 1 brings them to the receiver.
 * Within one chain, step 0 alone brings them to the receiver.
 */
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

/** Makes step 1, which brings the coins to the target chain. @param pactId the request key of step 0 */
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

/** @returns the gas limit of a trial of step 1, in units of gas */
export function step1TrialGas({ gasStation }: Pick<Terms, 'gasStation'>): number {
  return gasStation === null ? TRIAL_GAS : STATION_GAS;
}

/** @returns a command without signatures: a node can try it out, but nobody can send it */
export function unsigned(payload: Payload): Command {
  const cmd = cmdOf(payload);
  return { cmd, hash: requestKeyOfCmd(cmd), sigs: [] };
}

/** @param pairs the key pairs of all signers */
export function signed(payload: Payload, pairs: readonly KeyPair[]): Command {
  return buildCommand(payload, pairs);
}

/** @returns the gas limit of a command whose trial has used `gas`: a fifth more, at least 1, and at most `most` */
export function gasLimitFor(gas: number, most: number): number {
  return Math.max(1, Math.min(Math.ceil((gas * 6) / 5), most));
}

/** @returns the creation time of the command, and the end of its time to live, in seconds since 1970 */
export function lifeOf({ cmd }: Command): { readonly madeS: number; readonly endS: number } {
  const { creationTime, ttl } = publicMetaOf(parsePayload(cmd).meta);
  return { madeS: creationTime, endS: creationTime + ttl };
}

/** @returns the gas price of the command, in coins per unit of gas */
export function gasPriceOf({ cmd }: Command): Decimal {
  return publicMetaOf(parsePayload(cmd).meta).gasPrice;
}

/** @returns the cross-chain proof in a step 1; null for a command without a proof */
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

/**
 * Checks a cross-chain proof, so that nobody pays for a step 1 that cannot succeed.
 * @param text the answer of /spv
 * @param step0 the request key of step 0
 * @returns the hash at which the proof ends, 32 bytes. The proof is valid if a block of the target chain has this hash
 * @throws LedgerFormatError if the proof is malformed, is for another chain, or does not prove the success of step 0
 */
export function rootOfProof(text: string, step0: string, targetChain: number): Uint8Array {
  const proof = parseSpvProof(text);
  if (proof.targetChain !== targetChain) {
    throw new LedgerFormatError(`the proof is for chain ${proof.targetChain}, not for chain ${targetChain}`);
  }
  const { reqKey, result } = parseCommandResult(parseExactJsonBytes(proof.output));
  if (reqKey !== step0 || result.status !== 'success') {
    throw new LedgerFormatError('the proof is of another command than step 0');
  }
  return spvRoot(proof);
}

/* Signers and guards. */

/**
 * @returns the number of signatures that the guard requires; undefined for a predicate that the ledger does not define
 */
function signaturesNeeded({ keys, pred }: Keyset): number | undefined {
  const needed: Readonly<Record<string, number>> = { 'keys-all': keys.length, 'keys-any': 1, 'keys-2': 2 };
  return Object.hasOwn(needed, pred) ? needed[pred] : undefined;
}

/**
 * @param held the public keys whose secret keys are available
 * @returns as many of these keys as the guard requires; undefined if the guard contains too few of these keys, if the
 *   guard has no keys, or if the ledger does not define the guard's predicate
 */
export function signersOf(guard: Keyset, held: readonly string[]): readonly string[] | undefined {
  const needed = signaturesNeeded(guard);
  const usable = guard.keys.filter((key) => held.includes(key));
  return needed === undefined || needed < 1 || usable.length < needed ? undefined : usable.slice(0, needed);
}

/** @returns the only guard that an account of this name can have; undefined if the name does not determine a guard */
export function guardOfName(account: string): Keyset | undefined {
  const [, key] = /^k:([0-9a-f]{64})$/.exec(account) ?? [];
  return key === undefined ? undefined : { keys: [key], pred: 'keys-all' };
}

/**
 * Compares an account's guard, as a node has reported it, with what the user has named. The coins go to those who can
 * sign for this guard, so no node may choose the guard. The user must have named each key of the guard. If the guard
 * has several keys, the user must also have named the predicate, which decides how many keys must sign. A predicate
 * that the ledger does not define is not compared, because no command is signed for such a guard.
 * @param known the keys that may be in the guard, and the predicate that a guard with several keys must have
 * @returns the fault of the guard, as a clause; undefined if it has none
 */
export function guardFault(guard: Keyset, known: Keyset): string | undefined {
  const { keys, pred } = guard;
  const strangers = keys.filter((key) => !known.keys.includes(key));
  if (strangers.length > 0) {
    return `has keys that you have not named: ${strangers.join(', ')}. Name with --guard-key those that belong to it`;
  }
  const impossible = impossibleGuard(guard);
  if (impossible !== undefined) return impossible;
  if (signaturesNeeded(guard) === undefined || keys.length === 1 || pred === known.pred) return undefined;
  return `has the predicate ${pred}, and not ${known.pred}. If that is right, say so with --predicate ${pred}`;
}

/** @returns why the guard can never be satisfied, as a clause; undefined if it can */
export function impossibleGuard(guard: Keyset): string | undefined {
  const { keys, pred } = guard;
  const needed = signaturesNeeded(guard);
  const isPossible = new Set(keys).size === keys.length && (needed === undefined || needed <= keys.length);
  if (isPossible) return undefined;
  return `has ${keys.length === 1 ? 'one key' : 'a key twice'} and the predicate ${quoted(pred)}, which nobody could satisfy`;
}
