/** A payment for programs that use the package: the plan, the journal and the proof of `pickaxe tx transfer`. */

import { randomUUID } from 'node:crypto';
import { systemClock, wallMs } from '../../base/system/clock.ts';
import { userStateDirectory } from '../../base/system/files.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { KnownWork, minedHeaders } from '../../node/blocks/known-work.ts';
import { isOnCurve } from '../../node/client/miner-identity.ts';
import { NodeError } from '../../node/http/node-error.ts';
import { paymentOf, planPayment } from '../../node/sweep/next-step.ts';
import { CannotSweep, USUAL_GAS_PRICE } from '../../node/sweep/plan.ts';
import { SweepRunner } from '../../node/sweep/runner.ts';
import { StoreFault, SweepStore } from '../../node/sweep/state-files.ts';
import { SweepFault } from '../../node/sweep/sweep-ledger.ts';
import { isSigned, isUnfinished, type Sweep } from '../../node/sweep/sweep-state.ts';
import { KeyPair } from '../../protocol/ledger/command/command.ts';
import { formatDecimal, parseDecimal } from '../../protocol/ledger/decimal.ts';
import { LedgerFormatError } from '../../protocol/ledger/json.ts';
import { parseKeyFile } from '../../protocol/ledger/request-file/unsigned-form.ts';
import { RequestFileError } from '../../protocol/ledger/request-file/yaml.ts';
import { UsageError } from '../process/exit.ts';
import { secretTextIn } from './node-clients.ts';
import { NodeSweepLedger } from './node-sweep-ledger.ts';
import { NodesInTurn } from './nodes-in-turn.ts';

export interface PayOptions {
  /** The URL of a node, or of several: the first is asked, and the others must agree with it. */
  readonly node: string | readonly string[];
  /** The network, such as `mainnet01`: a node of another one gets nothing. */
  readonly network: string;
  /** The key file of the account that pays, as `pickaxe keygen` writes it; or `secretKey`. */
  readonly keyFile?: string;
  /** The secret key of the account that pays: 64 hex digits. */
  readonly secretKey?: string;
  /** The account that pays. Default: `k:` and the public key. */
  readonly account?: string;
  readonly to: string;
  /** The amount in coins, such as `0.5`, with at most 12 decimal places. The gas is extra. */
  readonly amount: string;
  readonly chain: number;
  /** The chain on which the coins arrive. Default: `chain`. */
  readonly toChain?: number;
  /** The keys that the receiver must have, and their predicate; a `k:` account needs none. */
  readonly guard?: { readonly keys: readonly string[]; readonly pred: string };
  /** What is paid for a unit of gas, in coins. Default: 0.00000001. */
  readonly gasPrice?: string;
  /** The account that pays for the arrival on another chain. Default: the account that pays. */
  readonly gasStation?: string;
  /** Whether to go on with an unfinished payment of the account, if it is this one. Default: it is an error. */
  readonly resume?: boolean;
  /** Whether to take the nodes' word where the work of their blocks proves too little. Default: false. */
  readonly trustsNodes?: boolean;
  /** Where the payment is written down before it is sent. Default: the folder of `pickaxe tx transfer`. */
  readonly stateDirectory?: string;
  /** After this time, an unfinished payment is `pending`. Default: an hour. */
  readonly timeoutMs?: number;
  /** The pause between two looks at the nodes. Default: ten seconds. */
  readonly pauseMs?: number;
  /** Called with what the payment waits for, when that changes. It may contain a node's text. */
  readonly notify?: (note: string) => void;
  /** Ends the wait: the payment is then `pending`. */
  readonly stop?: AbortSignal;
}

export interface Paid {
  /**
   * `done`: the coins have arrived, in a block with six blocks above. `failed`: they have not left, apart from gas.
   * `pending`: they may still move, so call `pay` with `resume`, and do not pay again.
   */
  readonly state: 'done' | 'failed' | 'pending';
  /** The request key of the command; absent while nothing was signed. */
  readonly requestKey?: string;
  /** What proves the end: the work of blocks, or the word of several nodes or of one. */
  readonly provenBy?: 'work' | 'nodes' | 'node';
  /** What the account has paid for gas, in coins, once it is over. */
  readonly gasCost?: string;
  /** Why it has failed, or what it waits for. */
  readonly reason?: string;
}

/** A payment that cannot be made, or that has not begun. Nothing was sent for it. */
export class PayError extends Error {
  override readonly name = 'PayError';
}

const HOUR_MS = 3_600_000;
const PAUSE_MS = 10_000;
/** Each request is attempted once, because a second attempt could be refused by reason of the first. */
const ONCE = { limits: { attempts: 1 } };
const MOST_REASON = 300;

/**
 * Pays coins to somebody, and waits until that is proven.
 * @throws PayError if nothing was sent
 */
export async function pay(options: PayOptions): Promise<Paid> {
  const { node, network, stop = new AbortController().signal } = options;
  const settings = { node: { urls: [node].flat(), network, insecureTls: false }, ledger: { dialect: 'auto' as const } };
  return await orPayError(async () => {
    const pair = pairOf(options);
    const nodes = new NodesInTurn(settings, (note) => options.notify?.(note), ONCE);
    const store = storeOf(options, pair);
    store.open();
    try {
      const known = await knownWork(options);
      return await carryOut(options, pair, new NodeSweepLedger(network, nodes, known), store, stop);
    } finally {
      store.close();
      await nodes.close();
    }
  });
}

async function carryOut(
  options: PayOptions,
  pair: KeyPair,
  ledger: NodeSweepLedger,
  store: SweepStore,
  stop: AbortSignal,
): Promise<Paid> {
  const before = store.load();
  const unfinished = before && isUnfinished(before) && isSigned(before) ? before : undefined;
  if (unfinished) checkResumed(unfinished, options);
  const payment = unfinished ?? (await begin(options, pair, ledger, store, stop));
  let note: string | undefined;
  const runner = new SweepRunner(payment, {
    ledger,
    save: (sweep) => store.save(sweep),
    pairs: [pair],
    trustsNodes: options.trustsNodes ?? false,
    nonce: () => `pickaxe transfer ${randomUUID()}`,
    clock: systemClock,
    notify: (_, next) => {
      if (next !== note) options.notify?.(next);
      note = next;
    },
  });
  try {
    await runner.run(options.pauseMs ?? PAUSE_MS, options.timeoutMs ?? HOUR_MS, stop);
  } catch (error) {
    // The state cannot be written. The command may have been sent before that, so this is no PayError.
    if (!(error instanceof StoreFault)) throw error;
    note = error.message;
  }
  return reportOf(runner.sweep, note);
}

async function begin(
  options: PayOptions,
  pair: KeyPair,
  ledger: NodeSweepLedger,
  store: SweepStore,
  stop: AbortSignal,
): Promise<Sweep> {
  const { to, amount, chain, toChain = chain, guard, gasPrice, gasStation } = options;
  const request = {
    account: accountOf(options, pair),
    chain,
    targetChain: toChain,
    receiver: to,
    receiverGuard: guard ?? null,
    amount: parseDecimal(amount),
    gasPrice: gasPrice === undefined ? USUAL_GAS_PRICE : parseDecimal(gasPrice),
    gasStation: gasStation ?? null,
    held: [pair.publicKey],
  };
  const keys = [...(guard?.keys ?? []), ...(/^k:([0-9a-f]{64})$/.exec(to)?.slice(1) ?? [])];
  const wrong = keys.find((key) => !isOnCurve(key));
  if (wrong !== undefined) throw new CannotSweep(`Nobody can sign with the key ${wrong}: is it mistyped?`);
  const payment = paymentOf(await planPayment(ledger, request, stop), ledger.network, wallMs(systemClock));
  store.begin(payment);
  return payment;
}

/** @throws CannotSweep unless the unfinished payment is the one that the options ask for, and is to be resumed */
function checkResumed(unfinished: Sweep, { to, amount, chain, toChain = chain, resume = false }: PayOptions): void {
  const { receiver, targetChain } = unfinished;
  const [transfer] = unfinished.transfers;
  const isSame =
    receiver?.account === to &&
    transfer.amount === parseDecimal(amount) &&
    transfer.chain === chain &&
    targetChain === toChain;
  if (isSame && resume) return;
  throw new CannotSweep(
    `An earlier payment of this account is unfinished (${formatDecimal(transfer.amount)} to ${receiver?.account}): ` +
      'call pay with the same receiver, amount and chains, and resume: true.',
  );
}

function reportOf({ transfers: [{ step0, outcome }] }: Sweep, note: string | undefined): Paid {
  const reason = outcome === null ? note : outcome.state === 'failed' ? outcome.reason : undefined;
  return {
    state: outcome?.state ?? 'pending',
    ...(step0 && { requestKey: step0.hash }),
    ...(outcome?.provenBy && { provenBy: outcome.provenBy }),
    ...(outcome && { gasCost: formatDecimal(outcome.gasCost) }),
    ...(reason !== undefined && { reason: oneLine(reason, MOST_REASON) }),
  };
}

function pairOf({ keyFile, secretKey }: PayOptions): KeyPair {
  if ((keyFile === undefined) === (secretKey === undefined)) {
    throw new CannotSweep('Give the key of the account that pays: either keyFile or secretKey.');
  }
  if (secretKey !== undefined) return new KeyPair(secretKey);
  return parseKeyFile(secretTextIn(keyFile!, 'the key file'), keyFile!);
}

function accountOf({ account }: Pick<PayOptions, 'account'>, { publicKey }: KeyPair): string {
  return account ?? `k:${publicKey}`;
}

function storeOf(options: PayOptions, pair: KeyPair): SweepStore {
  return new SweepStore(folderOf(options), options.network, accountOf(options, pair), 'transfer');
}

function folderOf({ stateDirectory = userStateDirectory() }: PayOptions): string {
  if (stateDirectory !== undefined) return stateDirectory;
  throw new CannotSweep('There is no folder for the state of the payment: name one with stateDirectory.');
}

/** What is known here of the work of blocks: as for `pickaxe tx transfer`. */
async function knownWork(options: PayOptions): Promise<KnownWork> {
  const folder = folderOf(options);
  const warn = (text: string) => options.notify?.(text);
  const mined = await minedHeaders(folder, warn);
  return new KnownWork({ folder, mined, trustsNodes: options.trustsNodes ?? false, warn });
}

const FAULTS = [CannotSweep, SweepFault, StoreFault, NodeError, LedgerFormatError, RequestFileError, UsageError];

/** @throws PayError in place of errors about what was asked for, or of nodes */
async function orPayError<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!FAULTS.some((kind) => error instanceof kind)) throw error;
    throw new PayError((error as Error).message, { cause: error });
  }
}
