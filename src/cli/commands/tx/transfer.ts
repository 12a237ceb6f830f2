/** `pickaxe tx transfer`: pays coins to an account. Nothing is sent before somebody has said yes, and nothing is signed twice. */

import { EXIT, UsageError } from '../../../app/exit-codes.ts';
import type { Loaded } from '../../../config/load.ts';
import type { Decimal } from '../../../ledger/decimal.ts';
import { isOnCurve } from '../../../node/miner-identity.ts';
import { paymentOf, planPayment } from '../../../sweep/payment.ts';
import { USUAL_GAS_PRICE } from '../../../sweep/plan.ts';
import { guardOfName } from '../../../sweep/signers.ts';
import { isSigned, isUnfinished, type Sweep } from '../../../sweep/state.ts';
import { wallMs } from '../../../system/clock.ts';
import { readKeyFile } from '../../key-file.ts';
import type { SweepIo } from '../../sweep/io.ts';
import { type PaymentReport, paymentLines, paymentPlanReport, paymentReport } from '../../sweep/payment-report.ts';
import {
  accountOf,
  carryOut,
  codeOf,
  inSession,
  isWanted,
  originOfAccount,
  pollLine,
  resumeLine,
  type Session,
  type SessionOptions,
  sayNotSent,
} from '../../sweep/session.ts';

export interface TransferOptions extends SessionOptions {
  readonly to?: string;
  /** Coins. */
  readonly amount?: Decimal;
  readonly chain?: number;
  /** By default, the coins stay on their chain. */
  readonly toChain?: number;
  /** Public keys. */
  readonly receiverKey?: readonly string[];
  readonly receiverPredicate?: string;
}

interface Run extends Session {
  readonly account: string;
  /** Where the name of the account comes from, for people. */
  readonly from: string;
  readonly options: TransferOptions;
}

/** @throws UsageError */
export async function runTxTransfer(loaded: Loaded, options: TransferOptions, io: SweepIo): Promise<number> {
  const pairs = (options.keyFile ?? []).map(readKeyFile);
  const account = accountOf(loaded, pairs);
  return await inSession(loaded, { kind: 'transfer', account, pairs }, io, async (session) => {
    const run = { ...session, account, from: originOfAccount(loaded, options.keyFile ?? []), options };
    return options.resume ? await resume(run) : await start(run);
  });
}

async function start(run: Run): Promise<number> {
  const { ledger, store, pairs, account, from, options, io } = run;
  const { to, amount, chain, toChain = chain, gasPrice = USUAL_GAS_PRICE, gasStation = null } = options;
  if (to === undefined) throw new UsageError('Say who gets the coins, with --to ACCOUNT.');
  if (amount === undefined) throw new UsageError('Say how many coins, with --amount 0.5.');
  if (chain === undefined || toChain === undefined) {
    throw new UsageError('Say on which chain, with --chain N: pickaxe balance shows where the account has coins.');
  }
  if (gasStation !== null && toChain === chain) {
    throw new UsageError('Within one chain the account itself pays for gas: leave --gas-station out.');
  }
  if (to === account && toChain === chain) {
    throw new UsageError(
      `--to names the account that pays, ${account}, which ${from} has named: name another receiver, or another chain with --to-chain.`,
    );
  }
  const before = store.load();
  if (before && isUnfinished(before) && isSigned(before)) {
    const { amount, to } = paymentReport(before, undefined, false);
    throw new UsageError(
      `An earlier transfer of this account is unfinished (${amount} to ${to}). Finish it first, so that nothing is paid twice: ${resumeLine(before, options, run)}`,
    );
  }
  checkKeys([...(guardOfName(to)?.keys ?? []), ...(options.receiverKey ?? [])]);
  const held = pairs.length === 0 ? null : pairs.map(({ publicKey }) => publicKey);
  const receiverGuard = guardOf(options);
  const wishes = {
    account,
    chain,
    targetChain: toChain,
    receiver: to,
    receiverGuard,
    amount,
    gasPrice,
    gasStation,
    held,
  };
  const plan = await planPayment(ledger, wishes, io.stop);
  const payment = paymentOf(plan, ledger.network, wallMs(io.clock));
  const report = paymentPlanReport(plan, payment);
  const answer = await isWanted(questionOf(payment, report, options), run);
  if (!answer) return leave(payment, report, answer, EXIT.done, run);
  store.begin(payment);
  return await finish(payment, run);
}

async function resume(run: Run): Promise<number> {
  const { store, options, io } = run;
  const begun = store.load();
  if (!begun) throw new UsageError('No transfer of this account has begun on this machine.');
  checkSame(begun, options);
  // What is made already is sent as it is: a second command could take the coins twice.
  const payment = { ...begun, gasPrice: options.gasPrice ?? begun.gasPrice };
  const report = paymentReport(payment, undefined, false);
  if (!isUnfinished(payment)) {
    print(report, run);
    io.say('This transfer is finished.');
    return codeOf(payment);
  }
  const answer = await isWanted(questionOf(payment, report, options), run);
  if (!answer) return leave(payment, report, answer, EXIT.noWork, run);
  return await finish(payment, run);
}

/** @param unasked the exit code where nobody was asked @returns the exit code */
function leave(payment: Sweep, report: PaymentReport, answer: false | undefined, unasked: number, run: Run): number {
  // Whoever has answered has just seen the plan.
  if (answer === undefined || run.options.json) print(report, run);
  sayNotSent(payment, answer, run);
  return answer === undefined ? unasked : EXIT.failed;
}

function questionOf(sweep: Sweep, report: PaymentReport, { yes }: TransferOptions) {
  return { sweep, yes, lines: paymentLines(report), question: 'Send these coins?' };
}

/** A transfer goes on as it was begun. @throws UsageError when the options say otherwise */
function checkSame(payment: Sweep, { to, amount, chain, toChain, gasStation, receiverKey }: TransferOptions): void {
  const [transfer] = payment.transfers;
  const isSame =
    (to ?? payment.receiver?.account) === payment.receiver?.account &&
    (amount ?? transfer.amount) === transfer.amount &&
    (chain ?? transfer.chain) === transfer.chain &&
    (toChain ?? payment.targetChain) === payment.targetChain &&
    (gasStation ?? payment.gasStation) === payment.gasStation &&
    receiverKey === undefined;
  if (isSame) return;
  const begun = paymentReport(payment, undefined, false);
  throw new UsageError(
    `The transfer that has begun is one of ${begun.amount} to ${begun.to} on chain ${begun.chain}: go on with --resume alone, without what says otherwise.`,
  );
}

/** Finds half of all mistyped keys: those that are not on the curve. @throws UsageError that names such a key */
function checkKeys(keys: readonly string[]): void {
  const wrong = keys.find((key) => !isOnCurve(key));
  if (wrong === undefined) return;
  throw new UsageError(
    `Nobody can sign with the key ${wrong}, because it is no point of the curve: the coins would be lost. Is it mistyped?`,
  );
}

/** @returns null when the user has not said */
function guardOf({ receiverKey: keys, receiverPredicate: pred }: TransferOptions) {
  if (keys !== undefined) return { keys, pred: pred ?? 'keys-all' };
  if (pred === undefined) return null;
  throw new UsageError('--receiver-predicate says how many of the keys must sign: name them with --receiver-key HEX.');
}

async function finish(payment: Sweep, run: Run): Promise<number> {
  const { options, io } = run;
  const { notes, sweep } = await carryOut(payment, options.timeout * 1000, run);
  const report = paymentReport(sweep, notes.values().next().value, isSigned(sweep));
  print(report, run);
  const again = resumeLine(sweep, options, run);
  if (isUnfinished(sweep) && !isSigned(sweep)) {
    io.say('Nothing was signed or sent.');
    io.say(`Try again with: ${again}`);
    io.say('Or begin another transfer, which takes the place of this one.');
  } else if (isUnfinished(sweep)) {
    const { requestKey: key, chain } = report;
    io.say('Stopped waiting: there is no result yet, and the coins may still move.');
    io.say(`Do not pay again. Go on with: ${again}`);
    if (key !== undefined) io.say(`Or ask for the result: ${pollLine(key, chain, run)}`);
  }
  return codeOf(sweep);
}

function print(report: PaymentReport, { options, io }: Run): void {
  io.out(options.json ? `${JSON.stringify(report)}\n` : paymentLines(report));
}
