/** `pickaxe tx build`: makes a command, or a form for its signers, from a request file. */

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
  readonly unsigned: boolean;
  readonly local: boolean;
  /** Files outside of the request's folder that the request may read. */
  readonly allowFile?: readonly string[];
}

/** @throws UsageError or RequestFileError for an unusable file */
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
 * A request may come from a stranger, and the files that it names become public with the command. So it may only read
 * files beside it, and no keys.
 */

/** Secrets in key files of the contract tool and of wallets, and in PEM files. */
const SECRET =
  /(?:secret|private|secret[-_ ]?key|private[-_ ]?key)["']?\s*[:=]\s*["']?[\da-f]{64}|-----BEGIN [A-Z ]*PRIVATE KEY-----/i;

/**
 * @param allowed files outside of the request's folder that the user allows
 * @returns a function that reads a file for a field of the request. It throws UsageError when the request may not read
 *   the file
 */
function filesOf(request: TextFile, allowed: readonly string[], io: Pick<Io, 'say'>) {
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

/** @throws UsageError for a file outside of the request's folder, and for a hidden one */
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

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (fault) {
    throw new UsageError(whyUnreadable(fault as NodeJS.ErrnoException, path));
  }
}
