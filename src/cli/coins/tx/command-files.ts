/** Reads files that `pickaxe tx` is given, such as commands, unsigned forms of commands, and request files. */

import { withoutKeys } from '../../../app/config/secrets.ts';
import type { Subject } from '../../../app/nodes/nodes-in-turn.ts';
import { EXIT, UsageError } from '../../../app/process/exit.ts';
import {
  distrust,
  type RegularFile,
  readRegularFile,
  UnfitFile,
  whyUnreadable,
} from '../../../base/system/regular-file.ts';
import { decodeText, oneLine } from '../../../base/text/plain-text.ts';
import { type Command, parseCommand, verifyCommand } from '../../../protocol/ledger/command/command.ts';
import { parsePayload, publicMetaOf } from '../../../protocol/ledger/command/command-payload.ts';
import {
  type ExactJson,
  type ExactJsonObject,
  HASH_TEXT,
  isExactJsonObject,
  LedgerFormatError,
  parseExactJson,
} from '../../../protocol/ledger/json.ts';
import {
  checkForm,
  completed,
  readUnsignedForm,
  signersOf,
  type UnsignedForm,
} from '../../../protocol/ledger/request-file/unsigned-form.ts';
import { RequestFileError } from '../../../protocol/ledger/request-file/yaml.ts';
import { type Io, isEndOfQuestion } from '../../io.ts';

/** Maximum size of a file in bytes, far above the size of any command that nodes accept. */
const MAX_BYTES = 2 ** 22;
const STDIN = '-';

/** A text and its name in errors. */
export interface NamedText {
  readonly file: string;
  readonly text: string;
}

export interface TextFile extends NamedText {
  /** Why a secret must not be in this file, and the remedy; undefined if a secret may be in the file. */
  readonly unfitForSecrets: string | undefined;
}

/** @param file path of a file; `-` is standard input @throws UsageError when the input cannot be read */
export async function readInput(file: string, io: Pick<Io, 'read'>): Promise<NamedText> {
  if (file !== STDIN) return readTextFile(file);
  return { file: 'standard input', text: textOf(await io.read(MAX_BYTES), 'standard input') };
}

/** @throws UsageError when the file cannot be read */
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

/** A command, or an unsigned form for its signers. Only its shape was checked, not its hash and signatures. */
export type Transaction =
  | { readonly kind: 'command'; readonly file: string; readonly command: Command }
  | { readonly kind: 'form'; readonly file: string; readonly form: UnsignedForm };

/**
 * @param text JSON for /send or /local, or an unsigned form, also of another program
 * @throws RequestFileError or LedgerFormatError for any other text
 */
export function parseTransactions({ text, file }: NamedText): Transaction[] {
  const json = jsonObjectIn(text);
  if (json && Array.isArray(json.cmds)) {
    const { cmds } = json;
    if (cmds.length === 0) throw new RequestFileError(`${file}: cmds has no command.`);
    return cmds.map((each, i) => commandIn(each, cmds.length === 1 ? file : `${file}, command ${i + 1}`));
  }
  if (json && Array.isArray(json.sigs) && !isWalletForm(json)) return [commandIn(json, file)];
  return [{ kind: 'form', file, form: readUnsignedForm(text, file) }];
}

/** Whether the object lacks what nodes want, a hash, or names keys beside signatures, as wallets do. */
function isWalletForm({ hash, sigs }: ExactJsonObject): boolean {
  const isNamed = (each: ExactJson) => isExactJsonObject(each) && each.pubKey !== undefined;
  return hash === undefined || (sigs as readonly ExactJson[]).some(isNamed);
}

function jsonObjectIn(text: string): ExactJsonObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const json = parseExactJson(text);
    return isExactJsonObject(json) ? json : undefined;
  } catch (error) {
    // YAML can begin with a brace, too. If the text is not YAML either, the YAML parser reports the error.
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

interface Asked extends Subject {
  readonly requestKeys: readonly string[];
  readonly chain: number;
  /** When the first of the commands expires, in milliseconds since 1970; undefined if that is not known. */
  readonly endsMs: number | undefined;
}

/**
 * @param what a request key, or a file of commands
 * @throws UsageError for a request key if `chain` is null; UsageError, RequestFileError or LedgerFormatError for an
 *   unusable file
 */
export async function readAsked(what: string, chain: number | null, io: Pick<Io, 'read'>): Promise<Asked> {
  if (!HASH_TEXT.test(what)) {
    const batch = readBatch(await readInput(what, io), { chain, signed: false });
    return { ...batch, requestKeys: batch.commands.map(({ hash }) => hash) };
  }
  if (chain === null) throw new UsageError('A request key does not name its chain: add --chain N.');
  return { name: what, network: null, requestKeys: [what], chain, endsMs: undefined };
}

/** The commands of a file, all for the same chain of the same network. */
export interface Batch {
  readonly name: string;
  readonly commands: readonly Command[];
  readonly transactions: readonly Transaction[];
  readonly chain: number;
  readonly network: string | null;
  /** When the first of the commands expires, in milliseconds since 1970; undefined if that is not known. */
  readonly endsMs: number | undefined;
}

interface BatchOptions {
  /** Chain of the commands that do not name their chain; null if the user has not given one. */
  readonly chain: number | null;
  /** Whether the commands must have valid signatures. */
  readonly signed: boolean;
}

/** The reference client writes this in place of a missing signature. */
const NO_SIGNATURE = { sig: 'noSig' };

/**
 * @throws UsageError for commands of several chains or networks, of another chain than `chain`, or of an unknown chain
 * @throws RequestFileError for a file without commands, invalid commands, and forms that lack required signatures
 * @throws LedgerFormatError for a command whose `cmd` is not a payload, if `signed` is false
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

/** @returns the command, with NO_SIGNATURE for each missing signature: nodes expect a signature for each signer */
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
 * Runs a command. Errors about files and arguments become UsageErrors that are safe to print.
 * @returns the command's exit code, or `interrupted` if Ctrl-C has ended a question
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
