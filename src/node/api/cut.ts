/** The node's state of the ledger, and publishing one to it (document 1, "Cut"). */

import { type Cut, cutFromJson, cutToJson } from '../../ledger/cut.ts';
import { stringifyExactJson } from '../../ledger/exact-json.ts';
import { quote } from '../errors.ts';
import { ApiError } from './api-error.ts';
import { type Asker, json, nothing } from './ask.ts';
import { query } from './paths.ts';

export interface CutQuery {
  /** The height of the cut, which is the sum of its heads' heights; real nodes come near it. */
  readonly maxHeight?: number | bigint;
}

/** @throws ApiError: `other network` when the cut names another one than that of the client, if that is known */
export async function getCut(asker: Asker, { maxHeight }: CutQuery, stop: AbortSignal): Promise<Cut> {
  const path = `cut${query({ maxheight: maxHeight })}`;
  const cut = await asker.ask({ side: 'both', path, read: json(cutFromJson) }, stop);
  checkNetwork(asker, cut);
  return cut;
}

/** A path, of a gateway for instance, may lead to any network. */
function checkNetwork(asker: Asker, { network }: Cut): void {
  if (network === undefined || asker.network === '' || network === asker.network) return;
  const message = `${asker.name} serves the network ${quote(network)}, not ${asker.network}: check the network or the node URL.`;
  throw new ApiError('other network', message, { network });
}

/**
 * @param cut with an origin, the node at which the blocks can be had. The node that it is sent to must be a peer of it
 * @throws ApiError: `unauthorized` when it is no peer. RangeError for a cut without origin
 */
export async function putCut(asker: Asker, cut: Cut, stop: AbortSignal): Promise<void> {
  if (!cut.origin) throw new RangeError('a cut that is published must name its origin, the node that has its blocks');
  const body = stringifyExactJson(cutToJson(cut));
  await asker.ask({ side: 'p2p', method: 'PUT', path: 'cut', body, read: nothing }, stop);
}
