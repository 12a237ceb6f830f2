/** `pickaxe sweep`: moves an account's coins from all chains to one. Nothing is sent without consent. */

import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { Loaded } from '../../../app/config/load.ts';
import { EXIT, UsageError } from '../../../app/process/exit.ts';
import { wallMs } from '../../../base/system/clock.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import { provenText } from '../../../node/sweep/next-step.ts';
import {
  gasWarning,
  mostGasCost,
  type Plan,
  planSweep,
  sweepOf,
  totalOf,
  USUAL_GAS_PRICE,
} from '../../../node/sweep/plan.ts';
import { isSigned, isUnfinished, type Sweep, type Transfer } from '../../../node/sweep/sweep-state.ts';
import { guardFault, guardOfName } from '../../../node/sweep/transfer-commands.ts';
import type { Keyset } from '../../../protocol/ledger/command/coin.ts';
import type { KeyPair } from '../../../protocol/ledger/command/command.ts';
import { type Decimal, formatDecimal, parseDecimal } from '../../../protocol/ledger/decimal.ts';
import { aligned } from '../../../rig/status/figures.ts';
import type { Line } from '../../io.ts';
import { readKeyFile } from '../../setup/keygen.ts';
import { chainNumber, collect, timeOf, withSettings } from '../../usage/options.ts';
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
  resumeLine,
  type Session,
  type SessionOptions,
  type SweepIo,
  sayNothingSigned,
  sayNotSent,
  TRUST_NODES,
} from './coin-session.ts';

export function declare(command: Command, { io, action }: Line): void {
  withSettings(
    command,
    'node',
    'ledger.dialect',
    'ledger.command-path',
    'miner.account',
    'miner.public-keys',
    'miner.predicate',
  )
    .option('--to-chain <n>', 'the chain to which the coins go', chainNumber)
    .option('--key-file <file>', KEY_FILE, collect)
    .option(
      '--guard-key <hex>',
      'public key that may be in the guard of the account beside those of the key files; repeat for several',
      collectKey,
    )
    .addOption(amount('--keep <amount>', 'coins that stay on each chain', '0.001'))
    .addOption(amount('--min <amount>', 'leave alone chains from which less would go', '0.01'))
    .option(
      '--gas-price <amount>',
      'what is paid for each unit of gas (default: 0.00000001; with --resume, what the sweep has begun with)',
      amountOf,
    )
    .option(
      '--gas-station <account>',
      'account that pays for the arrival, like kadena-xchain-gas (default: your account)',
    )
    .option('-y, --yes', 'do it without asking; otherwise the plan is shown first', false)
    .option('--resume', 'go on with a sweep that is unfinished', false)
    .option('--trust-nodes', TRUST_NODES, false)
    .option('--timeout <time>', 'stop waiting after this time: --resume goes on later', timeOf, 3600)
    .option('--json', 'one JSON object on stdout', false)
    .action(action((options) => movingCoins(command, io, (loaded, io) => runSweep(loaded, options, io))));
}

function amount(flags: string, about: string, usual: string): Option {
  return new Option(flags, about).argParser(amountOf).default(parseDecimal(usual), usual);
}

export interface SweepOptions extends SessionOptions {
  readonly toChain?: number;
  /** Number of coins to leave on each chain. */
  readonly keep: Decimal;
  /** Minimum number of coins to move from a chain. A chain from which fewer coins would go is skipped. */
  readonly min: Decimal;
}

export async function runSweep(loaded: Loaded, options: SweepOptions, io: SweepIo): Promise<number> {
  const pairs = (options.keyFile ?? []).map(readKeyFile);
  const account = accountOf(loaded, pairs);
  const known = knownGuard(loaded, pairs, options);
  return await inSession(loaded, { kind: 'sweep', account, pairs, options }, io, async (session) => {
    const run = { ...session, known, options };
    return options.resume ? await resume(run) : await start(run, account);
  });
}

interface Run extends Session {
  /** The account's guard as the user has named it; null when the user has named no keys. */
  readonly known: Keyset | null;
  readonly options: SweepOptions;
}

async function start(run: Run, account: string): Promise<number> {
  const { ledger, store, known, options, io } = run;
  if (options.toChain === undefined) throw new UsageError('Say where the coins shall go, with --to-chain N.');
  const before = store.load();
  if (before && isUnfinished(before) && isSigned(before)) {
    throw new UsageError(
      `An earlier sweep of this account is unfinished. Finish it first: ${resumeLine(before, options, run)}`,
    );
  }
  const { keep, min, gasPrice = USUAL_GAS_PRICE, gasStation = null, toChain: targetChain } = options;
  const held = heldKeys(run);
  const request = { account, targetChain, keep, min, gasPrice, gasStation, held, known };
  const plan = await planSweep(ledger, request, io.stop);
  const sweep = sweepOf(plan, ledger.network, wallMs(io.clock));
  const report = planReport(plan, sweep);
  if (sweep.transfers.length === 0) {
    print(report, run);
    io.say('There is nothing to move.');
    return codeOfPlan(plan);
  }
  const answer = await askedFor(report, sweep, run);
  if (!answer) {
    print(report, run);
    sayNotSent(sweep, answer, run);
    return codeOfPlan(plan);
  }
  store.begin(sweep);
  const code = await finish(sweep, run);
  return code === EXIT.done ? codeOfPlan(plan) : code;
}

async function resume(run: Run): Promise<number> {
  const { io, options } = run;
  const begun = begunBefore(run);
  checkSame(begun, run);
  // The new price is for commands that are not signed yet. Signed ones are sent unchanged, because a second command
  // for step 0 could take the coins twice.
  const sweep = { ...begun, gasPrice: options.gasPrice ?? begun.gasPrice };
  checkGuardAgain(sweep, run);
  const report = sweepReport(sweep, new Map(), false);
  if (!isUnfinished(sweep)) {
    print(report, run);
    io.say('This sweep is finished.');
    return codeOf(sweep);
  }
  const answer = await askedFor(report, sweep, run);
  if (answer) return await finish(sweep, run);
  print(report, run);
  sayNotSent(sweep, answer, run);
  return EXIT.noWork;
}

/** @throws UsageError if the options name another target chain or another gas station than those of the sweep */
function checkSame(sweep: Sweep, run: Run): void {
  const { targetChain, gasStation } = sweep;
  const { toChain, gasStation: payer } = run.options;
  const first = `Finish it first: ${resumeLine(sweep, run.options, run)}`;
  if (toChain !== undefined && toChain !== targetChain) {
    throw new UsageError(`This sweep goes to chain ${targetChain}. ${first}`);
  }
  if (payer !== undefined && payer !== gasStation) {
    const who = gasStation === null ? 'the account itself pays' : `${gasStation} pays`;
    throw new UsageError(`In this sweep, ${who} for the arrival. ${first}`);
  }
}

/**
 * Checks the guard in the state file again. An earlier version of pickaxe, which trusted the node's guard, may have
 * written the file.
 * @throws UsageError if a command must still be signed, and the file's guard does not fit the guard that the user has
 *   named
 */
function checkGuardAgain({ account, guard, transfers }: Sweep, { known }: Run): void {
  const mustSign = transfers.some(({ step0, outcome }) => step0 === null && outcome === null);
  if (!mustSign || !known || guardOfName(account)) return;
  const fault = guardFault(guard, known);
  if (fault) throw new UsageError(`The guard of this sweep ${fault}.`);
}

async function askedFor(report: SweepReport, sweep: Sweep, run: Run): Promise<boolean | undefined> {
  return await isWanted({ sweep, yes: run.options.yes, lines: linesOf(report), question: 'Move these coins?' }, run);
}

async function finish(sweep: Sweep, run: Run): Promise<number> {
  const { options, io } = run;
  const { notes, sweep: after } = await carryOut(sweep, options.timeout * 1000, run);
  print(sweepReport(after, notes, true), run);
  const again = resumeLine(after, options, run);
  if (isUnfinished(after) && !isSigned(after)) {
    sayNothingSigned(again, run);
  } else if (isUnfinished(after)) {
    io.say('Coins that are on their way are safe: anybody can finish a transfer with its request key.');
    io.say(`Go on with: ${again}`);
  }
  return codeOf(after);
}

function print(report: SweepReport, { options, io }: Run): void {
  io.out(options.json ? `${JSON.stringify(report)}\n` : linesOf(report));
}

function codeOfPlan({ chains }: Plan): number {
  return chains.some(({ kind }) => kind === 'fault') ? EXIT.failed : EXIT.done;
}

/**
 * @returns the account's guard as the user has named it; null without keys. Keys in a project's file are ignored,
 *   because somebody else may have written that file
 */
function knownGuard({ config, origins }: Loaded, pairs: readonly KeyPair[], options: SweepOptions): Keyset | null {
  const { publicKeys = [], predicate } = config.miner;
  const isOwn = (path: string) => origins.has(path) && origins.get(path)?.layer !== 'project';
  const own = isOwn('miner.public-keys') ? publicKeys : [];
  const keys = [...pairs.map(({ publicKey }) => publicKey), ...own, ...(options.guardKey ?? [])];
  return keys.length === 0 ? null : { keys, pred: isOwn('miner.predicate') ? predicate : 'keys-all' };
}

const SweptChain = z
  .strictObject({
    chain: z.int().meta({ description: 'where the coins come from' }),
    state: z.enum(['planned', 'skipped', 'pending', 'done', 'failed']).meta({
      description: 'pending: the coins are on their way, and --resume goes on; failed: they are still where they were',
    }),
    amount: z.string().optional().meta({ description: 'what is moved, in coins' }),
    requestKey: z.string().optional().meta({ description: 'of step 0, with which anybody can finish the transfer' }),
    by: z.enum(['us', 'somebody-else']).optional().meta({ description: 'who has finished the transfer' }),
    provenBy: ShownProof,
    gasCost: z
      .string()
      .optional()
      .meta({ description: 'what was paid for gas, in coins, by a transfer that is done or failed' }),
    reason: z.string().optional().meta({ description: 'why nothing is moved, or what the transfer waits for' }),
  })
  .meta({ description: 'one chain of a sweep' });

export const SweepReport = z
  .strictObject({
    network: z.string(),
    account: z.string(),
    targetChain: z.int().meta({ description: 'where the coins go' }),
    guard: ShownGuard.meta({ description: 'who can dispose of the coins that arrive' }),
    sent: ShownSent,
    total: z.string().meta({ description: 'the sum of all amounts, in coins' }),
    ...GAS_FIELDS,
    chains: z.array(SweptChain),
  })
  .meta({ description: 'a sweep, or the plan of one' });
export type SweepReport = z.output<typeof SweepReport>;
type SweptChain = SweepReport['chains'][number];

/** @param sweep the sweep made from the plan */
function planReport(plan: Plan, sweep: Sweep): SweepReport {
  const { account, targetChain } = plan.request;
  const guard = guardReport(plan.guard);
  const chains = plan.chains.map((it): SweptChain => {
    const { chain } = it;
    if (it.kind === 'transfer') return { chain, state: 'planned', amount: formatDecimal(it.amount) };
    return { chain, state: it.kind === 'skip' ? 'skipped' : 'failed', reason: oneLine(it.reason, MOST_FOREIGN) };
  });
  const sums = { total: formatDecimal(totalOf(plan)), mostGasCost: formatDecimal(mostGasCost(sweep)) };
  const warning = gasWarning(sweep);
  const { network } = sweep;
  return { network, account, targetChain, guard, sent: false, ...sums, ...(warning && { warning }), chains };
}

/**
 * @param notes for each chain, what its unfinished transfer waits for
 * @param sent whether this run may have sent something
 */
function sweepReport(sweep: Sweep, notes: ReadonlyMap<number, string>, sent: boolean): SweepReport {
  const { network, account, targetChain, guard, transfers } = sweep;
  const total = formatDecimal(transfers.reduce((sum, { amount }) => sum + amount, 0n));
  const chains = transfers.map((transfer) => sweptChain(transfer, notes.get(transfer.chain)));
  const warning = isUnfinished(sweep) && !sent ? gasWarning(sweep) : undefined;
  const common = { network, account, targetChain, guard: guardReport(guard), sent, total };
  return { ...common, ...(warning !== undefined && { warning }), chains };
}

function sweptChain({ chain, amount, step0, outcome }: Transfer, note: string | undefined): SweptChain {
  const common = { chain, amount: formatDecimal(amount), ...(step0 && { requestKey: step0.hash }) };
  if (outcome === null) {
    return {
      ...common,
      state: step0 ? 'pending' : 'planned',
      ...(note !== undefined && { reason: oneLine(note, MOST_FOREIGN) }),
    };
  }
  const ended = {
    ...common,
    gasCost: formatDecimal(outcome.gasCost),
    ...(outcome.provenBy && { provenBy: outcome.provenBy }),
  };
  if (outcome.state === 'failed') return { ...ended, state: 'failed', reason: oneLine(outcome.reason, MOST_FOREIGN) };
  return { ...ended, state: 'done', by: outcome.by === 'us' ? 'us' : 'somebody-else' };
}

/** Maximum number of characters of an account or a key that the report for people shows. Longer ones are cut. */
const MOST_NAME = 100;

/** @returns the report as lines for people, each of which ends with a newline */
function linesOf(report: SweepReport): string {
  const { account, network, targetChain, guard, total, mostGasCost, warning, chains } = report;
  const rows = chains.map(({ chain, state, amount = '', ...more }) => [`${chain}`, state, amount, remark(more)]);
  const table = [['chain', 'state', 'amount', ''], ...rows, ['', 'total', total, '']];
  const lines = aligned(table, (column) => column === 1 || column === 3);
  const gas = mostGasCost === undefined ? [] : [`Gas costs at most ${mostGasCost}.`];
  if (warning !== undefined) gas.push(`Warning: ${warning}`);
  const title = `${oneLine(account, MOST_NAME)} on ${network}, to chain ${targetChain}:`;
  const guarded = [
    `The coins arrive for ${guard.predicate} of`,
    ...guard.keys.map((key) => `  ${oneLine(key, MOST_NAME)}`),
  ];
  return `${[title, '', ...lines, ...gas, ...guarded].join('\n')}\n`;
}

function remark({
  requestKey,
  by,
  gasCost,
  reason,
  provenBy,
}: Omit<SweepReport['chains'][number], 'chain' | 'state' | 'amount'>) {
  const proof = provenBy === undefined ? undefined : provenText({ provenBy });
  if (by !== undefined) {
    const whose = by === 'somebody-else' ? 'finished by somebody else' : undefined;
    return [`gas ${gasCost}`, whose, proof].filter(Boolean).join(', ');
  }
  const gas = gasCost === undefined ? '' : `gas ${gasCost}, `;
  const why = [reason, proof].filter(Boolean).join(', ');
  return [requestKey && `${gas}request key ${requestKey}`, why].filter(Boolean).join(': ');
}
