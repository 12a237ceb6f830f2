/** `pickaxe tx build`: makes a command, or a form for its signers, of a request file. */

import { EXIT, UsageError } from '../../../app/exit-codes.ts';
import { formatCommand } from '../../../ledger/request-file/output.ts';
import { parseRequest, type Request } from '../../../ledger/request-file/parse.ts';
import { signedCommand, unsignedForm } from '../../../ledger/request-file/to-command.ts';
import { formatUnsignedForm } from '../../../ledger/request-file/unsigned-form.ts';
import { explain } from '../../tx/explain.ts';
import { readTextFile } from '../../tx/files.ts';
import type { Io } from '../../tx/io.ts';
import { filesOf } from '../../tx/request-files.ts';
import type { Transaction } from '../../tx/transactions.ts';

export interface BuildOptions {
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
