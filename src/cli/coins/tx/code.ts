/** `pickaxe tx local --code`: lets a node run code of the contract language, without a file, a key or an effect. */

import type { NodesInTurn } from '../../../app/nodes/nodes-in-turn.ts';
import { UsageError } from '../../../app/process/exit.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import { readLocal } from '../../../node/client/ledger-reader.ts';
import { type ExactJson, LedgerFormatError, parseExactJson } from '../../../protocol/ledger/json.ts';
import type { Io } from '../../io.ts';
import { printResults, showLocal } from './results.ts';

/** The gas limit: the most that a block of the public networks takes. */
const GAS_LIMIT = 150_000;
/** Maximum length of code in an error, in characters. */
const MOST_SHOWN = 200;

interface CodeOptions {
  readonly code: string;
  /** What the code reads with functions such as `read-keyset`, as JSON; null if nothing is given. */
  readonly data: string | null;
  readonly chain: number | null;
  readonly rewindDepth?: number;
  readonly json: boolean;
}

/** @throws UsageError without a chain, or for data that are not JSON; NodeError when the node does not answer */
export async function runTxLocalCode(options: CodeOptions, nodes: NodesInTurn, io: Io): Promise<number> {
  const { code, chain, rewindDepth, json } = options;
  if (chain === null) throw new UsageError('Code does not name its chain: add --chain N.');
  const message = { exec: { code, data: dataOf(options.data) } };
  const terms = { gasLimit: GAS_LIMIT, ...(rewindDepth !== undefined && { rewindDepth }) };
  const answer = await nodes.ask((api) => readLocal(api, api.network, chain, message, io.stop, terms));
  return printResults({ chain, results: [showLocal(answer)], warnings: answer.warnings }, json, io);
}

function dataOf(text: string | null): ExactJson {
  if (text === null) return null;
  try {
    return parseExactJson(text);
  } catch (error) {
    if (!(error instanceof LedgerFormatError)) throw error;
    throw new UsageError(`--data is not valid JSON: ${oneLine(error.message)}.`);
  }
}

/** @throws UsageError unless there is either a file or code, and nothing beside the code that only a file can have */
export function checkSubject(file: string | undefined, given: { code?: string; data?: string; preflight: boolean }) {
  if (given.code === undefined) {
    if (file === undefined) throw new UsageError('Give the file of a command, or code with --code.');
    if (file.startsWith('(')) {
      throw new UsageError(`This is code, not a file: pickaxe tx local --code '${oneLine(file, MOST_SHOWN)}'`);
    }
    if (given.data !== undefined) throw new UsageError('--data goes with --code: the command of a file has its own.');
    return;
  }
  if (file !== undefined) throw new UsageError('Give either the file of a command or --code.');
  if (given.preflight) throw new UsageError('--preflight needs somebody who pays: it goes with the file of a command.');
}
