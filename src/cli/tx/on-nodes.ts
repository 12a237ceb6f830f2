/** Runs a command of `pickaxe tx` on the nodes of the settings, and turns what nodes refuse into words. */

import { EXIT } from '../../app/exit-codes.ts';
import type { Config } from '../../config/settings.ts';
import { ApiError } from '../../node/api/api-error.ts';
import { SendRefusedError } from '../../node/api/commands.ts';
import type { NodeApiSurroundings } from '../../node/api/node-api.ts';
import type { Io } from './io.ts';
import { Nodes } from './nodes.ts';

/**
 * @returns the command's exit code: failed when the nodes refuse or do not answer
 * @throws what the command throws otherwise
 */
export async function onNodes(
  settings: Pick<Config, 'node' | 'ledger'>,
  io: Io,
  command: (nodes: Nodes) => Promise<number>,
  surroundings: NodeApiSurroundings = {},
): Promise<number> {
  try {
    return await command(new Nodes(settings, io, surroundings));
  } catch (fault) {
    if (io.stop.aborted) return EXIT.interrupted;
    if (!(fault instanceof ApiError)) throw fault;
    const hint = fault instanceof SendRefusedError ? hintFor(fault.refusal.reason) : '';
    io.say(`error: ${fault.message}${hint}`);
    return EXIT.failed;
  }
}

/** What can be done about the usual reasons of /send. */
const REMEDIES: readonly (readonly [reason: RegExp, what: string])[] = [
  [/ttl|time to live|expired/i, 'Build the command again: its time to live is over.'],
  [/future/i, 'The creation time is ahead of the last block: wait a minute and send the same file again.'],
  [/gas price/i, 'Build it again with the gas price (publicMeta.gasPrice) that the node wants.'],
  [/buy gas/i, 'Has the account that pays for gas enough coins on this chain, and has its key signed for GAS?'],
  [/signature|sigs/i, 'See with pickaxe tx show who has signed.'],
  [/network|chain/i, 'Is the command for this network and chain? pickaxe tx show tells.'],
];

function hintFor(reason: string): string {
  const remedy = REMEDIES.find(([pattern]) => pattern.test(reason))?.[1];
  return ` Nothing was sent.${remedy === undefined ? '' : ` ${remedy}`}`;
}
