/** `pickaxe sweep`: brings an account's coins from all chains to one. Nothing is sent before somebody has said yes. */

import { EXIT, UsageError } from '../../app/exit-codes.ts';
import type { Loaded } from '../../config/load.ts';
import type { Keyset } from '../../ledger/command/coin.ts';
import type { KeyPair } from '../../ledger/command/keys.ts';
import type { Decimal } from '../../ledger/decimal.ts';
import { type Plan, planSweep, sweepOf, USUAL_GAS_PRICE } from '../../sweep/plan.ts';
import { guardFault, guardOfName } from '../../sweep/signers.ts';
import { isSigned, isUnfinished, type Sweep } from '../../sweep/state.ts';
import { wallMs } from '../../system/clock.ts';
import { readKeyFile } from '../key-file.ts';
import type { SweepIo } from '../sweep/io.ts';
import { linesOf } from '../sweep/lines.ts';
import { planReport, type SweepReport, sweepReport } from '../sweep/report.ts';
import {
  accountOf,
  carryOut,
  codeOf,
  inSession,
  isWanted,
  resumeLine,
  type Session,
  type SessionOptions,
  sayNotSent,
} from '../sweep/session.ts';

export interface SweepOptions extends SessionOptions {
  readonly toChain?: number;
  /** Coins that stay on each chain. */
  readonly keep: Decimal;
  /** Coins: chains from which less would go are left alone. */
  readonly min: Decimal;
}

/** @throws UsageError */
export async function runSweep(loaded: Loaded, options: SweepOptions, io: SweepIo): Promise<number> {
  const pairs = (options.keyFile ?? []).map(readKeyFile);
  const account = accountOf(loaded, pairs);
  const known = knownGuard(loaded, pairs, options);
  return await inSession(loaded, { kind: 'sweep', account, pairs }, io, async (session) => {
    const run = { ...session, known, options };
    return options.resume ? await resume(run) : await start(run, account);
  });
}

interface Run extends Session {
  /** What the user has said about the guard of the account; null: nothing. */
  readonly known: Keyset | null;
  readonly options: SweepOptions;
}

async function start(run: Run, account: string): Promise<number> {
  const { ledger, store, pairs, known, options, io } = run;
  if (options.toChain === undefined) throw new UsageError('Say where the coins shall go, with --to-chain N.');
  const before = store.load();
  if (before && isUnfinished(before) && isSigned(before)) {
    throw new UsageError(
      `An earlier sweep of this account is unfinished. Finish it first: ${resumeLine(before, options, run)}`,
    );
  }
  const { keep, min, gasPrice = USUAL_GAS_PRICE, gasStation = null, toChain: targetChain } = options;
  const held = pairs.length === 0 ? null : pairs.map(({ publicKey }) => publicKey);
  const wishes = { account, targetChain, keep, min, gasPrice, gasStation, held, known };
  const plan = await planSweep(ledger, wishes, io.stop);
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
  const { store, io, options } = run;
  const begun = store.load();
  if (!begun) throw new UsageError('No sweep of this account has begun on this machine.');
  checkSame(begun, options);
  // What is made already is sent as it is: a second step 0 could take the coins twice.
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

/** A sweep goes on as it was begun. @throws UsageError when the options say otherwise */
function checkSame({ targetChain, gasStation }: Sweep, { toChain, gasStation: payer }: SweepOptions): void {
  if (toChain !== undefined && toChain !== targetChain) {
    throw new UsageError(`This sweep goes to chain ${targetChain}: finish it first, without --to-chain.`);
  }
  if (payer !== undefined && payer !== gasStation) {
    const who = gasStation === null ? 'the account itself pays' : `${gasStation} pays`;
    throw new UsageError(`In this sweep, ${who} for the arrival: finish it first, without --gas-station.`);
  }
}

/** The file may be of a version that has believed the node. @throws UsageError when a guard that the user does not know would be signed */
function checkGuardAgain({ account, guard, transfers }: Sweep, { known }: Run): void {
  const isSigned = transfers.some(({ step0, outcome }) => step0 === null && outcome === null);
  if (!isSigned || !known || guardOfName(account)) return;
  const fault = guardFault(guard, known);
  if (fault) throw new UsageError(`The guard of this sweep ${fault}.`);
}

/** @returns what `isWanted` returns */
async function askedFor(report: SweepReport, sweep: Sweep, run: Run): Promise<boolean | undefined> {
  return await isWanted({ sweep, yes: run.options.yes, lines: linesOf(report), question: 'Move these coins?' }, run);
}

async function finish(sweep: Sweep, run: Run): Promise<number> {
  const { options, io } = run;
  const { notes, sweep: after } = await carryOut(sweep, options.timeout * 1000, run);
  print(sweepReport(after, notes, true), run);
  const again = resumeLine(after, options, run);
  if (isUnfinished(after) && !isSigned(after)) {
    io.say('Nothing was signed or sent.');
    io.say(`Try again with: ${again}`);
    io.say('Or begin another sweep, which takes the place of this one.');
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
 * The keys of a project's file do not count: such a file may come with somebody else's folder.
 * @returns null when the user has named no key
 */
function knownGuard({ config, origins }: Loaded, pairs: readonly KeyPair[], options: SweepOptions): Keyset | null {
  const { publicKeys = [], predicate } = config.miner;
  const isOwn = (path: string) => origins.has(path) && origins.get(path)?.layer !== 'project';
  const own = isOwn('miner.public-keys') ? publicKeys : [];
  const keys = [...pairs.map(({ publicKey }) => publicKey), ...own, ...(options.guardKey ?? [])];
  return keys.length === 0 ? null : { keys, pred: isOwn('miner.predicate') ? predicate : 'keys-all' };
}
