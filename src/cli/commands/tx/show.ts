/** `pickaxe tx show`: explains commands and forms, for people or as JSON. */

import { EXIT } from '../../../app/exit-codes.ts';
import { explain } from '../../tx/explain.ts';
import { explainedLines } from '../../tx/explained-lines.ts';
import { readInput } from '../../tx/files.ts';
import type { Io } from '../../tx/io.ts';
import { parseTransactions } from '../../tx/transactions.ts';

/**
 * @returns the exit code: failed when something is wrong; missing signatures are not
 * @throws UsageError, RequestFileError or LedgerFormatError for a file without commands.
 */
export async function runTxShow(file: string, { json }: { readonly json: boolean }, io: Io): Promise<number> {
  const now = io.now();
  const transactions = parseTransactions(await readInput(file, io)).map((each) => explain(each, now));
  if (json) io.out(`${JSON.stringify({ transactions })}\n`);
  else io.out(`${transactions.map((each) => explainedLines(each, now).join('\n')).join('\n\n')}\n`);
  return transactions.some(({ verdict }) => verdict === 'wrong') ? EXIT.failed : EXIT.done;
}
