/** Asks the configured nodes for the block on which a work builds. */

import type { NodeApi } from '../../node/client/node-api.ts';
import { parentOf, type Work } from '../../protocol/chain/work.ts';
import { type BlockHeader, encodeHeader } from '../../protocol/ledger/header.ts';
import type { ApiSettings, NodeContext } from './node-clients.ts';
import { NodesInTurn } from './nodes-in-turn.ts';

/**
 * @returns the encoded header of the work's parent block. The header does not include the block hash. Undefined if no
 *   node gives the header
 */
export async function parentHeader(
  settings: ApiSettings,
  { chain, height, header }: Work,
  stop: AbortSignal,
  context: NodeContext = {},
): Promise<Uint8Array | undefined> {
  const hash = parentOf(header);
  const ask = (api: NodeApi) => headerAt(api, chain, height - 1n, hash, stop);
  let nodes: NodesInTurn | undefined;
  try {
    nodes = new NodesInTurn(settings, () => {}, context);
    const found = (await nodes.askOne(ask, stop).catch(() => undefined)) ?? (await nodes.askOther(ask, stop));
    return found && encodeHeader(found);
  } catch {
    return undefined;
  } finally {
    await nodes?.close();
  }
}

/** Reads a header. A node with the dialect `document` serves no headers, so the whole block is read from it. */
async function headerAt(
  api: NodeApi,
  chain: number,
  height: bigint,
  hash: Uint8Array,
  stop: AbortSignal,
): Promise<BlockHeader | undefined> {
  if ((await api.dialect(stop)) === 'chainweb') return await api.header(chain, hash, stop);
  const range = { minHeight: height, maxHeight: height };
  for await (const block of api.blockBranch(chain, { upper: [hash] }, range, stop)) return block.header;
  return undefined;
}
