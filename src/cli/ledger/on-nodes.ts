/** Runs a command that asks the configured nodes, and explains their errors. */

import { type Loaded, nodeNote } from '../../app/config/load.ts';
import { type ApiSettings, configuredNodes, shownNode } from '../../app/nodes/node-clients.ts';
import { NodesInTurn } from '../../app/nodes/nodes-in-turn.ts';
import { EXIT } from '../../app/process/exit.ts';
import { SendRefusedError } from '../../node/client/commands.ts';
import type { NodeApiContext } from '../../node/client/node-api.ts';
import { NodeError } from '../../node/http/node-error.ts';

interface NodesIo {
  say(line: string): void;
  readonly stop?: AbortSignal;
}

/**
 * @returns the exit code of the command. If the command throws after `io.stop` has fired, the exit code is interrupted.
 *   If the command throws a NodeError before `io.stop` has fired, the exit code is failed
 * @throws UsageError when no node is configured; before `io.stop` has fired, also any other error of the command
 */
export async function onNodes(
  settings: ApiSettings,
  io: NodesIo,
  command: (nodes: NodesInTurn) => Promise<number>,
  context: NodeApiContext = {},
): Promise<number> {
  const nodes = new NodesInTurn(settings, (text) => io.say(`warning: ${text}`), context);
  try {
    return await command(nodes);
  } catch (fault) {
    if (io.stop?.aborted) return EXIT.interrupted;
    if (!(fault instanceof NodeError)) throw fault;
    io.say(`error: ${fault.message}${hintFor(fault)}`);
    return EXIT.failed;
  } finally {
    await nodes.close();
  }
}

/**
 * Prints the nodes and the place where they are configured.
 * @param always whether to print the nodes even if a flag of this command line names them
 */
export function sayNodes(loaded: Loaded, { say }: Pick<NodesIo, 'say'>, always = false): void {
  const isOfFlag = (loaded.origins.get('node.urls') ?? loaded.origins.get('ledger.peer-url'))?.layer === 'flag';
  const note = nodeNote(loaded, configuredNodes(loaded.config).map(shownNode).join(', '));
  if (note !== undefined && (always || !isOfFlag)) say(note);
}

const SIDES = ' Its service URL is --node, and its P2P URL is --peer-url.';

/** Remedies for the usual refusals of /send. A remedy applies if the reason that the node gives matches the pattern. */
const REMEDIES: readonly (readonly [reason: RegExp, what: string])[] = [
  [/ttl|time to live|expired/i, 'Build the command again: its time to live is over.'],
  [/future/i, 'The creation time is ahead of the last block: wait a minute and send the same file again.'],
  [/gas price/i, 'Build it again with the gas price (publicMeta.gasPrice) that the node wants.'],
  [/buy gas/i, 'Has the account that pays for gas enough coins on this chain, and has its key signed for GAS?'],
  [/signature|sigs/i, 'See with pickaxe tx show who has signed.'],
  [/network|chain/i, 'Is the command for this network and chain? pickaxe tx show tells.'],
];

function hintFor(fault: NodeError): string {
  if (fault.kind === 'no such side') return SIDES;
  if (!(fault instanceof SendRefusedError)) return '';
  const remedy = REMEDIES.find(([pattern]) => pattern.test(fault.refusal.reason))?.[1];
  const nothing = fault.mayHaveBeenTaken ? '' : ' Nothing was sent.';
  return `${nothing}${remedy === undefined ? '' : ` ${remedy}`}`;
}
