/** Makes a client of a configured node's API. */

import type { Config } from '../config/settings.ts';
import { ApiError } from '../node/api/api-error.ts';
import { NodeApi, type NodeApiOptions, type NodeApiSurroundings } from '../node/api/node-api.ts';
import { hasPath } from '../node/url.ts';
import { version } from '../system/version.ts';
import { UsageError } from './exit-codes.ts';
import { nodeTrust } from './node-trust.ts';

/**
 * @returns a client of the first configured node; whoever asks for it closes it
 * @throws UsageError when no node is configured, or its network is not known. ApiError when it does not say its network
 */
export async function openNodeApi(
  { node, ledger }: Pick<Config, 'node' | 'ledger'>,
  surroundings: NodeApiSurroundings = {},
): Promise<NodeApi> {
  const url = node.urls?.[0];
  const { peerUrl, dialect, commandPath } = ledger;
  if (url === undefined && peerUrl === undefined) {
    throw new UsageError('Say which node to ask, with --node URL, like --node http://127.0.0.1:1848.');
  }
  const options = {
    ...(url !== undefined && { url, trust: nodeTrust(url, node) }),
    ...(peerUrl !== undefined && { p2pUrl: peerUrl, p2pTrust: nodeTrust(peerUrl, node) }),
    dialect,
    ...(commandPath !== undefined && { commandPath }),
    userAgent: `pickaxe/${version}`,
  };
  const isInUrl = hasPath(url ?? peerUrl!);
  const network = node.network ?? (isInUrl ? '' : await askNetwork(options, surroundings));
  return new NodeApi({ ...options, network }, surroundings);
}

/** Without a network and without a path in the URL, the node is asked which network it serves. */
async function askNetwork(
  options: Omit<NodeApiOptions, 'network'>,
  surroundings: NodeApiSurroundings,
): Promise<string> {
  const api = new NodeApi({ ...options, network: '' }, surroundings);
  try {
    return (await api.info()).network;
  } catch (fault) {
    if (fault instanceof ApiError && ['not found', 'no such side'].includes(fault.kind)) {
      throw new UsageError(
        'The node does not say which network it serves: give it with --network, like --network mainnet01.',
      );
    }
    throw fault;
  } finally {
    await api.close();
  }
}
