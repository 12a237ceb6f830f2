/** Runs a command that reads the ledger of the configured nodes, or changes the state of one. */

import { EXIT } from '../../../app/exit-codes.ts';
import type { NodesInTurn } from '../../../app/nodes-in-turn.ts';
import type { Loaded } from '../../../config/load.ts';
import { LedgerFormatError } from '../../../ledger/errors.ts';
import type { NodeApi } from '../../../node/api/node-api.ts';
import { oneLine } from '../../../text/one-line.ts';
import { onNodes } from '../../on-nodes.ts';
import { note } from './print.ts';

/** @param act asks the first node that can be reached @returns the exit code @throws UsageError when no node is configured */
export function withNode(loaded: Loaded, act: (api: NodeApi) => Promise<void>): Promise<number> {
  return withNodes(loaded, async (nodes) => {
    await nodes.ask(act);
    return EXIT.done;
  });
}

/** The same with exactly one node, the first one, and no other. */
export function withFirstNode(loaded: Loaded, act: (api: NodeApi) => Promise<void>): Promise<number> {
  return withNodes(loaded, async (nodes) => {
    await nodes.askOne(act);
    return EXIT.done;
  });
}

/** The same with a command that has an exit code of its own. */
export async function withNodes({ config }: Loaded, act: (nodes: NodesInTurn) => Promise<number>): Promise<number> {
  try {
    return await onNodes(config, { say: note }, act);
  } catch (fault) {
    if (!(fault instanceof LedgerFormatError)) throw fault;
    note(`error: ${oneLine(fault.message)}.`);
    return EXIT.failed;
  }
}
