/**
 * `pickaxe tx transfer`: pays coins to an account. Nothing is sent without consent. The command that takes the coins
 * from the paying account is signed only once.
 */

import type { Command } from 'commander';
import { z } from 'zod';
import type { Loaded } from '../../../app/config/load.ts';
import { EXIT, UsageError } from '../../../app/process/exit.ts';
import { wallMs } from '../../../base/system/clock.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import { isOnCurve } from '../../../node/client/miner-identity.ts';
import { type PaymentPlan, paymentOf, planPayment, provenText } from '../../../node/sweep/next-step.ts';
import { gasWarning, mostGasCost, USUAL_GAS_PRICE } from '../../../node/sweep/plan.ts';
import { isSigned, isUnfinished, type Sweep } from '../../../node/sweep/sweep-state.ts';
import { guardOfName } from '../../../node/sweep/transfer-commands.ts';
import { type Decimal, formatDecimal } from '../../../protocol/ledger/decimal.ts';
import type { Line } from '../../io.ts';
import { readKeyFile } from '../../setup/keygen.ts';
import { chainNumber, collect, timeOf, withSettings } from '../../usage/options.ts';
import { row } from '../tx/results.ts';
import { GAS_FIELDS, guardReport, MOST_FOREIGN, ShownGuard, ShownProof, ShownSent } from './coin-report.ts';
import {
  accountOf,
  amountOf,
  begunBefore,
  carryOut,
  codeOf,
  collectKey,
  heldKeys,
  inSession,
  isWanted,
  KEY_FILE,
  movingCoins,
  originOfAccount,
  pollLine,
  resumeLine,
  type Session,
  type SessionOptions,
  type SweepIo,
  sayNothingSigned,
  sayNotSent,
  TRUST_NODES,
} from './coin-session.ts';

export function declareTransfer(tx: Command, { io, action }: Line): void {
  withSettings(tx.command('transfer'), 'node', 'ledger.dialect', 'ledger.command-path', 'miner.account')
    .description('pay coins to an account: plan, question, and waiting until it is done')
    .option('--to <account>', 'the account that gets the coins')
    .option('--amount <coins>', 'how many coins, like 0.5', amountOf)
    .option('--chain <n>', 'the chain where the coins are', chainNumber)
    .option('--to-chain <n>', 'the chain where they arrive (default: the same)', chainNumber)
    .option('--key-file <file>', KEY_FILE, collect)
    .option(
      '--receiver-key <hex>',
      'public key of the account that gets the coins, where its name does not say it; repeat for several',
      collectKey,
    )
    .option('--receiver-predicate <name>', 'how many of several receiver keys must sign (default: keys-all)')
    .option(
      '--gas-price <amount>',
      'what is paid for each unit of gas (default: 0.00000001; with --resume, as it was begun)',
      amountOf,
    )
    .option('--gas-station <account>', 'account that pays for the arrival on another chain (default: your account)')
    .option('-y, --yes', 'do it without asking; otherwise the plan is shown first', false)
    .option('--resume', 'go on with a transfer that is unfinished', false)
    .option('--trust-nodes', TRUST_NODES, false)
    .option('--timeout <time>', 'stop waiting after this time: --resume goes on later', timeOf, 3600)
    .option('--json', 'one JSON object on stdout', false)
    .action(action((options, command) => movingCoins(command, io, (loaded, io) => runTxTransfer(loaded, options, io))));
}

export interface TransferOptions extends SessionOptions {
  readonly to?: string;
  /** Amount to pay, in coins. */
  readonly amount?: Decimal;
  readonly chain?: number;
  /** Chain on which the coins arrive. Default: `chain`. */
  readonly toChain?: number;
  readonly receiverKey?: readonly string[];
  readonly receiverPredicate?: string;
}

interface Run extends Session {
  readonly account: string;
  /** What has named the paying account, for messages: the place of a setting, or a key file. */
  readonly from: string;
  readonly options: TransferOptions;
}

export async function runTxTransfer(loaded: Loaded, options: TransferOptions, io: SweepIo): Promise<number> {
  const pairs = (options.keyFile ?? []).map(readKeyFile);
  const account = accountOf(loaded, pairs);
  return await inSession(loaded, { kind: 'transfer', account, pairs, options }, io, async (session) => {
    const run = { ...session, account, from: originOfAccount(loaded, options.keyFile ?? []), options };
    return options.resume ? await resume(run) : await start(run);
  });
}

async function start(run: Run): Promise<number> {
  const { ledger, store, account, from, options, io } = run;
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
  if (before) sayDoubtful(before, { to, amount }, run);
  checkKeys([...(guardOfName(to)?.keys ?? []), ...(options.receiverKey ?? [])]);
  const held = heldKeys(run);
  const receiverGuard = guardOf(options);
  const request = {
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
  const plan = await planPayment(ledger, request, io.stop);
  const payment = paymentOf(plan, ledger.network, wallMs(io.clock));
  const report = paymentPlanReport(plan, payment);
  const answer = await isWanted(questionOf(payment, report, options), run);
  if (!answer) return leave(payment, report, answer, EXIT.done, run);
  store.begin(payment);
  return await finish(payment, run);
}

/** If only nodes have reported that a payment failed, warns a user who repeats it: the user might pay twice. */
function sayDoubtful(before: Sweep, wanted: { readonly to: string; readonly amount: Decimal }, run: Run): void {
  const [{ chain, amount, step0, outcome }] = before.transfers;
  const isSame = before.receiver?.account === wanted.to && amount === wanted.amount;
  if (!isSame || step0 === null || outcome?.state !== 'failed' || outcome.provenBy === 'work') return;
  run.io.say(
    `warning: the last transfer of this account was the same, and nothing but the word of your node says that it has failed. Ask another node before you pay again: ${pollLine(step0.hash, chain, run)}`,
  );
}

async function resume(run: Run): Promise<number> {
  const { options, io } = run;
  const begun = begunBefore(run);
  checkSame(begun, run);
  // The new price is for a command that is not signed yet. A signed one is sent unchanged, because a second command
  // could take the coins twice.
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

/** Ends the command without sending. @param unasked exit code if the user was not asked */
function leave(payment: Sweep, report: PaymentReport, answer: false | undefined, unasked: number, run: Run): number {
  // A user who was asked has seen the plan on stderr, so only JSON is still printed.
  if (answer === undefined || run.options.json) print(report, run);
  sayNotSent(payment, answer, run);
  return answer === undefined ? unasked : EXIT.failed;
}

function questionOf(sweep: Sweep, report: PaymentReport, { yes }: TransferOptions) {
  return { sweep, yes, lines: paymentLines(report), question: 'Send these coins?' };
}

/**
 * @throws UsageError if the options name receiver keys, or another receiver, amount, chain, target chain or gas station
 *   than that of the transfer
 */
function checkSame(payment: Sweep, run: Run): void {
  const { to, amount, chain, toChain, gasStation, receiverKey } = run.options;
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
    `The transfer that has begun is one of ${begun.amount} to ${begun.to} on chain ${begun.chain}. Go on with it as it is: ${resumeLine(payment, run.options, run)}`,
  );
}

/** About half of all mistyped keys are not on the curve. @throws UsageError if one of the keys is not on the curve */
function checkKeys(keys: readonly string[]): void {
  const wrong = keys.find((key) => !isOnCurve(key));
  if (wrong === undefined) return;
  throw new UsageError(
    `Nobody can sign with the key ${wrong}, because it is no point of the curve: the coins would be lost. Is it mistyped?`,
  );
}

/** @returns the receiver's guard as the user has named it, or null @throws UsageError for a predicate without keys */
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
    sayNothingSigned(again, run);
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

export const PaymentReport = z
  .strictObject({
    network: z.string(),
    from: z.string(),
    to: z.string(),
    amount: z.string().meta({ description: 'in coins' }),
    chain: z.int().meta({ description: 'where the coins are' }),
    targetChain: z.int().meta({ description: 'where they arrive' }),
    guard: ShownGuard.nullable().meta({
      description: 'whom the account that gets the coins must belong to; null: to whoever has it',
    }),
    saidGuard: ShownGuard.nullable().optional().meta({
      description: 'of a plan without a guard: who has that account, by the word of the node; null: no keys guard it',
    }),
    isNew: z.boolean().optional().meta({ description: 'of a plan: whether the transfer creates that account' }),
    balance: z.string().optional().meta({ description: 'of a plan: what the sender has on its chain, in coins' }),
    ...GAS_FIELDS,
    sent: ShownSent,
    state: z.enum(['planned', 'pending', 'done', 'failed']).meta({
      description:
        'pending: it may have been sent, or nothing proves what has become of it, and --resume goes on; failed: no coins have left, apart from gas',
    }),
    provenBy: ShownProof,
    requestKey: z.string().optional().meta({ description: 'of the transfer; to another chain, of its step 0' }),
    gasCost: z.string().optional().meta({ description: 'what the sender has paid for gas, in coins, when it is over' }),
    reason: z.string().optional().meta({ description: 'why it has failed, or what it waits for' }),
  })
  .meta({ description: 'a transfer of coins, or the plan of one' });
export type PaymentReport = z.output<typeof PaymentReport>;

/** @param sweep the payment made from the plan */
function paymentPlanReport(plan: PaymentPlan, sweep: Sweep): PaymentReport {
  const { reportedGuard, isNew, balance } = plan;
  return {
    ...paymentReport(sweep, undefined, false),
    ...(reportedGuard !== undefined && { saidGuard: reportedGuard && guardReport(reportedGuard) }),
    isNew,
    balance: formatDecimal(balance),
    mostGasCost: formatDecimal(mostGasCost(sweep)),
  };
}

/** @param note what the transfer waits for @param sent whether this run may have sent something */
function paymentReport(sweep: Sweep, note: string | undefined, sent: boolean): PaymentReport {
  const { network, account, receiver, targetChain, transfers } = sweep;
  const warning = isUnfinished(sweep) && !sent ? gasWarning(sweep) : undefined;
  const [{ chain, amount, step0, outcome }] = transfers;
  const reason = outcome?.state === 'failed' ? outcome.reason : outcome === null ? note : undefined;
  return {
    network,
    from: account,
    to: receiver?.account ?? account,
    amount: formatDecimal(amount),
    chain,
    targetChain,
    guard: receiver?.guard ? guardReport(receiver.guard) : null,
    sent,
    state: outcome?.state ?? (step0 ? 'pending' : 'planned'),
    ...(warning !== undefined && { warning }),
    ...(step0 && { requestKey: step0.hash }),
    ...(outcome?.provenBy && { provenBy: outcome.provenBy }),
    ...(outcome && { gasCost: formatDecimal(outcome.gasCost) }),
    ...(reason !== undefined && { reason: oneLine(reason, MOST_FOREIGN) }),
  };
}

/** @returns the report as lines for people, each of which ends with a newline */
function paymentLines(report: PaymentReport): string {
  const { network, from, to, amount, chain, targetChain, guard, isNew, balance, mostGasCost, warning } = report;
  const lines = [
    row(
      'network',
      `${network}, ${chain === targetChain ? `chain ${chain}` : `from chain ${chain} to chain ${targetChain}`}`,
    ),
    row('from', oneLine(from, MOST_FOREIGN)),
    row('to', oneLine(to, MOST_FOREIGN)),
    ...(isNew ? [row('', 'which is a new account')] : []),
    // The name of a `k:` account contains its key, so the guard is not printed.
    ...(guard && !guardOfName(to) ? [row('only for', guardText(guard))] : []),
    ...reportedGuardLines(report),
    row('amount', `${amount}${balance === undefined ? '' : ` of ${balance}`}`),
    ...(mostGasCost === undefined ? [] : [row('gas', `at most ${mostGasCost}`)]),
    ...(warning === undefined ? [] : [row('warning', warning)]),
    ...resultLines(report),
  ];
  return `${lines.join('\n')}\n`;
}

function reportedGuardLines({ saidGuard }: PaymentReport): string[] {
  if (saidGuard === undefined) return [];
  const who = saidGuard ? guardText(saidGuard) : 'nobody with keys';
  return [row('', 'which by the word of the node belongs to'), row('', who)];
}

function guardText({ predicate, keys }: z.output<typeof ShownGuard>): string {
  return keys.length === 1 ? keys[0] : `${predicate} of ${keys.join(', ')}`;
}

function resultLines({ state, requestKey, gasCost, reason, provenBy }: PaymentReport): string[] {
  if (state === 'planned') return [];
  return [
    ...(requestKey === undefined ? [] : [row('command', requestKey)]),
    ...(gasCost === undefined ? [] : [row('gas', gasCost)]),
    row('result', [state, reason].filter(Boolean).join(': ')),
    ...(provenBy === undefined ? [] : [row('', provenText({ provenBy })!)]),
  ];
}
