/** `pickaxe tx build`: makes a signed command, or an unsigned form for the signers, from a request file. */

import { dirname, resolve } from 'node:path';
import { EXIT, UsageError } from '../../../app/process/exit.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import {
  parseRequest,
  type Request,
  signedCommand,
  unsignedForm,
} from '../../../protocol/ledger/request-file/request-file.ts';
import { formatCommand, formatUnsignedForm } from '../../../protocol/ledger/request-file/unsigned-form.ts';
import { AllowedFiles, IncludedFiles } from '../../included-files.ts';
import type { Io } from '../../io.ts';
import { readTextFile, type TextFile, type Transaction } from './command-files.ts';
import { explain } from './explain.ts';

interface BuildOptions {
  readonly unsigned: boolean;
  readonly local: boolean;
  /** Files and folders that the request may include although they are outside of the request's folder. */
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

/**
 * @param allowed the paths of `--allow-file`
 * @returns a function that reads a file for a field of the request. The file's content becomes public with the command,
 *   so the function throws an Error for a file that the request may not include
 */
function filesOf(request: TextFile, allowed: readonly string[], io: Pick<Io, 'say'>) {
  const included = new IncludedFiles({
    allowed: new AllowedFiles(allowed),
    consent: 'a command may contain it',
  });
  included.addFolder(dirname(request.file), "the request's folder", request.unfitForSecrets === undefined);
  return (path: string, field: string): string => {
    const text = included.read(resolve(dirname(request.file), path));
    io.say(`read ${field} ${oneLine(path)} (${Buffer.byteLength(text)} bytes)`);
    return text;
  };
}
