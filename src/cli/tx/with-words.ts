/** Turns what commands of `pickaxe tx` throw about files and arguments into words that are safe to print. */

import { EXIT, UsageError } from '../../app/exit-codes.ts';
import { LedgerFormatError } from '../../ledger/errors.ts';
import { RequestFileError } from '../../ledger/request-file/errors.ts';
import { oneLine } from '../../text/one-line.ts';
import { isEndOfQuestion } from '../confirm.ts';

/**
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
