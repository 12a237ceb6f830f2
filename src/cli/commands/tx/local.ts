/** `pickaxe tx local`: lets a node run a command without effect. */

import { UsageError } from '../../../app/exit-codes.ts';
import type { NodesInTurn } from '../../../app/nodes-in-turn.ts';
import { readBatch } from '../../tx/batch.ts';
import { readInput } from '../../tx/files.ts';
import type { Io } from '../../tx/io.ts';
import { printResults } from '../../tx/print-results.ts';
import { showOutcome, showResult } from '../../tx/results.ts';

export interface LocalOptions {
  readonly chain: number | null;
  /** Whether the node checks the metadata, and counts all gas. */
  readonly preflight: boolean;
  /** How many blocks below the newest the command runs. */
  readonly rewindDepth?: number;
  /** Whether the node checks signatures; without it, forms can be tried before they are signed. */
  readonly signatureVerification: boolean;
  readonly json: boolean;
}

/** @throws UsageError or RequestFileError for an unusable file, ApiError when the node does not answer. */
export async function runTxLocal(file: string, options: LocalOptions, nodes: NodesInTurn, io: Io): Promise<number> {
  const { preflight, rewindDepth, signatureVerification, json } = options;
  const batch = readBatch(await readInput(file, io), { chain: options.chain, signed: signatureVerification });
  const [command] = batch.commands;
  if (batch.commands.length > 1) throw new UsageError(`${batch.name} has several commands: /local runs one at a time.`);
  const asked = {
    preflight,
    ...(rewindDepth !== undefined && { rewindDepth }),
    ...(!signatureVerification && { signatureVerification }),
  };
  const answer = await nodes.ask((api) => api.local(batch.chain, command, asked, io.stop), batch);
  const result = answer.result ? showResult(answer.result) : showOutcome(null, answer.outcome);
  return printResults({ chain: batch.chain, results: [result], warnings: answer.warnings }, json, io);
}
