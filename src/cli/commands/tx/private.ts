/** `pickaxe tx private`: sends a command that only the entities in its metadata can read. */

import { EXIT, UsageError } from '../../../app/exit-codes.ts';
import type { NodesInTurn } from '../../../app/nodes-in-turn.ts';
import { readBatch } from '../../tx/batch.ts';
import { readInput } from '../../tx/files.ts';
import type { Io } from '../../tx/io.ts';
import { sending } from '../../tx/sending.ts';

/** @throws UsageError or RequestFileError for an unusable file, ApiError when the node does not take it. */
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
