/** `pickaxe tx poll`: waits until commands are in blocks, as deep as is asked for. */

import type { NodesInTurn } from '../../../app/nodes-in-turn.ts';
import type { Io } from '../../tx/io.ts';
import { readAsked } from '../../tx/keys.ts';
import { printResults } from '../../tx/print-results.ts';
import { stillWaiting, waitForResults } from '../../tx/waiting.ts';

export interface PollOptions {
  readonly chain: number | null;
  readonly confirmationDepth: number;
  readonly once: boolean;
  readonly timeoutMs: number;
  readonly pauseMs: number;
  readonly json: boolean;
}

/** @throws UsageError or RequestFileError for an unusable file, ApiError when the node does not answer. */
export async function runTxPoll(what: string, options: PollOptions, nodes: NodesInTurn, io: Io): Promise<number> {
  const { chain, confirmationDepth: depth, once, pauseMs, json } = options;
  const timeoutMs = once ? 0 : options.timeoutMs;
  const asked = await readAsked(what, chain, io);
  const results = await waitForResults({ ...asked, nodes, depth, timeoutMs, pauseMs, io });
  if (results.some(({ status }) => status === 'pending')) io.say(stillWaiting(timeoutMs, io.stop.aborted));
  return printResults({ chain: asked.chain, results }, json, io);
}
