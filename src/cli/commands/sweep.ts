/** `pickaxe sweep`: brings an account's coins from all chains to one. Nothing is sent before somebody has said yes. */

import { randomUUID } from 'node:crypto';
import { EXIT, UsageError } from '../../app/exit-codes.ts';
import { NodeSweepLedger } from '../../app/node-sweep-ledger.ts';
import type { NodesInTurn } from '../../app/nodes-in-turn.ts';
import type { Loaded } from '../../config/load.ts';
import type { Keyset } from '../../ledger/command/coin.ts';
import type { KeyPair } from '../../ledger/command/keys.ts';
import { type Decimal, parseDecimal } from '../../ledger/decimal.ts';
import { CannotSweep, type Plan, planSweep, sweepOf } from '../../sweep/plan.ts';
import { needsKeys, SweepRunner } from '../../sweep/runner.ts';
import { guardFault, guardOfName, signersOf } from '../../sweep/signers.ts';
import { isUnfinished, type Sweep, stateOf } from '../../sweep/state.ts';
import { StoreFault, SweepStore } from '../../sweep/store.ts';
import { SweepFault, type SweepLedger } from '../../sweep/sweep-ledger.ts';
import { wallMs } from '../../system/clock.ts';
import { oneLine } from '../../text/one-line.ts';
import { readKeyFile } from '../key-file.ts';
import { onNodes } from '../on-nodes.ts';
import type { SweepIo } from '../sweep/io.ts';
import { linesOf } from '../sweep/lines.ts';
import { planReport, type SweepReport, sweepReport } from '../sweep/report.ts';

export interface SweepOptions {
  readonly toChain?: number;
  readonly keyFile?: readonly string[];
  /** Public keys. */
  readonly guardKey?: readonly string[];
  readonly keep: Decimal;
  readonly min: Decimal;
  /** By default the usual one, and with `resume` the one that the sweep has begun with. */
  readonly gasPrice?: Decimal;
  readonly gasStation?: string;
  /** Whether not to ask. */
  readonly yes: boolean;
  readonly resume: boolean;
  /** In seconds. */
  readonly timeout: number;
  readonly json: boolean;
}

/** The least that nodes usually take, in coins for each unit of gas. */
const USUAL_GAS_PRICE = parseDecimal('0.00000001');

/** The most characters of a message that holds a node's words: a hundred keys are 6,400. */
const MOST_MESSAGE = 8000;

/** What a node refuses was then taken by no earlier attempt. The sweep itself asks again. */
const ONCE = { limits: { attempts: 1 } };

/** @throws UsageError */
export async function runSweep(loaded: Loaded, options: SweepOptions, io: SweepIo): Promise<number> {
  const pairs = (options.keyFile ?? []).map(readKeyFile);
  const account = accountOf(loaded, pairs);
  const known = knownGuard(loaded, pairs, options);
  if (io.stateDirectory === undefined) {
    throw new UsageError('There is no folder for the state of the sweep: set XDG_STATE_HOME to one.');
  }
  const { stateDirectory } = io;
  const act = async (nodes: NodesInTurn) => {
    const ledger = new NodeSweepLedger(await nodes.ask(async (api) => api.network), nodes);
    const store = new SweepStore(stateDirectory, ledger.network, account);
    store.open();
    try {
      const run = { ledger, store, pairs, known, options, io };
      return options.resume ? await resume(run) : await start(run, account);
    } finally {
      store.close();
    }
  };
  try {
    return await onNodes(loaded.config, io, act, ONCE);
  } catch (fault) {
    if (fault instanceof CannotSweep) throw new UsageError(oneLine(fault.message, MOST_MESSAGE));
    if (!(fault instanceof SweepFault || fault instanceof StoreFault)) throw fault;
    io.say(`error: ${oneLine(fault.message)}`);
    return EXIT.failed;
  }
}

interface Run {
  readonly ledger: SweepLedger;
  readonly store: SweepStore;
  readonly pairs: readonly KeyPair[];
  /** What the user has said about the guard of the account; null: nothing. */
  readonly known: Keyset | null;
  readonly options: SweepOptions;
  readonly io: SweepIo;
}

async function start(run: Run, account: string): Promise<number> {
  const { ledger, store, pairs, known, options, io } = run;
  if (options.toChain === undefined) throw new UsageError('Say where the coins shall go, with --to-chain N.');
  const before = store.load();
  if (before && isUnfinished(before)) {
    throw new UsageError('An earlier sweep of this account is unfinished: see and finish it with --resume.');
  }
  const { keep, min, gasPrice = USUAL_GAS_PRICE, gasStation = null, toChain: targetChain } = options;
  const held = pairs.length === 0 ? null : pairs.map(({ publicKey }) => publicKey);
  const wishes = { account, targetChain, keep, min, gasPrice, gasStation, held, known };
  const plan = await planSweep(ledger, wishes, io.stop);
  const report = planReport(plan, ledger.network);
  const sweep = sweepOf(plan, ledger.network, wallMs(io.clock));
  if (sweep.transfers.length === 0) return printPlan(plan, report, 'There is nothing to move.', run);
  if (!(await isWanted(report, sweep, run))) return printPlan(plan, report, NOTHING_SENT, run);
  store.begin(sweep);
  const code = await carryOut(sweep, run);
  return code === EXIT.done ? codeOfPlan(plan) : code;
}

async function resume(run: Run): Promise<number> {
  const { store, io, options } = run;
  const sweep = store.load();
  if (!sweep) throw new UsageError('No sweep of this account has begun on this machine.');
  checkSame(sweep, options);
  checkGuardAgain(sweep, run);
  const report = sweepReport(sweep, new Map(), false);
  if (!isUnfinished(sweep)) {
    print(report, run);
    io.say('This sweep is finished.');
    return codeOf(sweep);
  }
  if (await isWanted(report, sweep, run)) {
    // What is made already is sent as it is: a second step 0 could take the coins twice.
    const { gasPrice = sweep.gasPrice } = options;
    return await carryOut({ ...sweep, gasPrice }, run);
  }
  print(report, run);
  io.say(NOTHING_SENT);
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

const NOTHING_SENT = 'Nothing was sent. Add --yes to do it, and --key-file FILE with the keys of the account.';

/** Asks a person, after having shown what will be done. */
async function isWanted(report: SweepReport, sweep: Sweep, { options, pairs, io }: Run): Promise<boolean> {
  const held = pairs.map(({ publicKey }) => publicKey);
  const canSign = !needsKeys(sweep) || signersOf(sweep.guard, held) !== undefined;
  if (options.yes && !canSign) {
    throw new UsageError(`Name the key files of the account with --key-file: ${sweep.guard.keys.join(', ')}.`);
  }
  if (options.yes || !canSign) return options.yes;
  for (const line of linesOf(report).trimEnd().split('\n')) io.say(line);
  return (await io.confirm('Move these coins?')) ?? false;
}

async function carryOut(sweep: Sweep, run: Run): Promise<number> {
  const { ledger, store, pairs, options, io } = run;
  const notes = new Map<number, string>();
  const runner = new SweepRunner(sweep, {
    ledger,
    save: (it) => store.save(it),
    pairs,
    nonce: () => `pickaxe sweep ${randomUUID()}`,
    nowMs: () => wallMs(io.clock),
    ...(io.confirmations !== undefined && { confirmations: io.confirmations }),
    tell: ({ chain }, note) => {
      if (notes.get(chain) === note) return;
      notes.set(chain, note);
      io.say(`chain ${chain}: ${oneLine(note)}`);
    },
  });
  await runner.run(io.pauseMs, options.timeout * 1000, io.stop);
  print(sweepReport(runner.sweep, notes, true), run);
  if (isUnfinished(runner.sweep)) {
    io.say(
      'Coins that are on their way are safe: anybody can finish a transfer with its request key. Go on with --resume.',
    );
  }
  return codeOf(runner.sweep);
}

function printPlan(plan: Plan, report: SweepReport, says: string, run: Run): number {
  print(report, run);
  run.io.say(says);
  return codeOfPlan(plan);
}

function print(report: SweepReport, { options, io }: Run): void {
  io.out(options.json ? `${JSON.stringify(report)}\n` : linesOf(report));
}

function codeOfPlan({ chains }: Plan): number {
  return chains.some(({ kind }) => kind === 'fault') ? EXIT.failed : EXIT.done;
}

function codeOf({ transfers }: Sweep): number {
  const states = transfers.map(stateOf);
  if (states.includes('pending')) return EXIT.noWork;
  return states.includes('failed') ? EXIT.failed : EXIT.done;
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

function accountOf({ config: { miner } }: Loaded, pairs: readonly KeyPair[]): string {
  const keys = miner.publicKeys ?? pairs.map(({ publicKey }) => publicKey);
  const account = miner.account ?? (keys.length === 1 ? `k:${keys[0]}` : undefined);
  if (account === undefined) throw new UsageError('Say whose coins are to be moved, with --account NAME.');
  return account;
}
