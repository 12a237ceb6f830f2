/** What a mining rig's nodes say about its blocks: their typed clients, as the follower of blocks asks them. */

import type { Head, LedgerView } from '../blocks/ledger-view.ts';
import { RewardFault } from '../blocks/reward.ts';
import { decodeBase64url, encodeBase64url } from '../ledger/base64url.ts';
import { LedgerFormatError } from '../ledger/errors.ts';
import type { PayloadWithOutputs } from '../ledger/payload.ts';
import { ApiError } from '../node/api/api-error.ts';
import type { NodeApi } from '../node/api/node-api.ts';
import { nodeAddress, numberRepeated } from '../node/url.ts';
import { type ApiSettings, nodeApi, RIG_LIMITS } from './node-api.ts';

/** How many blocks of one height are read at most, on average: real chains seldom have two. */
const MOST_OF_ONE_HEIGHT = 10;

/** The nodes to ask, and how to leave them. */
export interface LedgerViews {
  readonly views: readonly LedgerView[];
  close(): Promise<void>;
}

/**
 * @param settings they name the network, unless all URLs do. The views' names are those of the sources of work on the same nodes
 * @throws UsageError when a file holds no valid certificates
 */
export function openLedgerViews(settings: ApiSettings): LedgerViews {
  const { urls = [], network = '' } = settings.node;
  const names = numberRepeated(urls.map((url) => nodeAddress(url, network).name));
  const apis = urls.map((url) => nodeApi({ url }, network, settings, { limits: RIG_LIMITS }));
  return {
    views: apis.map((api, i) => ledgerView(api, names[i])),
    close: async () => {
      await Promise.all(apis.map((api) => api.close()));
    },
  };
}

/** @param node the node's name, as it is shown */
function ledgerView(api: NodeApi, node: string): LedgerView {
  return {
    node,
    network: api.network,
    heads: async (stop) => {
      const { heads } = await api.cut({}, stop);
      const read = ([chain, { height, hash }]: [number, { height: bigint; hash: Uint8Array }]): [number, Head] => {
        return [chain, { height, hash: encodeBase64url(hash) }];
      };
      return new Map([...heads].map(read));
    },
    ancestors: async (chain, upper, from, to, stop) => {
      const bounds = { upper: [decodeBase64url(upper)] };
      const hashes = new Map<bigint, string>();
      // A branch of one bound has one block of each height, and comes in descending order.
      let height = to;
      for await (const hash of api.hashBranch(chain, bounds, { minHeight: from, maxHeight: to }, stop)) {
        hashes.set(height--, encodeBase64url(hash));
      }
      const expected = to - from + 1n;
      if (BigInt(hashes.size) === expected) return hashes;
      throw new Error(`${node} gave ${hashes.size} ancestors of chain ${chain} where there must be ${expected}`);
    },
    keptHashes: async (chain, from, to, stop) => {
      const most = MOST_OF_ONE_HEIGHT * Number(to - from + 1n);
      const hashes = new Set<string>();
      for await (const hash of api.hashes(chain, { minHeight: from, maxHeight: to }, stop)) {
        hashes.add(encodeBase64url(hash));
        if (hashes.size > most) throw new Error(`${node} gave more than ${most} blocks of chain ${chain}`);
      }
      return hashes;
    },
    payloadWithOutputs: (chain, payloadHash, height, stop) =>
      orMissing(api.payloadWithOutputs(chain, payloadHash, { height }, stop)),
  };
}

/**
 * The client proves payloads by itself, against the payload hash of our header.
 * @returns undefined when the node does not have the payload
 * @throws RewardFault when what it has is not this payload, ApiError for all else
 */
async function orMissing(payload: Promise<PayloadWithOutputs>): Promise<PayloadWithOutputs | undefined> {
  try {
    return await payload;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.kind === 'not found') return undefined;
    if (error.cause instanceof LedgerFormatError) {
      throw new RewardFault(`the payload is not the one in our header: ${error.cause.message}`);
    }
    throw error;
  }
}
