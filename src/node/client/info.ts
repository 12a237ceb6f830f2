/** A node's information about itself and its peers (document 1, "Node information model" and "Peers"). */

import { z } from 'zod';
import { BY_AUTHORITY, type Trust } from '../../base/net/tls-trust.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { type Peer, peerFromJson, peerToJson } from '../../protocol/ledger/cut.ts';
import { checked, MAX_U64, natural, reading, u32 } from '../../protocol/ledger/fields.ts';
import { type Graph, type GraphSpan, graphOf } from '../../protocol/ledger/graphs.ts';
import {
  type ExactJson,
  type ExactJsonObject,
  isExactJsonObject,
  LedgerFormatError,
  stringifyExactJson,
} from '../../protocol/ledger/json.ts';
import { NodeError, quote } from '../http/node-error.ts';
import { type Asker, chainPath, json, nothing } from '../http/request.ts';
import { CONFIG_PATH, HEALTH_PATH } from '../http/url.ts';
import { itemsOf } from './collection-pages.ts';

/** The path of the information, from the host root. Document 1 describes the information, but not its path. */
const INFO_PATH = '/info';

export interface NodeInfo {
  /** The network's name. Foreign text. */
  readonly network: string;
  /** The version of the API. Foreign text. */
  readonly apiVersion: string;
  /** The numbers of the chains, in ascending order. */
  readonly chains: readonly number[];
  /**
   * The graphs that connect the chains, each with the first height at which it is used. The newest graph comes first.
   */
  readonly graphs: readonly GraphSpan[];
}

const ChainText = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,9})$/, 'is not a chain')
  .transform(Number);

const Neighbours = z.array(z.tuple([u32, z.array(u32)]));

/** Reads a graph from a node's report, which can list the chains in any order. */
const GraphOfNode = reading(Neighbours, (pairs): Graph => {
  const sorted = [...pairs].sort(([a], [b]) => a - b);
  const wrong = sorted.find(([chain], i) => chain !== i);
  if (wrong) throw new LedgerFormatError(`has ${sorted.length} chains, and one is ${wrong[0]}`);
  return graphOf(sorted.map(([, neighbours]) => neighbours));
});

const Info = z.object({
  nodeVersion: z.string(),
  nodeApiVersion: z.string(),
  nodeNumberOfChains: u32,
  nodeChains: z.array(ChainText),
  nodeGraphHistory: z.array(z.tuple([natural(MAX_U64), GraphOfNode])),
});

/** @throws LedgerFormatError if a field is missing or wrong */
export function infoFromJson(value: ExactJson): NodeInfo {
  const it = checked(Info, value, 'info');
  if (it.nodeChains.length !== it.nodeNumberOfChains) {
    const message = `info: names ${it.nodeChains.length} chains, but says that there are ${it.nodeNumberOfChains}`;
    throw new LedgerFormatError(message);
  }
  return {
    network: it.nodeVersion,
    apiVersion: it.nodeApiVersion,
    chains: it.nodeChains.sort((a, b) => a - b),
    graphs: it.nodeGraphHistory
      .map(([fromHeight, graph]) => ({ fromHeight, graph }))
      .sort((a, b) => (a.fromHeight < b.fromHeight ? 1 : -1)),
  };
}

export async function getInfo(asker: Asker, stop: AbortSignal): Promise<NodeInfo> {
  return await asker.ask({ side: 'service', path: INFO_PATH, read: json(infoFromJson) }, stop);
}

/** Maximum length of a health report, in characters. */
const MAX_HEALTH = 200;

/** @returns the report on one line @throws NodeError if the node does not answer, or is not healthy */
export async function getHealth(asker: Asker, stop: AbortSignal): Promise<string> {
  const read = ({ body }: { body: Buffer }) => oneLine(body.toString(), MAX_HEALTH);
  return await asker.ask({ side: 'service', path: HEALTH_PATH, accept: 'text/plain, */*', read }, stop);
}

/** @returns the report of the configuration, whose keys differ between versions of nodes @throws NodeError */
export async function getReport(asker: Asker, stop: AbortSignal): Promise<ExactJsonObject> {
  const read = json((value) => {
    if (!isExactJsonObject(value)) throw new LedgerFormatError('The report is not an object');
    return value;
  });
  return await asker.ask({ side: 'p2p', path: CONFIG_PATH, read }, stop);
}

/* Peers. Nodes exchange cuts in one network of peers, and each chain's pending commands in a network of that chain. */

/** The largest number of peers per page that real nodes allow. Their default is 64. */
const PAGE_SIZE = 512;

/** A number of peers that no network reaches. */
const MOST_PEERS = 2n ** 16n;

export interface PeersQuery {
  /**
   * Called once, at the end, if peers were left out. The message has the number of these peers and the fault of the
   * first.
   */
  readonly onLeftOut?: (fault: NodeError) => void;
}

/**
 * Yields the peers that a node names. Malformed peers are left out without an error, because nodes pass on whatever
 * other nodes send.
 * @param chain the chain of a mempool's network; undefined for the network of cuts
 * @throws NodeError, while iterating
 */
export async function* getPeers(
  asker: Asker,
  chain: number | undefined,
  { onLeftOut }: PeersQuery,
  stop: AbortSignal,
): AsyncGenerator<Peer, void> {
  let first: LedgerFormatError | undefined;
  let count = 0;
  const collection = {
    side: 'p2p',
    path: pathOf(chain),
    pageSize: PAGE_SIZE,
    most: MOST_PEERS,
    item: peerOrFault,
  } as const;
  try {
    for await (const peer of itemsOf(asker, collection, stop)) {
      if (peer instanceof LedgerFormatError) {
        first ??= peer;
        count += 1;
      } else yield peer;
    }
  } finally {
    if (first) onLeftOut?.(leftOut(asker, first, count));
  }
}

function peerOrFault(json: ExactJson): Peer | LedgerFormatError {
  try {
    return peerFromJson(json);
  } catch (fault) {
    if (fault instanceof LedgerFormatError) return fault;
    throw fault;
  }
}

function leftOut({ name }: Asker, first: LedgerFormatError, count: number): NodeError {
  const which = count === 1 ? 'a peer that is not understood' : `${count} peers that are not understood, as this one`;
  return new NodeError('not understood', `${name} names ${which}: ${quote(first.message)}.`, { cause: first });
}

/**
 * @param chain the chain of a mempool's network; undefined for the network of cuts
 * @throws NodeError: `bad request` if the node cannot reach the peer
 */
export async function putPeer(asker: Asker, peer: Peer, chain: number | undefined, stop: AbortSignal): Promise<void> {
  const body = stringifyExactJson(peerToJson(peer));
  await asker.ask({ side: 'p2p', method: 'PUT', path: pathOf(chain), body, read: nothing }, stop);
}

export function urlOfPeer({ address: { hostname, port } }: Peer): string {
  return `https://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
}

/**
 * @returns how a peer's certificate is checked: its fingerprint must be the peer's id, or if the peer has no id, an
 *   authority must have signed it
 */
export function trustOfPeer({ id }: Peer): Trust {
  return id === null ? BY_AUTHORITY : { by: 'peer id', id };
}

function pathOf(chain: number | undefined): string {
  return chain === undefined ? 'cut/peer' : chainPath(chain, 'mempool/peer');
}
