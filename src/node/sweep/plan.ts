/** Plans a sweep: the amount that leaves each chain, its cost, and the skipped chains. Planning sends no command. */

import { MAX_SIGNATURES } from '../../protocol/ledger/command/build.ts';
import { type AccountDetails, type Keyset, sameKeyset } from '../../protocol/ledger/command/coin.ts';
import { isPublicKey } from '../../protocol/ledger/command/command.ts';
import { type Decimal, formatDecimal, parseDecimal } from '../../protocol/ledger/decimal.ts';
import { quoted } from '../../protocol/ledger/json.ts';
import { type AccountLook, SweepFault, type SweepLedger } from './sweep-ledger.ts';
import { plannedTransfer, type Sweep } from './sweep-state.ts';
import {
  gasLimitFor,
  guardFault,
  guardOfName,
  signersOf,
  step0Of,
  step1TrialGas,
  TRIAL_GAS,
  unsigned,
} from './transfer-commands.ts';

export interface SweepRequest {
  readonly account: string;
  readonly targetChain: number;
  /** The amount that stays on each chain, in coins. */
  readonly keep: Decimal;
  /** The smallest amount that is transferred, in coins. */
  readonly min: Decimal;
  /** The gas price, in coins per unit of gas. */
  readonly gasPrice: Decimal;
  /** The account on the target chain that pays for step 1; null: the swept account itself. */
  readonly gasStation: string | null;
  /** The public keys whose secret keys are available. Null if nothing will be signed: then all keys count. */
  readonly held: readonly string[] | null;
  /** The keys and the predicate that the guard may have (see `guardFault`); null if nothing will be signed. */
  readonly known: Keyset | null;
}

export interface Plan {
  readonly request: SweepRequest;
  readonly guard: Keyset;
  /** The balance on the target chain, in coins. */
  readonly targetBalance: Decimal;
  /** All chains except the target chain, in ascending order. */
  readonly chains: readonly PlannedChain[];
}

type PlannedChain =
  | {
      readonly kind: 'transfer';
      readonly chain: number;
      readonly balance: Decimal;
      readonly amount: Decimal;
      /** The gas limit of step 0, in units of gas. */
      readonly gasLimit: number;
    }
  | { readonly kind: 'skip'; readonly chain: number; readonly balance: Decimal; readonly reason: string }
  /** The balance is unknown, or the transfer would fail. */
  | { readonly kind: 'fault'; readonly chain: number; readonly reason: string };

/** Thrown if a sweep or payment cannot be done as requested. The message gives the reason, and often a remedy. */
export class CannotSweep extends Error {
  override readonly name = 'CannotSweep';
}

/** The lowest gas price that nodes usually accept, in coins per unit of gas. */
export const USUAL_GAS_PRICE = parseDecimal('0.00000001');
/** A gas price above this multiple of the usual one is probably mistyped. */
const ABSURD_GAS_PRICES = 1000n;

/** Maximum number of chains that are queried at the same time. */
const AT_ONCE = 8;

/**
 * @throws CannotSweep if the request cannot be fulfilled; SweepFault if the list of chains, or an account on the target
 *   chain, cannot be queried
 */
export async function planSweep(ledger: SweepLedger, request: SweepRequest, stop: AbortSignal): Promise<Plan> {
  const { account, targetChain } = request;
  const all = await ledger.chains(stop);
  if (!all.includes(targetChain))
    throw new CannotSweep(`The network has no chain ${targetChain}: it has ${all.length}.`);
  const target = await ledger.look(targetChain, account, stop);
  const guard = targetGuard(request, target.details);
  if (!guardOfName(account)) await checkGuard(ledger, request, guard, stop);
  const signers = heldSigners(guard, request.held);
  await checkPayer(ledger, request, target, stop);
  const others = all.filter((chain) => chain !== targetChain);
  const planning = { ledger, terms: { ...request, network: ledger.network, guard, receiver: null }, signers };
  const chains: PlannedChain[] = [];
  for (let i = 0; i < others.length; i += AT_ONCE) {
    const some = others.slice(i, i + AT_ONCE);
    chains.push(...(await Promise.all(some.map((chain) => planChain(planning, chain, stop)))));
  }
  return { request, guard, targetBalance: target.details?.balance ?? 0n, chains };
}

/**
 * @param held the public keys whose secret keys are available; null stands for all
 * @returns the public keys that must sign
 * @throws CannotSweep if too few of them are available
 */
export function heldSigners(guard: Keyset, held: readonly string[] | null): readonly string[] {
  const signers = held ? signersOf(guard, held) : guard.keys;
  if (signers) return signers;
  throw new CannotSweep(
    `The account needs signatures of ${guard.keys.join(', ')} (${guard.pred}): name the files of these keys with --key-file.`,
  );
}

/** @returns the sum of all amounts that will be transferred, in coins */
export function totalOf({ chains }: Plan): Decimal {
  return chains.reduce((sum, it) => sum + (it.kind === 'transfer' ? it.amount : 0n), 0n);
}

/** @returns the maximum gas cost that the account pays, in coins, provided that no step 1 fails */
export function mostGasCost({ transfers, targetChain, gasPrice, gasStation }: Sweep): Decimal {
  const step1 = gasStation === null ? step1TrialGas({ gasStation }) : 0;
  const gas = transfers.reduce((sum, { chain, gasLimit }) => sum + gasLimit + (chain === targetChain ? 0 : step1), 0);
  return BigInt(gas) * gasPrice;
}

/** @returns why the gas price is probably a mistake, as sentences; undefined if the price seems right */
export function gasWarning(sweep: Sweep): string | undefined {
  const { gasPrice, transfers } = sweep;
  const paid = `The gas price is ${formatDecimal(gasPrice)}, the usual one ${formatDecimal(USUAL_GAS_PRICE)}`;
  const most = mostGasCost(sweep);
  const amount = transfers.reduce((sum, transfer) => sum + transfer.amount, 0n);
  if (most > amount && transfers.length > 0) return `Gas may cost more coins than are moved. ${paid}.`;
  return gasPrice > ABSURD_GAS_PRICES * USUAL_GAS_PRICE ? `${paid}: is it mistyped?` : undefined;
}

/** @param startedMs the present time, in milliseconds since 1970 */
export function sweepOf({ request, guard, chains }: Plan, network: string, startedMs: number): Sweep {
  const { account, targetChain, gasPrice, gasStation } = request;
  const transfers = chains.flatMap((it) => {
    return it.kind === 'transfer' ? [plannedTransfer(it.chain, it.amount, it.gasLimit)] : [];
  });
  return { network, account, guard, receiver: null, targetChain, gasPrice, gasStation, startedMs, transfers };
}

/**
 * Checks that nobody else has the account's name on the target chain, and that nobody could take the name there before
 * the coins arrive.
 * @returns the guard of the account on the target chain
 * @throws CannotSweep if the coins could not arrive, or could belong to somebody else there
 */
function targetGuard({ account, targetChain }: SweepRequest, details: AccountDetails | undefined): Keyset {
  const ofName = guardOfName(account);
  if (details) {
    const keyset = keysThatSign(details, targetChain);
    if (!ofName || sameKeyset(keyset, ofName)) return keyset;
    throw new CannotSweep(
      `On chain ${targetChain}, the account does not have the key of its name, so no coins of other chains can arrive there.`,
    );
  }
  if (ofName) return ofName;
  throw new CannotSweep(
    `The account does not exist on chain ${targetChain}, where anybody could take its name: create it there first.`,
  );
}

/**
 * @returns the account's guard
 * @throws CannotSweep if the guard is not a keyset of Ed25519 keys, or has more keys than a command can have signatures
 */
export function keysThatSign({ keyset }: AccountDetails, chain: number): Keyset {
  if (keyset && keyset.keys.length > MAX_SIGNATURES) {
    throw new CannotSweep(`On chain ${chain}, the account is said to have more keys than could ever sign.`);
  }
  if (!keyset || keyset.keys.length === 0 || !keyset.keys.every(isPublicKey)) {
    throw new CannotSweep(`On chain ${chain}, the account is guarded by something else than Ed25519 keys.`);
  }
  return keyset;
}

/**
 * Checks a guard that is known only from a node, because it does not follow from the account's name.
 * @throws CannotSweep if the guard is not the one that the user has named, or if another node contradicts it
 */
async function checkGuard(
  ledger: SweepLedger,
  { account, targetChain, known }: SweepRequest,
  guard: Keyset,
  stop: AbortSignal,
): Promise<void> {
  const fault = known && guardFault(guard, known);
  if (fault) throw new CannotSweep(`By the node's word, the guard of the account ${fault}.`);
  await compareElsewhere(ledger, { chain: targetChain, account, keyset: guard }, stop);
}

/** @param reported a node's answer about an existing account @throws CannotSweep if another node contradicts it */
export async function compareElsewhere(
  ledger: SweepLedger,
  reported: { readonly chain: number; readonly account: string; readonly keyset: Keyset | undefined },
  stop: AbortSignal,
): Promise<void> {
  const { chain, account, keyset } = reported;
  const elsewhere = await ledger.lookElsewhere(chain, account, stop);
  if (!elsewhere) return;
  const other = elsewhere.details ? guardText(elsewhere.details.keyset) : 'that it does not exist';
  if (elsewhere.details && isSameGuard(keyset, elsewhere.details.keyset)) return;
  throw new CannotSweep(
    `Two nodes disagree about the account ${quoted(account)} on chain ${chain}: one says ${guardText(keyset)}, and the other ` +
      `${other}. Find out which of them is wrong, and leave it out.`,
  );
}

function isSameGuard(one: Keyset | undefined, other: Keyset | undefined): boolean {
  return one && other ? sameKeyset(one, other) : one === other;
}

function guardText(keyset: Keyset | undefined): string {
  return keyset ? keysetText(keyset) : 'that something else than keys guards it';
}

function keysetText({ keys, pred }: Keyset): string {
  return `${pred} of ${keys.join(', ')}`;
}

/**
 * Checks that the first step 1 can be paid for. Its gas must be paid with coins that are on the target chain already.
 * In a sweep without a gas station, coins that have arrived can pay for later steps 1.
 * @param target a node's answer about the account on the target chain
 * @throws CannotSweep if the account that pays for step 1 has too little
 */
export async function checkPayer(
  ledger: SweepLedger,
  request: Pick<SweepRequest, 'gasStation' | 'gasPrice' | 'targetChain'>,
  target: AccountLook,
  stop: AbortSignal,
): Promise<void> {
  const { gasStation, gasPrice, targetChain } = request;
  const payer = gasStation === null ? target.details : (await ledger.look(targetChain, gasStation, stop)).details;
  const needed = BigInt(step1TrialGas(request)) * gasPrice;
  if ((payer?.balance ?? 0n) >= needed) return;
  const has = `has ${formatDecimal(payer?.balance ?? 0n)} on chain ${targetChain}, and ${formatDecimal(needed)} is needed`;
  throw new CannotSweep(
    gasStation === null
      ? `The account cannot pay for the arrival: it ${has}. Send it some coins there, or name who pays with --gas-station.`
      : `The gas station ${gasStation} cannot pay for the arrival: it ${has}.`,
  );
}

interface Planning {
  readonly ledger: SweepLedger;
  readonly terms: SweepRequest & Pick<Sweep, 'network' | 'guard' | 'receiver'>;
  readonly signers: readonly string[];
}

async function planChain(planning: Planning, chain: number, stop: AbortSignal): Promise<PlannedChain> {
  try {
    return await planTransfer(planning, chain, stop);
  } catch (error) {
    if (!(error instanceof SweepFault)) throw error;
    return { kind: 'fault', chain, reason: error.message };
  }
}

async function planTransfer(
  { ledger, terms, signers }: Planning,
  chain: number,
  stop: AbortSignal,
): Promise<PlannedChain> {
  const { account, guard, keep, min, gasPrice } = terms;
  const { details, timeS } = await ledger.look(chain, account, stop);
  const balance = details?.balance ?? 0n;
  const skip = (reason: string): PlannedChain => ({ kind: 'skip', chain, balance, reason });
  if (balance === 0n) return skip(details ? 'has no coins' : 'the account does not exist');
  if (!details?.keyset || !sameKeyset(details.keyset, guard)) return skip('the account has other keys here');
  const amountWith = (gasLimit: number) => balance - keep - BigInt(gasLimit) * gasPrice;
  const isWorth = (amount: Decimal) => amount > 0n && amount >= min;
  const first = amountWith(TRIAL_GAS);
  if (!isWorth(first)) return skip(`less than ${formatDecimal(min)} could leave`);
  const maker = { signers, timeS, nonce: 'pickaxe sweep, tried out' };
  const payload = step0Of(terms, { chain, amount: first, gasLimit: TRIAL_GAS }, maker);
  const { outcome, gas } = await ledger.tryOut(chain, unsigned(payload), stop);
  if (outcome.status === 'failure') throw new SweepFault(`The transfer would fail: ${outcome.error.message}`);
  const gasLimit = gasLimitFor(gas, TRIAL_GAS);
  return { kind: 'transfer', chain, balance, amount: amountWith(gasLimit), gasLimit };
}
