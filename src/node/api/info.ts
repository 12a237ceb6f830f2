/** What a node says about itself (document 1, "Node information model" and "Configuration"). */

import { z } from 'zod';
import { LedgerFormatError } from '../../ledger/errors.ts';
import { type ExactJson, type ExactJsonObject, isExactJsonObject } from '../../ledger/exact-json.ts';
import { checked, MAX_U64, natural, reading, u32 } from '../../ledger/fields.ts';
import { type Graph, type GraphSpan, graphOf } from '../../ledger/graphs.ts';
import { oneLine } from '../../text/one-line.ts';
import { CONFIG_PATH, HEALTH_PATH } from '../url.ts';
import { type Asker, json } from './ask.ts';

/** `/info` at the host root serves the model whose endpoint document 1 does not show. */
const INFO_PATH = '/info';

export interface NodeInfo {
  /** The network's id. Foreign text, as the version. */
  readonly network: string;
  readonly apiVersion: string;
  /** The chains that the network has now, in ascending order. */
  readonly chains: readonly number[];
  /** The graphs that the network has had, the newest first. */
  readonly graphs: readonly GraphSpan[];
}

const ChainText = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,9})$/, 'is not a chain')
  .transform(Number);

const Neighbours = z.array(z.tuple([u32, z.array(u32)]));

/** The chains come in any order. */
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

/** @throws LedgerFormatError for a field that is missing or wrong. */
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

/** @throws ApiError */
export async function getInfo(asker: Asker, stop: AbortSignal): Promise<NodeInfo> {
  return await asker.ask({ side: 'service', path: INFO_PATH, read: json(infoFromJson) }, stop);
}

/** The most characters of the health report that are kept. */
const MAX_HEALTH = 200;

/** @returns what the node says about its health, on one line @throws ApiError when it does not answer, or is not well */
export async function getHealth(asker: Asker, stop: AbortSignal): Promise<string> {
  const read = ({ body }: { body: Buffer }) => oneLine(body.toString(), MAX_HEALTH);
  return await asker.ask({ side: 'service', path: HEALTH_PATH, accept: 'text/plain, */*', read }, stop);
}

/**
 * @returns the node's report on its configuration, whose keys differ between versions. `checkConfig` and `servedNetwork` of
 * node/config.ts read it
 * @throws ApiError
 */
export async function getReport(asker: Asker, stop: AbortSignal): Promise<ExactJsonObject> {
  const read = json((value) => {
    if (!isExactJsonObject(value)) throw new LedgerFormatError('The report is not an object');
    return value;
  });
  return await asker.ask({ side: 'p2p', path: CONFIG_PATH, read }, stop);
}
