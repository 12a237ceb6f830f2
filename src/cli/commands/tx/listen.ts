/** `pickaxe tx listen`: lets the node hold the request until a command is in a block. */

import { UsageError } from '../../../app/exit-codes.ts';
import type { NodesInTurn } from '../../../app/nodes-in-turn.ts';
import type { CommandResult } from '../../../ledger/command/results.ts';
import { pause, within } from '../../../system/abort.ts';
import type { Io } from '../../tx/io.ts';
import { readAsked } from '../../tx/keys.ts';
import { printResults } from '../../tx/print-results.ts';
import { showResult, without } from '../../tx/results.ts';
import { stillWaiting } from '../../tx/waiting.ts';

export interface ListenOptions {
  readonly chain: number | null;
  readonly timeoutMs: number;
  /** Before the node is asked again. */
  readonly pauseMs: number;
  readonly json: boolean;
}

/** @throws UsageError or RequestFileError for an unusable file, ApiError when the node does not answer. */
export async function runTxListen(what: string, options: ListenOptions, nodes: NodesInTurn, io: Io): Promise<number> {
  const { timeoutMs, pauseMs, json } = options;
  const { requestKeys, chain, ...subject } = await readAsked(what, options.chain, io);
  const [key] = requestKeys;
  if (requestKeys.length > 1) throw new UsageError(`${subject.name} has several commands: use pickaxe tx poll.`);
  const result = await untilTimeout(timeoutMs, io.stop, async (stop) => {
    for (;;) {
      const result = await nodes.ask((api) => api.listen(chain, key, stop), subject);
      if (result) return result;
      io.say('The node has given up waiting. It is asked again.');
      await pause(pauseMs, stop);
    }
  });
  if (!result) io.say(stillWaiting(timeoutMs));
  return printResults({ chain, results: [result ? showResult(result) : without(key, 'pending')] }, json, io);
}

/** @returns undefined when the time is over */
async function untilTimeout(
  timeoutMs: number,
  stop: AbortSignal,
  ask: (stop: AbortSignal) => Promise<CommandResult>,
): Promise<CommandResult | undefined> {
  try {
    return await within(timeoutMs, stop, ask);
  } catch (error) {
    // Our own time is over; a node that does not answer is an ApiError.
    if (error instanceof DOMException && error.name === 'TimeoutError') return undefined;
    throw error;
  }
}
