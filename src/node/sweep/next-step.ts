/** Decides from the states of a transfer's commands what to do next, and plans a payment. */

import { type AccountDetails, type Keyset, sameKeyset } from '../../protocol/ledger/command/coin.ts';
import { type Decimal, formatDecimal } from '../../protocol/ledger/decimal.ts';
import { quoted } from '../../protocol/ledger/json.ts';
import { CannotSweep, checkPayer, compareElsewhere, heldSigners, keysThatSign } from './plan.ts';
import { type Evidence, SweepFault, type SweepLedger } from './sweep-ledger.ts';
import {
  type Outcome,
  plannedTransfer,
  type Receiver,
  type Sweep,
  staysOnChain,
  type Transfer,
} from './sweep-state.ts';
import {
  gasLimitFor,
  gasPriceOf,
  guardOfName,
  impossibleGuard,
  proofIn,
  step0Of,
  TRIAL_GAS,
  unsigned,
} from './transfer-commands.ts';

export type CommandState =
  /**
   * No block contains the command. `isOver`: the command expired some time ago by the clocks of the chain and of this
   * machine, and the two clocks agree. `doubt`: a clause about what is wrong with the clocks, if the command has
   * expired by the chain's clock, but either not by this machine's, or the clocks are too far apart. `isOver` is false
   * then.
   */
  | { readonly status: 'none'; readonly isOver: boolean; readonly doubt?: string }
  | ({ readonly status: 'success' } & InBlock)
  | ({ readonly status: 'failure'; readonly reason: string } & InBlock);

interface InBlock {
  readonly height: number;
  /** Number of blocks above the command's block. */
  readonly depth: number;
  /** The cost of the command's gas, in coins. */
  readonly gasCost: Decimal;
}

/** The states of a transfer's commands. */
export interface Seen {
  readonly step0: CommandState;
  /** The state of the newest step 1; null if no step 1 was made. */
  readonly step1: CommandState | null;
  /**
   * The gas cost of the earlier steps 1, which the newest step 1 has replaced, in coins. 0 until it is proven that the
   * transfer is done.
   */
  readonly earlierGasCost: Decimal;
}

export type Step =
  | { readonly do: 'send step 0' }
  /** The node has no result of step 0, and step 0 has expired. The blocks must be searched for step 0. */
  | { readonly do: 'search' }
  /** The coins have left their chain, and step 1 must bring them to the target chain. */
  | { readonly do: 'bring' }
  | { readonly do: 'wait'; readonly why: string }
  /** The transfer has ended. Before the outcome is recorded, it must be proven (see `provenOutcome`). */
  | { readonly do: 'finish'; readonly outcome: Ending };

/** An outcome without `provenBy`: the proof of the outcome is not known yet. */
type Ending = Outcome extends infer Each ? (Each extends Outcome ? Omit<Each, 'provenBy'> : never) : never;

/** @param confirmations number of blocks that must be above a block before the results in the block are final */
export function next(seen: Seen, sweep: Sweep, confirmations: number): Step {
  const { step0, step1 } = seen;
  if (step1?.status === 'success') {
    if (step1.depth >= confirmations) return doneBy('us', seen, sweep);
    return wait(`has arrived; waits for ${confirmations - step1.depth} more blocks`);
  }
  if (step0.status === 'success') {
    if (!staysOnChain(sweep)) return { do: 'bring' };
    if (step0.depth >= confirmations) return doneBy('us', seen, sweep);
    return wait(
      `the transfer is in the block of height ${step0.height}; waits for ${confirmations - step0.depth} more blocks`,
    );
  }
  if (step0.status === 'failure') {
    if (step0.depth >= confirmations) return failed(step0.reason, step0.gasCost);
    const left = confirmations - step0.depth;
    return wait(`${nameOfStep0(sweep)} has failed; waits for ${left} more blocks: ${step0.reason}`);
  }
  if (step0.doubt !== undefined) return wait(step0.doubt);
  return step0.isOver ? { do: 'search' } : { do: 'send step 0' };
}

/* What proves an outcome. */

/**
 * Decides whether an outcome is proven. A node could forge blocks that contain little work. So an outcome counts as
 * proven only if its blocks contain as much work as the network's blocks are known to need. On networks whose blocks
 * need no work, coins are worth nothing. There, the word of one node is enough for `done`. `failed` requires two nodes,
 * because the coins may be sent again afterwards.
 * @param trusts whether the user trusts the nodes, so that their word is enough
 * @returns the outcome with its proof; if it is not proven, the reason as a clause
 */
export function provenOutcome(ending: Ending, { work, nodes, why }: Evidence, trusts: boolean): Outcome | string {
  if (work === 'enough') return { ...ending, provenBy: 'work' };
  const isEnough = work === 'none' && (ending.state === 'done' || nodes > 1);
  if (isEnough || trusts) return { ...ending, provenBy: nodes > 1 ? 'nodes' : 'node' };
  const what = ending.state === 'done' ? 'is done' : `has failed (${ending.reason})`;
  const whose = nodes > 1 ? 'the word of the nodes' : 'the word of one node';
  return `by ${whose} it ${what}, but that is not proven: ${why}. If ${nodes > 1 ? 'they are' : 'it is'} your own, add --trust-nodes`;
}

/** @returns how the outcome was proven, as a phrase for users; undefined if pickaxe has not recorded that */
export function provenText({ provenBy }: Pick<Outcome, 'provenBy'>): string | undefined {
  if (provenBy === null) return undefined;
  return {
    work: 'proven by the work of its blocks',
    nodes: 'by the word of the nodes',
    node: 'by the word of one node',
  }[provenBy];
}

/** @returns the name of step 0 in notes. A transfer within one chain has no other step, so it is called a transfer */
export function nameOfStep0(sweep: Sweep): string {
  return staysOnChain(sweep) ? 'the transfer' : 'step 0';
}

/**
 * Decides what to do after the blocks were searched for a step 0 of which the node has no result. The node may have
 * deleted the result, so the coins may have left their chain nevertheless.
 * @param height the height of the block that contains step 0; undefined if there is no such block
 */
export function afterSearch(height: number | undefined, sweep: Sweep): Step {
  if (height === undefined) return failed('no block has it, and its time to live has ended', 0n);
  return wait(
    `${nameOfStep0(sweep)} is in the block of height ${height}, but the node does not know its result: ask another node`,
  );
}

export function doneBy(by: 'us' | 'somebody else', seen: Seen, sweep: Sweep): Step {
  return { do: 'finish', outcome: { state: 'done', by, gasCost: gasCostOf(seen, sweep) } };
}

/**
 * Whether the newest step 1 can be sent again, so that no new one is needed: no block contains it, it has not expired,
 * it has this proof, and its gas price is not below that of a new one.
 */
export function isStep1Alive({ step1 }: Transfer, seen: Seen, proof: string, { gasPrice }: Sweep): boolean {
  if (step1 === null || seen.step1?.status !== 'none' || seen.step1.isOver) return false;
  return proofIn(step1) === proof && gasPriceOf(step1) >= gasPrice;
}

function gasCostOf({ step0, step1, earlierGasCost }: Seen, { gasStation }: Sweep): Decimal {
  return costOf(step0) + (gasStation === null ? costOf(step1) + earlierGasCost : 0n);
}

function costOf(found: CommandState | null): Decimal {
  return found === null || found.status === 'none' ? 0n : found.gasCost;
}

function wait(why: string): Step {
  return { do: 'wait', why };
}

function failed(reason: string, gasCost: Decimal): Step {
  return { do: 'finish', outcome: { state: 'failed', reason, gasCost } };
}

/* Payments. A payment moves coins of one account to a receiver on any chain. Planning a payment sends nothing. */

export interface PaymentRequest {
  readonly account: string;
  readonly chain: number;
  readonly targetChain: number;
  readonly receiver: string;
  /** The guard that the receiver must have, as named by the user; null if the user has named none. */
  readonly receiverGuard: Keyset | null;
  readonly amount: Decimal;
  /** The gas price, in coins per unit of gas. */
  readonly gasPrice: Decimal;
  /** The account on the target chain that pays for step 1; null: the paying account itself. */
  readonly gasStation: string | null;
  /** The public keys whose secret keys are available. Null if nothing will be signed: then all keys count. */
  readonly held: readonly string[] | null;
}

export interface PaymentPlan {
  readonly request: PaymentRequest;
  readonly guard: Keyset;
  readonly receiver: Receiver;
  /** Whether the payment creates the receiver's account. */
  readonly isNew: boolean;
  /**
   * The receiver's guard as a node reports it; null if the guard is not a keyset. Absent if the transfer names a guard.
   */
  readonly reportedGuard?: Keyset | null;
  /** The balance of the paying account on its chain, in coins. */
  readonly balance: Decimal;
  /** The gas limit of step 0, in units of gas. */
  readonly gasLimit: number;
}

/** @throws CannotSweep if the request cannot be fulfilled; SweepFault if a node does not answer, or the trial fails */
export async function planPayment(
  ledger: SweepLedger,
  request: PaymentRequest,
  stop: AbortSignal,
): Promise<PaymentPlan> {
  const { account, chain, targetChain, receiver: name, amount, held } = request;
  checkRequest(request);
  await checkChains(ledger, [chain, targetChain], stop);
  const { details, timeS } = await ledger.look(chain, account, stop);
  if (!details) throw new CannotSweep(`The account ${quoted(account)} does not exist on chain ${chain}. ${ELSEWHERE}`);
  const guard = keysThatSign(details, chain);
  const signers = heldSigners(guard, held);
  if (chain !== targetChain) await checkArrival(ledger, request, guard, stop);
  const there = (await ledger.look(targetChain, name, stop)).details;
  const { receiver, ...more } = await receiverOf(ledger, request, there, stop);
  const { balance } = details;
  const trialGas = affordableGas(request, balance);
  const terms = { ...request, network: ledger.network, guard, receiver };
  const maker = { signers, timeS, nonce: 'pickaxe transfer, tried out' };
  const payload = step0Of(terms, { chain, amount, gasLimit: trialGas }, maker);
  const { outcome, gas } = await ledger.tryOut(chain, unsigned(payload), stop);
  if (outcome.status === 'failure') {
    // The trial's gas limit was all that the balance can pay for. If that limit was too low, the balance is too small.
    if (trialGas < TRIAL_GAS && GAS.test(outcome.error.message)) throw tooLittle(request, balance);
    throw new SweepFault(`The transfer would fail: ${outcome.error.message}`);
  }
  return { request, guard, receiver, ...more, balance, gasLimit: gasLimitFor(gas, trialGas) };
}

/** @param startedMs the present time, in milliseconds since 1970 */
export function paymentOf(
  { request, guard, receiver, gasLimit }: PaymentPlan,
  network: string,
  startedMs: number,
): Sweep {
  const { account, chain, targetChain, amount, gasPrice, gasStation } = request;
  const transfers = [plannedTransfer(chain, amount, gasLimit)];
  return { network, account, guard, receiver, targetChain, gasPrice, gasStation, startedMs, transfers };
}

const ELSEWHERE = 'pickaxe balance shows what it has on each chain.';

function checkRequest({ account, chain, targetChain, receiver, receiverGuard, amount }: PaymentRequest): void {
  if (amount <= 0n) throw new CannotSweep('The amount must be above 0.');
  if (account === receiver && chain === targetChain) {
    throw new CannotSweep('The account would pay itself: name another receiver, or another chain.');
  }
  const ofName = guardOfName(receiver);
  if (receiver.startsWith('k:') && !ofName) {
    throw new CannotSweep(
      `${quoted(receiver)} is not an account: behind k: there must be a key of 64 lower-case hex digits.`,
    );
  }
  if (!receiverGuard) return;
  if (ofName && !sameKeyset(ofName, receiverGuard)) {
    throw new CannotSweep(
      'The receiver’s name says its only key, and you have named another one, or another predicate.',
    );
  }
  const fault = impossibleGuard(receiverGuard);
  if (fault !== undefined) throw new CannotSweep(`The guard that you have named for the receiver ${fault}.`);
}

async function checkChains(ledger: SweepLedger, wanted: readonly number[], stop: AbortSignal): Promise<void> {
  const all = await ledger.chains(stop);
  const missing = wanted.find((chain) => !all.includes(chain));
  if (missing !== undefined) throw new CannotSweep(`The network has no chain ${missing}: it has ${all.length}.`);
}

async function checkArrival(
  ledger: SweepLedger,
  request: PaymentRequest,
  guard: Keyset,
  stop: AbortSignal,
): Promise<void> {
  const { account, targetChain, gasStation } = request;
  const own = await ledger.look(targetChain, account, stop);
  await checkPayer(ledger, request, own, stop);
  if (gasStation !== null || (own.details?.keyset && sameKeyset(own.details.keyset, guard))) return;
  throw new CannotSweep(
    `On chain ${targetChain}, the account has other keys than on its own, so it cannot pay for the arrival there: name who pays with --gas-station.`,
  );
}

/**
 * Checks the receiver, and chooses the guard that the transfer names. Within one chain, the ledger itself finds the
 * receiver's account by its name, so no node can divert the coins. On another chain, the coins go to those who can sign
 * for the guard that the transfer names. So this guard must follow from the receiver's name or come from the user.
 */
async function receiverOf(
  ledger: SweepLedger,
  { receiver: account, receiverGuard, chain, targetChain }: PaymentRequest,
  details: AccountDetails | undefined,
  stop: AbortSignal,
): Promise<Pick<PaymentPlan, 'receiver' | 'isNew' | 'reportedGuard'>> {
  const ofName = guardOfName(account);
  const wanted = ofName ?? receiverGuard;
  const isOnOtherChain = chain !== targetChain;
  if (!details) {
    if (!wanted) throw new CannotSweep(`${noSuchReceiver(account, targetChain)} ${howToCreate(account)}`);
    if (isOnOtherChain && !ofName) {
      throw new CannotSweep(
        `${noSuchReceiver(account, targetChain)} Anybody could take its name before the coins arrive: create it there first.`,
      );
    }
    return { receiver: { account, guard: wanted }, isNew: true };
  }
  const { keyset } = details;
  if (wanted && !(keyset && sameKeyset(keyset, wanted))) {
    const has = keyset
      ? `has the keys ${keyset.keys.join(', ')} (${keyset.pred})`
      : 'is guarded by something else than keys';
    throw new CannotSweep(
      `On chain ${targetChain}, the account ${quoted(account)} ${has}, and not ${ofName ? 'the key of its name' : 'those that you have named'}: the coins would be somebody else's.`,
    );
  }
  if (isOnOtherChain && !wanted) {
    throw new CannotSweep(
      `The name ${quoted(account)} does not say who has the account, and a node must not decide that: name its keys with --receiver-key.`,
    );
  }
  if (!ofName) await compareElsewhere(ledger, { chain: targetChain, account, keyset }, stop);
  if (wanted) return { receiver: { account, guard: wanted }, isNew: false };
  return { receiver: { account, guard: null }, isNew: false, reportedGuard: keyset ?? null };
}

function noSuchReceiver(account: string, chain: number): string {
  return `The account ${quoted(account)} does not exist on chain ${chain}.`;
}

function howToCreate(account: string): string {
  if (/^[0-9a-f]{64}$/.test(account)) return `For the account of this key, write k:${account}.`;
  return 'If the name is right, say whose the new account shall be, with --receiver-key HEX.';
}

/** @returns the gas limit of the trial @throws CannotSweep if the account cannot pay for any gas */
function affordableGas({ account, chain, amount, gasPrice }: PaymentRequest, balance: Decimal): number {
  const left = balance - amount;
  const affordable = gasPrice > 0n ? left / gasPrice : BigInt(TRIAL_GAS);
  if (left >= 0n && affordable >= 1n) return Math.min(TRIAL_GAS, Number(affordable));
  throw tooLittle({ account, chain, amount, gasPrice }, balance);
}

/** Matches a node's error about a gas limit that was too low. */
const GAS = /\bgas\b/i;

function tooLittle(request: Pick<PaymentRequest, 'account' | 'chain' | 'amount' | 'gasPrice'>, balance: Decimal) {
  const { account, chain, amount, gasPrice } = request;
  const has = `The account ${quoted(account)} has ${formatDecimal(balance)} coins on chain ${chain}`;
  const most = BigInt(TRIAL_GAS) * gasPrice;
  const wanted = `${formatDecimal(amount)} and the gas, which can cost ${formatDecimal(most)}`;
  const missing = `up to ${formatDecimal(amount + most - balance)} is missing`;
  return new CannotSweep(
    `${has}, too little for ${wanted} at a gas price of ${formatDecimal(gasPrice)}: ${missing}. ${ELSEWHERE}`,
  );
}
