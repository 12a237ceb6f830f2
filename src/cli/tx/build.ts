/** `pickaxe tx build`: makes a command, or a form for its signers, of a request file. */

import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { EXIT, UsageError } from '../../app/exit.ts';
import { whyUnreadable } from '../../config/regular-file.ts';
import { withoutKeys } from '../../config/secrets.ts';
import { parseRequest, type Request, signedCommand, unsignedForm } from '../../ledger/request-file/request-file.ts';
import { formatCommand, formatUnsignedForm, parseKeyFile } from '../../ledger/request-file/unsigned-form.ts';
import { oneLine } from '../../text/plain-text.ts';
import type { Io } from '../io.ts';
import { explain } from './explain.ts';
import { readTextFile, type TextFile, type Transaction } from './files.ts';

interface BuildOptions {
  /** A form that its signers sign later. */
  readonly unsigned: boolean;
  /** The bare command, for /local. */
  readonly local: boolean;
  /** Files outside of the request's folder that it may read. */
  readonly allowFile?: readonly string[];
}

/** @throws UsageError or RequestFileError for a file that cannot be used. */
export function runTxBuild(file: string, { unsigned, local, allowFile = [] }: BuildOptions, io: Io): number {
  const read = readTextFile(file);
  const load = filesOf(read, allowFile, io);
  const request = parseRequest(read.text, { file, kind: unsigned ? 'unsigned' : 'signed', load });
  if (request.keyPairs.length > 0 && read.unfitForSecrets !== undefined) {
    throw new UsageError(`${file} has secret keys and cannot be used: ${read.unfitForSecrets}.`);
  }
  const { transaction, result } = built(request, file, local, io.now());
  for (const warning of explain(transaction, io.now()).warnings) io.say(`warning: ${warning}`);
  io.out(result);
  return EXIT.done;
}

function built(
  request: Request,
  file: string,
  local: boolean,
  now: number,
): { transaction: Transaction; result: string } {
  if (request.kind === 'unsigned') {
    const form = unsignedForm(request, now);
    return { transaction: { kind: 'form', file, form }, result: formatUnsignedForm(form) };
  }
  const command = signedCommand(request, now);
  const result = formatCommand(command, local ? 'local' : 'send');
  return { transaction: { kind: 'command', file, command }, result };
}

/*
 * Reads the files that a request file names. A request may come from a stranger, and what it reads goes into a command,
 * which everybody can read once it was sent. So it gets no more than what lies beside it, and no keys.
 */

/** How secrets are written in files of keys: of the contract tool, of wallets, and in PEM. */
const SECRET =
  /(?:secret|private|secret[-_ ]?key|private[-_ ]?key)["']?\s*[:=]\s*["']?[\da-f]{64}|-----BEGIN [A-Z ]*PRIVATE KEY-----/i;

/**
 * @param request the request file
 * @param allowed files outside of its folder that the user allows it to read
 * @returns a function that reads a file for a field of the request, and tells the user so. It throws UsageError for a
 * file that the request may not read
 */
export function filesOf(request: TextFile, allowed: readonly string[], io: Pick<Io, 'say'>) {
  const folder = dirname(request.file);
  const granted = new Set(allowed.map(allowedPath));
  return (path: string, field: string): string => {
    const real = realPath(resolve(folder, path));
    if (!granted.has(real)) refuseStrange(real, realPath(folder));
    const read = readTextFile(real);
    if (isOnlyOurs(read) && !isOnlyOurs(request) && !granted.has(real)) {
      throw new UsageError(`only you may read it, so it may be a secret. ${remedyFor(real)}`);
    }
    if (hasSecretKey(read.text)) throw new UsageError('it has a secret key in it, which must not get into a command');
    io.say(`read ${field} ${oneLine(path)} (${Buffer.byteLength(read.text)} bytes)`);
    return read.text;
  };
}

/** @throws UsageError for a file that is not in the request's folder, and for what is hidden there */
function refuseStrange(real: string, folder: string): void {
  const inside = relative(folder, real);
  const parts = inside.split(sep);
  if (isAbsolute(inside) || parts[0] === '..') {
    throw new UsageError(`it is outside of the request's folder. ${remedyFor(real)}`);
  }
  if (parts.some((part) => part.startsWith('.'))) throw new UsageError(`it is a hidden file. ${remedyFor(real)}`);
}

function remedyFor(real: string): string {
  return `If a command may contain it, allow it: --allow-file ${real}`;
}

function isOnlyOurs({ unfitForSecrets }: TextFile): boolean {
  return unfitForSecrets === undefined;
}

function hasSecretKey(text: string): boolean {
  if (SECRET.test(text)) return true;
  try {
    parseKeyFile(text, 'the file');
    return true;
  } catch {
    return false;
  }
}

function allowedPath(path: string): string {
  try {
    return realPath(path);
  } catch (fault) {
    throw new UsageError(`--allow-file ${withoutKeys(path)}: ${(fault as Error).message}.`);
  }
}

/** @returns the path with all links followed. @throws UsageError where there is no such file */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (fault) {
    throw new UsageError(whyUnreadable(fault as NodeJS.ErrnoException, path));
  }
}
