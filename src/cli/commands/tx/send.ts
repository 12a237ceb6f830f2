/** `pickaxe tx send`: sends commands as they are. What an earlier try has sent already is success. */

import { EXIT } from '../../../app/exit-codes.ts';
import type { NodesInTurn } from '../../../app/nodes-in-turn.ts';
import type { Command } from '../../../ledger/command/command.ts';
import { SendRefusedError } from '../../../node/api/commands.ts';
import { oneLine } from '../../../text/one-line.ts';
import { type Batch, readBatch } from '../../tx/batch.ts';
import { explain } from '../../tx/explain.ts';
import { explainedLines } from '../../tx/explained-lines.ts';
import { readInput } from '../../tx/files.ts';
import type { Io } from '../../tx/io.ts';
import { printResults } from '../../tx/print-results.ts';
import { sending } from '../../tx/sending.ts';
import { waitForResults } from '../../tx/waiting.ts';

export interface SendOptions {
  readonly chain: number | null;
  /** Whether not to ask. */
  readonly yes: boolean;
  readonly json: boolean;
}

/** @throws UsageError or RequestFileError for an unusable file, ApiError when the node does not take it. */
export async function runTxSend(
  file: string,
  { chain, yes, json }: SendOptions,
  nodes: NodesInTurn,
  io: Io,
): Promise<number> {
  const batch = readBatch(await readInput(file, io), { chain, signed: true });
  sayWhatIsSent(batch, io);
  if (!yes && (await io.confirm('Send this?')) === false) {
    io.say('Nothing was sent.');
    return EXIT.failed;
  }
  await sending(() => sendAll(nodes, batch, io), io, 'Send the same file again: that does no harm.');
  // What is on the chain already has a result.
  const requestKeys = batch.commands.map(({ hash }) => hash);
  const results = await waitForResults({ ...batch, nodes, requestKeys, depth: 0, timeoutMs: 0, pauseMs: 0, io });
  if (results.some(({ status }) => status === 'pending'))
    io.say(`Sent. See what becomes of it: pickaxe tx poll ${oneLine(file)}`);
  const code = printResults({ chain: batch.chain, results }, json, io);
  // That there is no result yet is what is expected.
  return code === EXIT.noWork ? EXIT.done : code;
}

function sayWhatIsSent({ transactions, commands }: Batch, io: Io): void {
  const now = io.now();
  for (const [i, transaction] of transactions.entries()) {
    for (const line of explainedLines(explain(transaction, now), now)) io.say(line);
    io.say(`cmd        ${oneLine(commands[i].cmd)}`);
  }
}

/** A node takes all commands of a batch or none, so those that are on the chain already are not sent with the others. */
async function sendAll(nodes: NodesInTurn, batch: Batch, io: Io): Promise<void> {
  let left: readonly Command[] = batch.commands;
  while (left.length > 0) {
    try {
      await nodes.ask((api) => api.send(batch.chain, left, io.stop), batch);
      return;
    } catch (error) {
      const known = error instanceof SendRefusedError && error.refusal.isKnown ? error.refusal.reqKey : undefined;
      if (known === undefined || !left.some(({ hash }) => hash === known)) throw error;
      left = left.filter(({ hash }) => hash !== known);
    }
  }
}
