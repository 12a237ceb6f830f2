/** Reads the files that `pickaxe tx` is given: commands, forms, requests. */

import { EXIT, UsageError } from '../../app/exit.ts';
import type { Subject } from '../../app/nodes-in-turn.ts';
import { distrust, type RegularFile, readRegularFile, UnfitFile, whyUnreadable } from '../../config/regular-file.ts';
import { withoutKeys } from '../../config/secrets.ts';
import { type Command, parseCommand, verifyCommand } from '../../ledger/command/command.ts';
import { parsePayload, publicMetaOf } from '../../ledger/command/payload.ts';
import {
  type ExactJson,
  type ExactJsonObject,
  isExactJsonObject,
  LedgerFormatError,
  parseExactJson,
} from '../../ledger/json.ts';
import {
  checkForm,
  completed,
  readUnsignedForm,
  signersOf,
  type UnsignedForm,
} from '../../ledger/request-file/unsigned-form.ts';
import { RequestFileError } from '../../ledger/request-file/yaml.ts';
import { decodeText, oneLine } from '../../text/plain-text.ts';
import { type Io, isEndOfQuestion } from '../io.ts';

/** Nodes take no commands that come near it. */
const MAX_BYTES = 2 ** 22;
const STDIN = '-';

/** A text and what it is called in errors. */
export interface NamedText {
  readonly file: string;
  readonly text: string;
}

export interface TextFile extends NamedText {
  /** Why the file must not hold a secret, and what to do about it; undefined when it may. */
  readonly unfitForSecrets: string | undefined;
}

/**
 * @param file its name; `-` is standard input
 * @throws UsageError unless it can be read.
 */
export async function readInput(file: string, io: Pick<Io, 'read'>): Promise<NamedText> {
  if (file !== STDIN) return readTextFile(file);
  return { file: 'standard input', text: textOf(await io.read(MAX_BYTES), 'standard input') };
}

/** @throws UsageError unless it can be read. */
export function readTextFile(file: string): TextFile {
  const { bytes, facts } = read(file);
  return { file, text: textOf(bytes, file), unfitForSecrets: distrust(file, 'secret', facts) };
}

function read(file: string): RegularFile {
  try {
    return readRegularFile(file, MAX_BYTES);
  } catch (fault) {
    const why = fault instanceof UnfitFile ? fault.message : whyUnreadable(fault as NodeJS.ErrnoException, file);
    throw new UsageError(`${withoutKeys(file)} cannot be read: ${why}.`);
  }
}

function textOf(bytes: Uint8Array, file: string): string {
  try {
    return decodeText(bytes);
  } catch {
    throw new UsageError(`${file} is not UTF-8 text.`);
  }
}

/* Finds the commands in a text: JSON for /send, JSON for /local, or a form on its way to its signers. */

/** A command, whole or on its way to its signers, as it was read: nothing is checked but its shape. */
export type Transaction =
  | { readonly kind: 'command'; readonly file: string; readonly command: Command }
  | { readonly kind: 'form'; readonly file: string; readonly form: UnsignedForm };

/** @throws RequestFileError or LedgerFormatError for any other text. */
export function parseTransactions({ text, file }: NamedText): Transaction[] {
  const json = jsonObjectIn(text);
  if (json && Array.isArray(json.cmds)) {
    const { cmds } = json;
    if (cmds.length === 0) throw new RequestFileError(`${file}: cmds has no command.`);
    return cmds.map((each, i) => commandIn(each, cmds.length === 1 ? file : `${file}, command ${i + 1}`));
  }
  if (json && Array.isArray(json.sigs)) return [commandIn(json, file)];
  return [{ kind: 'form', file, form: readUnsignedForm(text, file) }];
}

function jsonObjectIn(text: string): ExactJsonObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const json = parseExactJson(text);
    return isExactJsonObject(json) ? json : undefined;
  } catch (error) {
    // YAML can begin with a brace, too; its own reader says what is wrong.
    if (error instanceof LedgerFormatError) return undefined;
    throw error;
  }
}

function commandIn(json: ExactJson, file: string): Transaction {
  try {
    return { kind: 'command', file, command: parseCommand(json) };
  } catch (error) {
    if (error instanceof LedgerFormatError) throw new RequestFileError(`${file}: ${error.message}.`);
    throw error;
  }
}

/* The request keys that a command line names, directly or by files of commands. */

export interface Asked extends Subject {
  readonly requestKeys: readonly string[];
  readonly chain: number;
  /** When the commands are no longer taken: milliseconds since 1970; undefined where that is not known. */
  readonly endsMs: number | undefined;
}

const REQUEST_KEY = /^[\w-]{43}$/;

/**
 * @param what a request key, or the file of commands
 * @param chain null: as the commands say
 * @throws UsageError or RequestFileError for a file that cannot be used, and for a key without a chain.
 */
export async function readAsked(what: string, chain: number | null, io: Pick<Io, 'read'>): Promise<Asked> {
  if (!REQUEST_KEY.test(what)) {
    const batch = readBatch(await readInput(what, io), { chain, signed: false });
    return { ...batch, requestKeys: batch.commands.map(({ hash }) => hash) };
  }
  if (chain === null) throw new UsageError('A request key does not name its chain: add --chain N.');
  return { name: what, network: null, requestKeys: [what], chain, endsMs: undefined };
}

/* Reads commands that go to a node, and finds out to which chain of which network. */

/** Commands for one chain. */
export interface Batch {
  /** The name of their file. */
  readonly name: string;
  readonly commands: readonly Command[];
  readonly transactions: readonly Transaction[];
  readonly chain: number;
  readonly network: string | null;
  /** When the first of them is no longer taken: milliseconds since 1970; undefined where that is not known. */
  readonly endsMs: number | undefined;
}

interface BatchOptions {
  /** The chain for commands that name none, or null. */
  readonly chain: number | null;
  /** Whether the commands must have valid signatures. */
  readonly signed: boolean;
}

/** What the reference client writes in place of a signature that is not there. */
const NO_SIGNATURE = { sig: 'noSig' };

/**
 * @throws UsageError for commands of several chains or networks, and for another chain than theirs. RequestFileError
 * for a file without commands, for commands that are not valid, and for forms that lack signatures which are needed
 */
export function readBatch(named: NamedText, { chain, signed }: BatchOptions): Batch {
  const transactions = parseTransactions(named);
  const commands = transactions.map((each) => (signed ? signedCommand(each) : anyCommand(each)));
  const places = commands.map(placeOf);
  const [first] = places;
  if (places.some((place) => place.chain !== first.chain || place.network !== first.network)) {
    throw new UsageError(`${named.file} has commands for several chains or networks: give each its own file.`);
  }
  if (chain !== null && first.chain !== null && chain !== first.chain) {
    throw new UsageError(`${named.file} is for chain ${first.chain}, not for chain ${chain}: leave --chain out.`);
  }
  const found = first.chain ?? chain;
  if (found === null) throw new UsageError(`${named.file} names no chain: add --chain N.`);
  const ends = places.flatMap(({ endsMs }) => (endsMs === undefined ? [] : [endsMs]));
  return {
    name: named.file,
    commands,
    transactions,
    chain: found,
    network: first.network,
    endsMs: ends.length === 0 ? undefined : Math.min(...ends),
  };
}

function signedCommand(transaction: Transaction): Command {
  const { file } = transaction;
  const command = transaction.kind === 'command' ? transaction.command : completed(transaction.form, file);
  if (!command) throw new RequestFileError(lacks(transaction));
  const verdict = verifyCommand(command);
  if (verdict.kind === 'wrong') throw new RequestFileError(`${file}: ${verdict.message}`);
  return command;
}

function lacks(transaction: Transaction): string {
  const { file } = transaction;
  return transaction.kind === 'form' && transaction.form.cmd === null
    ? `${file} is condensed: put it together with the whole form first, with pickaxe tx combine.`
    : `${file} lacks signatures: pickaxe tx show says which, and pickaxe tx add-sig adds them.`;
}

/** Missing signatures are written as texts that cannot be signatures: nodes want a text for every signer. */
function anyCommand(transaction: Transaction): Command {
  if (transaction.kind === 'form') return unsignedCommand(transaction.form, transaction.file);
  const { command } = transaction;
  return { ...command, sigs: command.sigs.map((sig) => sig ?? NO_SIGNATURE) };
}

function unsignedCommand(form: UnsignedForm, file: string): Command {
  checkForm(form, file);
  const { hash, cmd, sigs } = form;
  if (cmd === null) throw new RequestFileError(`${file} is condensed: the whole form is needed.`);
  const signatures = signersOf(cmd, file).map((key) => sigs.get(key));
  return { hash, cmd, sigs: signatures.map((sig) => (sig ? { sig } : NO_SIGNATURE)) };
}

function placeOf({ cmd }: Command): { chain: number | null; network: string | null; endsMs: number | undefined } {
  const { meta, networkId } = parsePayload(cmd);
  const { chainId } = meta;
  const chain = typeof chainId === 'string' && /^\d{1,9}$/.test(chainId) ? Number(chainId) : null;
  return { chain, network: networkId, endsMs: endOf(meta) };
}

function endOf(meta: ExactJsonObject): number | undefined {
  try {
    const { creationTime, ttl } = publicMetaOf(meta);
    return (creationTime + ttl) * 1000;
  } catch (error) {
    if (error instanceof LedgerFormatError) return undefined;
    throw error;
  }
}

/**
 * Turns what commands throw about files and arguments into words that are safe to print.
 * @returns the command's exit code: interrupted after Ctrl-C at a question
 * @throws UsageError for files and arguments that cannot be used, and all other errors as they are.
 */
export async function withWords(command: () => Promise<number> | number): Promise<number> {
  try {
    return await command();
  } catch (fault) {
    if (fault instanceof RequestFileError) throw new UsageError(oneLine(fault.message));
    if (fault instanceof LedgerFormatError) throw new UsageError(oneLine(`${fault.message}.`));
    if (isEndOfQuestion(fault)) return EXIT.interrupted;
    throw fault;
  }
}
