/** The code that `pickaxe sweep` and `pickaxe tx transfer` share. */

import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { lacksNetwork } from '../../../app/config/contradictions.ts';
import type { Loaded } from '../../../app/config/load.ts';
import { printed } from '../../../app/config/setting-types/basic.ts';
import { ENTRIES, valueIn } from '../../../app/config/settings.ts';
import type { Entry } from '../../../app/config/settings-table.ts';
import { NodeSweepLedger } from '../../../app/nodes/node-sweep-ledger.ts';
import type { NodesInTurn } from '../../../app/nodes/nodes-in-turn.ts';
import { EXIT, UsageError } from '../../../app/process/exit.ts';
import { type Clock, systemClock } from '../../../base/system/clock.ts';
import { userStateDirectory } from '../../../base/system/files.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import { KnownWork, minedHeaders } from '../../../node/blocks/known-work.ts';
import type { NodeApiContext } from '../../../node/client/node-api.ts';
import { CannotSweep } from '../../../node/sweep/plan.ts';
import { needsKeys, SweepRunner } from '../../../node/sweep/runner.ts';
import { type Kind, type StateFileSystem, StoreFault, SweepStore } from '../../../node/sweep/state-files.ts';
import { SweepFault, type SweepLedger } from '../../../node/sweep/sweep-ledger.ts';
import { isSigned, type Sweep, stateOf } from '../../../node/sweep/sweep-state.ts';
import { signersOf } from '../../../node/sweep/transfer-commands.ts';
import { isPublicKey, type KeyPair } from '../../../protocol/ledger/command/command.ts';
import { type Decimal, formatDecimal, parseDecimal } from '../../../protocol/ledger/decimal.ts';
import { type Io, isEndOfQuestion } from '../../io.ts';
import { onNodes, sayNodes } from '../../ledger/on-nodes.ts';
import { collect, settingsOf } from '../../usage/options.ts';
import { withWords } from '../tx/command-files.ts';

/** Maximum length, in characters, of a message with a node's text. It can list a hundred keys of 64 characters each. */
const MOST_MESSAGE = 8000;

/**
 * Each request is attempted once. After several attempts, a refusal could mean that an earlier attempt was accepted.
 * SweepRunner repeats requests where that is safe.
 */
const ONCE = { limits: { attempts: 1 } };

export interface SessionOptions {
  readonly keyFile?: readonly string[];
  /** For a sweep: public keys that may be in the account's guard beside the keys of the key files. */
  readonly guardKey?: readonly string[];
  /** Coins for each unit of gas. Default: USUAL_GAS_PRICE, or with `resume` the price in the state file. */
  readonly gasPrice?: Decimal;
  /** The account that pays for gas on the chain where the coins arrive, if that is another chain. */
  readonly gasStation?: string;
  readonly yes: boolean;
  readonly resume: boolean;
  /** Whether to trust the nodes' reports where their blocks do not prove what has become of the coins. */
  readonly trustNodes?: boolean;
  /** Maximum time to wait for the end of the transfers, in seconds. */
  readonly timeout: number;
  readonly json: boolean;
}

export interface Session {
  readonly kind: Kind;
  readonly ledger: SweepLedger;
  /** The state files, which are locked against other processes during the session. */
  readonly store: SweepStore;
  readonly pairs: readonly KeyPair[];
  readonly trustsNodes: boolean;
  /** Whether the settings name the network. If not, only a node has named it. */
  readonly isNetworkNamed: boolean;
  readonly io: SweepIo;
  /** Flags that make another command ask the same nodes. */
  readonly nodeFlags: readonly string[];
  /** Flags that name the account; empty if a command without them has the same account. */
  readonly accountFlags: readonly string[];
  /** Flags that name the account's guard. */
  readonly guardFlags: readonly string[];
}

type Subject = Pick<Session, 'kind' | 'pairs'> & { readonly account: string; readonly options: SessionOptions };

/**
 * @returns the exit code of `act`; `failed` when no node gives a usable answer, or when the state files cannot be used;
 *   `interrupted` when `act` throws after `io.stop` has fired
 * @throws UsageError when the coins cannot be moved as requested, or when there is no folder for the state files
 */
export async function inSession(
  loaded: Loaded,
  { kind, account, pairs, options: { trustNodes: trustsNodes = false } }: Subject,
  io: SweepIo,
  act: (session: Session) => Promise<number>,
): Promise<number> {
  const { stateDirectory } = io;
  if (stateDirectory === undefined) {
    throw new UsageError(`There is no folder for the state of the ${kind}: set XDG_STATE_HOME to one.`);
  }
  const withStore = async (nodes: NodesInTurn) => {
    const network = await nodes.ask(async (api) => api.network);
    const known = io.knownWork ?? (await knownWork(loaded, stateDirectory, trustsNodes, io));
    const ledger = new NodeSweepLedger(network, nodes, known);
    const store = new SweepStore(stateDirectory, ledger.network, account, kind, io.files);
    store.open();
    try {
      const isNetworkNamed = !lacksNetwork(loaded.config.node);
      const shared = { kind, ledger, store, pairs, trustsNodes, isNetworkNamed, io };
      return await act({ ...shared, ...flagsAgain(loaded, account) });
    } finally {
      store.close();
    }
  };
  try {
    return await onNodes(loaded.config, io, withStore, { clock: io.clock, ...io.requests, ...ONCE });
  } catch (fault) {
    if (fault instanceof CannotSweep) throw new UsageError(oneLine(fault.message, MOST_MESSAGE));
    if (!(fault instanceof SweepFault || fault instanceof StoreFault)) throw fault;
    io.say(`error: ${oneLine(fault.message)}`);
    return EXIT.failed;
  }
}

/** @param stateDirectory folder of pickaxe's state files; undefined for a user without a home directory */
export async function knownWork(
  { config }: Loaded,
  stateDirectory: string | undefined,
  trustsNodes: boolean,
  { say }: Pick<Io, 'say'>,
): Promise<KnownWork> {
  const warn = (text: string) => say(`warning: ${oneLine(text)}`);
  const mined = await minedHeaders(config.blocks.folder ?? stateDirectory, warn);
  return new KnownWork({ folder: stateDirectory, mined, trustsNodes, warn });
}

interface Question {
  readonly sweep: Sweep;
  readonly yes: boolean;
  /** The plan, which is printed before the question. */
  readonly lines: string;
  readonly question: string;
}

/**
 * Asks whether the coins are to be moved, unless `yes` is set.
 * @returns true if `yes` is set, otherwise the user's answer. Undefined if the user was not asked, because there is no
 *   terminal, or because keys that must sign are missing
 * @throws UsageError if `yes` is set and keys that must sign are missing
 * @throws UsageError if `yes` is set, nothing is signed yet, and only a node has named the network
 * @throws the error of `confirm` if the question is ended
 */
export async function isWanted(
  { sweep, yes, lines, question }: Question,
  session: Session,
): Promise<boolean | undefined> {
  const { pairs, io } = session;
  const held = pairs.map(({ publicKey }) => publicKey);
  const canSign = !needsKeys(sweep) || signersOf(sweep.guard, held) !== undefined;
  if (yes && !canSign) {
    throw new UsageError(`Name the key files of the account with --key-file: ${sweep.guard.keys.join(', ')}.`);
  }
  if (yes && !session.isNetworkNamed && !isSigned(sweep)) {
    throw new UsageError(
      `The node says that its network is ${oneLine(sweep.network)}, and nobody else does. What is signed for another network than you mean could cost coins there: if it is right, add --network ${oneLine(sweep.network)}.`,
    );
  }
  if (yes) return true;
  if (!canSign) return undefined;
  for (const line of lines.trimEnd().split('\n')) io.say(line);
  try {
    return await io.confirm(question, io.stop);
  } catch (fault) {
    if (isEndOfQuestion(fault)) sayNotSent(sweep, false, session);
    throw fault;
  }
}

/**
 * Prints that nothing was sent. If an earlier run has sent commands, prints that nothing more was sent.
 * @param answer false if the user has answered no; undefined if the user was not asked, and gets a hint to add --yes
 */
export function sayNotSent(sweep: Sweep, answer: false | undefined, session: Session): void {
  const { pairs, io } = session;
  const keys = needsKeys(sweep) && pairs.length === 0 ? ', and --key-file FILE with the keys of the account' : '';
  const how = answer === undefined ? [`Add --yes to do it${keys}.`] : [];
  const sent = sweep.transfers.find(({ step0 }) => step0 !== null);
  if (!sent?.step0) {
    io.say(['Nothing was sent.', ...how].join(' '));
    return;
  }
  const what = sweep.receiver
    ? `the transfer may still arrive: ${pollLine(sent.step0.hash, sent.chain, session)}`
    : 'what was sent before may still arrive.';
  for (const line of [`Nothing more was sent; ${what}`, ...how]) io.say(line);
}

/** @returns the public keys of the key files; null without key files */
export function heldKeys({ pairs }: Pick<Session, 'pairs'>): string[] | null {
  return pairs.length === 0 ? null : pairs.map(({ publicKey }) => publicKey);
}

/** @returns the sweep or transfer in the state file @throws UsageError when there is none */
export function begunBefore({ kind, store }: Session): Sweep {
  const begun = store.load();
  if (!begun) throw new UsageError(`No ${kind} of this account has begun on this machine.`);
  return begun;
}

/** @param again the command line that continues */
export function sayNothingSigned(again: string, { kind, io }: Session): void {
  io.say('Nothing was signed or sent.');
  io.say(`Try again with: ${again}`);
  io.say(`Or begin another ${kind}, which takes the place of this one.`);
}

/** @returns the new state, and for each chain the last note about its transfer, such as what the transfer waits for */
export async function carryOut(
  sweep: Sweep,
  timeoutMs: number,
  { kind, ledger, store, pairs, trustsNodes, io }: Session,
): Promise<{ readonly sweep: Sweep; readonly notes: ReadonlyMap<number, string> }> {
  const notes = new Map<number, string>();
  const runner = new SweepRunner(sweep, {
    ledger,
    save: (it) => store.save(it),
    pairs,
    trustsNodes,
    nonce: () => `pickaxe ${kind} ${(io.unique ?? randomUUID)()}`,
    clock: io.clock,
    ...(io.confirmations !== undefined && { confirmations: io.confirmations }),
    notify: ({ chain }, note) => {
      if (notes.get(chain) === note) return;
      notes.set(chain, note);
      io.say(`chain ${chain}: ${oneLine(note)}`);
    },
  });
  await runner.run(io.pauseMs, timeoutMs, io.stop);
  return { sweep: runner.sweep, notes };
}

export function codeOf({ transfers }: Sweep): number {
  const states = transfers.map(stateOf);
  if (states.includes('pending')) return EXIT.noWork;
  return states.includes('failed') ? EXIT.failed : EXIT.done;
}

export function originOfAccount({ config: { miner }, origins }: Loaded, keyFiles: readonly string[]): string {
  const path = miner.account === undefined ? 'miner.public-keys' : 'miner.account';
  return origins.get(path)?.where ?? `the key file ${keyFiles.join(', ')}`;
}

/** @throws UsageError when neither the settings nor the keys name the account */
export function accountOf({ config: { miner } }: Loaded, pairs: readonly KeyPair[]): string {
  const keys = miner.publicKeys ?? pairs.map(({ publicKey }) => publicKey);
  const account = miner.account ?? (keys.length === 1 ? `k:${keys[0]}` : undefined);
  if (account === undefined) throw new UsageError('Say whose coins are to be moved, with --account NAME.');
  return account;
}

/**
 * @returns the flags with which another command line has the same nodes, account and guard. Flags for nodes and the
 *   account repeat flags of this command line, and settings of a configuration file that the user has named. An account
 *   that only a key file names is written as a flag, too. Flags for the guard repeat only flags of this command line
 */
function flagsAgain({ config, origins, found }: Loaded, account: string) {
  const isToSay = (path: string) => {
    const layer = origins.get(path)?.layer;
    return layer === 'flag' || (layer === 'project' && found === undefined);
  };
  const flagsOf = (isWanted: (entry: Entry) => boolean) => {
    return ENTRIES.filter(isWanted).flatMap((entry) => {
      const { flag, setting } = entry;
      if (flag === undefined) return [];
      return [printed(setting.type, valueIn(config, entry))].flat().flatMap((value) => {
        if (value === true) return [flag];
        return typeof value === 'string' ? [flag, value] : [];
      });
    });
  };
  const isOfKeyFile = config.miner.account === undefined && config.miner.publicKeys === undefined;
  return {
    nodeFlags: flagsOf(({ path, table }) => (table === 'node' || OF_NODES.has(path)) && isToSay(path)),
    accountFlags: isOfKeyFile || isToSay('miner.account') ? ['--account', account] : [],
    // Only a guard that was given as flags is repeated. If a project's file has named the guard, flags would make it
    // count as named by the user.
    guardFlags: flagsOf(({ path }) => OF_GUARD.has(path) && origins.get(path)?.layer === 'flag'),
  };
}

/** Settings outside the table `node` that decide how nodes are asked. */
const OF_NODES: ReadonlySet<string> = new Set(['ledger.dialect', 'ledger.command-path']);
const OF_GUARD: ReadonlySet<string> = new Set(['miner.public-keys', 'miner.predicate']);

/**
 * @param given flags of this run. Key files and guard keys are repeated only if a command must still be signed
 * @returns the command line that continues
 */
export function resumeLine(
  sweep: Sweep,
  given: Pick<SessionOptions, 'keyFile' | 'guardKey' | 'gasPrice' | 'resume'>,
  session: Session,
): string {
  const { kind, accountFlags, nodeFlags, guardFlags } = session;
  const { keyFile = [], guardKey = [], gasPrice, resume } = given;
  const command = kind === 'sweep' ? ['sweep'] : ['tx', 'transfer'];
  // The state file has the gas price with which the transfer began, so a price given with --resume is repeated.
  const price = resume && gasPrice !== undefined ? ['--gas-price', formatDecimal(gasPrice)] : [];
  const words = [...command, '--resume', ...accountFlags, ...nodeFlags, ...price];
  if (!needsKeys(sweep)) return lineOf(...words);
  const keys = keyFile.flatMap((file) => ['--key-file', file]);
  // A sweep needs the account’s guard, which not every account’s name contains. So flags for the guard are repeated.
  const guard = kind === 'sweep' ? [...guardFlags, ...guardKey.flatMap((key) => ['--guard-key', key])] : [];
  return lineOf(...words, ...keys, ...guard);
}

/** @returns the command line that asks for a command's result */
export function pollLine(key: string, chain: number, { nodeFlags }: Session): string {
  return lineOf('tx', 'poll', key, '--chain', `${chain}`, ...nodeFlags);
}

/** @returns a command line of pickaxe for a POSIX shell, whose words are quoted where needed */
function lineOf(...words: readonly string[]): string {
  const quoted = words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  return ['pickaxe', ...quoted].join(' ');
}

export interface SweepIo extends Pick<Io, 'out' | 'say' | 'confirm' | 'stop'> {
  /** Folder of the state files; undefined for a user without a home directory. */
  readonly stateDirectory: string | undefined;
  readonly clock: Clock;
  /** Pause between two rounds of SweepRunner. In each round, every unfinished transfer advances by one action. */
  readonly pauseMs: number;
  /** Number of blocks that must be above a block before SweepRunner relies on it. Absent: SweepRunner's default. */
  readonly confirmations?: number;
  /** How requests reach the nodes. Default: over the network. */
  readonly requests?: Pick<NodeApiContext, 'random' | 'transport'>;
  /** Default: what the files in `stateDirectory` and the log of found blocks say. */
  readonly knownWork?: KnownWork;
  /** Where the state files are. Default: on the disk. */
  readonly files?: StateFileSystem;
  /** Returns a text that no other call returns. Default: `randomUUID`. */
  readonly unique?: () => string;
}

/** Pause between two rounds of the transfers. It is shorter than the 30 s between two blocks of a chain. */
const PAUSE_MS = 10_000;

/** Runs a command that moves coins. @returns its exit code @throws UsageError for wrong settings or a wrong file */
export async function movingCoins(
  command: Command,
  io: Io,
  act: (loaded: Loaded, io: SweepIo) => Promise<number>,
): Promise<number> {
  const loaded = await settingsOf(command, undefined, { movesCoins: true });
  sayNodes(loaded, io, true);
  const { out, say, confirm, stop } = io;
  const stateDirectory = userStateDirectory();
  const given = { out, say, confirm, stop, stateDirectory, clock: systemClock, pauseMs: PAUSE_MS };
  return withWords(() => act(loaded, given));
}

export const TRUST_NODES =
  'take the word of your nodes where their blocks do not prove what has become of the coins: only for nodes of your own';

export const KEY_FILE = 'key file of the account, as pickaxe keygen writes it; repeat for several';

/** Parses an amount such as `0.01`. */
export function amountOf(text: string): Decimal {
  const isAmount = /^\d{1,20}(\.\d{1,12})?$/.test(text);
  if (!isAmount) throw new InvalidArgumentError('Write an amount such as 0.01, with at most 12 decimal places.');
  return parseDecimal(text);
}

export function collectKey(text: string, before: string[] | undefined): string[] {
  if (!isPublicKey(text)) throw new InvalidArgumentError('A public key has 64 lower-case hex digits.');
  return collect(text, before);
}
