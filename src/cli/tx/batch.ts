/** Reads commands that go to a node, and finds out to which chain of which network. */

import { UsageError } from '../../app/exit-codes.ts';
import { type Command, verifyCommand } from '../../ledger/command/command.ts';
import { parsePayload, publicMetaOf } from '../../ledger/command/payload.ts';
import { LedgerFormatError } from '../../ledger/errors.ts';
import type { ExactJsonObject } from '../../ledger/exact-json.ts';
import { RequestFileError } from '../../ledger/request-file/errors.ts';
import { completed } from '../../ledger/request-file/output.ts';
import { checkForm, signersOf, type UnsignedForm } from '../../ledger/request-file/unsigned-form.ts';
import type { NamedText } from './files.ts';
import { parseTransactions, type Transaction } from './transactions.ts';

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

export interface BatchOptions {
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

/** Signatures that are not there are written as texts that are none: nodes want a text for every signer. */
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
