/** `pickaxe tx send` and `pickaxe tx private`. For `send`, commands that are already on the chain count as sent. */

import type { NodesInTurn } from '../../../app/nodes/nodes-in-turn.ts';
import { EXIT, UsageError } from '../../../app/process/exit.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import { SendRefusedError } from '../../../node/client/commands.ts';
import { NodeError } from '../../../node/http/node-error.ts';
import type { Command } from '../../../protocol/ledger/command/command.ts';
import type { Io } from '../../io.ts';
import { type Batch, readBatch, readInput } from './command-files.ts';
import { explain } from './explain.ts';
import type { Prove } from './outcomes.ts';
import { waitForResults } from './poll.ts';
import { printResults } from './results.ts';
import { explainedLines } from './show.ts';

interface SendOptions {
  readonly chain: number | null;
  readonly yes: boolean;
  readonly json: boolean;
  readonly prove: Prove;
}

/** @throws UsageError or RequestFileError for an unusable file, NodeError when the node does not accept its commands */
export async function runTxSend(
  file: string,
  { chain, yes, json, prove }: SendOptions,
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
  // The node is asked for results once: commands that were already on the chain have results.
  const requestKeys = batch.commands.map(({ hash }) => hash);
  const reported = await waitForResults({ ...batch, nodes, requestKeys, depth: 0, timeoutMs: 0, pauseMs: 0, io });
  const results = await prove({ ...batch, results: reported }, nodes, io.stop);
  if (results.some(({ status }) => status === 'pending'))
    io.say(`Sent. See what becomes of it: pickaxe tx poll ${oneLine(file)}`);
  const code = printResults({ chain: batch.chain, results }, json, io);
  // A command that was just sent has no result yet, and that is not a failure.
  return code === EXIT.noWork ? EXIT.done : code;
}

function sayWhatIsSent({ transactions, commands }: Batch, io: Io): void {
  const now = io.now();
  for (const [i, transaction] of transactions.entries()) {
    for (const line of explainedLines(explain(transaction, now), now)) io.say(line);
    io.say(`cmd        ${oneLine(commands[i].cmd)}`);
  }
}

/**
 * Sends a batch. A node accepts all commands of a batch or none. So if it refuses one because the command is already on
 * the chain, the batch is sent again without this command.
 */
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

/**
 * Sends a command that only the entities in its metadata can read.
 * @throws UsageError or RequestFileError for an unusable file, NodeError when the node does not accept its command
 */
export async function runTxPrivate(
  file: string,
  { chain, json }: { readonly chain: number | null; readonly json: boolean },
  nodes: NodesInTurn,
  io: Io,
): Promise<number> {
  const batch = readBatch(await readInput(file, io), { chain, signed: true });
  const [command] = batch.commands;
  if (batch.commands.length > 1) throw new UsageError(`${batch.name} has several commands: /private takes one.`);
  const send = () => nodes.ask((api) => api.sendPrivate(batch.chain, command, io.stop), batch);
  const requestKey = await sending(send, io, `Look for it before you send it again: it is ${command.hash}.`);
  io.out(json ? `${JSON.stringify({ requestKey, chain: batch.chain })}\n` : `${requestKey}\n`);
  return EXIT.done;
}

/** @param hint what the user can do when the node may have accepted the command, although its answer was lost */
async function sending<T>(send: () => Promise<T>, io: Pick<Io, 'say' | 'stop'>, hint: string): Promise<T> {
  try {
    return await send();
  } catch (error) {
    // If the user has ended pickaxe during the request, it is not known whether the node has accepted the command.
    const mayBeTaken = io.stop.aborted || (error instanceof NodeError && error.mayHaveBeenTaken);
    if (mayBeTaken) io.say(`The node may have taken it all the same. ${hint}`);
    throw error;
  }
}
