/** What simulated nodes tell about their ledgers: their cuts, hashes and headers. They have no payloads. */

import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import type { SimulatedBlock, SimulatedNetwork } from './network.ts';

interface View {
  readonly network: SimulatedNetwork;
  /** By chain: the newest block that the node knows. */
  readonly heads: readonly SimulatedBlock[];
}

/**
 * @param path below that of the API, such as `/cut` @param body of the request
 * @returns the answer as JSON; undefined if the node has none
 */
export function ledgerAnswer(view: View, path: string, body: string): unknown {
  const { pathname, searchParams } = new URL(path, 'http://node');
  const [, collection, chain = '', what, last] = pathname.split('/');
  if (pathname === '/cut') return cutOf(view);
  if (collection !== 'chain' || view.heads[Number(chain)] === undefined) return undefined;
  const range = { from: Number(searchParams.get('minheight') ?? 0), to: Number(searchParams.get('maxheight') ?? 1e9) };
  if (what === 'header' && last !== undefined) return headerOf(view, last);
  if (what !== 'hash') return undefined;
  if (last !== 'branch') return page(view.network.blocksOf(Number(chain), range));
  const [upper] = (JSON.parse(body) as { upper: string[] }).upper;
  return page(branchOf(view, upper, range));
}

interface Heights {
  readonly from: number;
  readonly to: number;
}

function cutOf({ heads }: View) {
  const hashes = heads.map(({ chain, height, hash }) => [chain, { height, hash: encodeBase64url(hash) }]);
  const height = heads.reduce((sum, head) => sum + head.height, 0);
  return { origin: null, height, weight: encodeBase64url(Buffer.alloc(32)), hashes: Object.fromEntries(hashes) };
}

function headerOf({ network }: View, hash: string) {
  const block = network.blockOf(Buffer.from(hash, 'base64url'));
  return block && encodeBase64url(Buffer.concat([block.header, block.hash]));
}

/** @returns the blocks of a branch, in descending order; undefined without its upper bound */
function branchOf({ network }: View, upper: string, { from, to }: Heights): SimulatedBlock[] | undefined {
  let block = network.blockOf(Buffer.from(upper, 'base64url'));
  if (!block) return undefined;
  const found: SimulatedBlock[] = [];
  for (; block && block.height >= from; block = network.parent(block)) if (block.height <= to) found.push(block);
  return found;
}

const page = (blocks: readonly SimulatedBlock[] | undefined) =>
  blocks && { items: blocks.map(({ hash }) => encodeBase64url(hash)), limit: blocks.length, next: null };
