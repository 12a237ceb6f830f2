/** Asks for the nodes and the network, and asks each node at once whether it is a node. */

import { input } from '@inquirer/prompts';
import { misspeltNetwork } from '../../config/networks.ts';
import { nodeUrl } from '../../config/setting-types/addresses.ts';
import { network as networkType } from '../../config/setting-types/miner.ts';
import { examineNode } from '../../doctor/examine-node.ts';
import type { Trust } from '../../net/trust.ts';
import { hasPath } from '../../node/url.ts';
import { version } from '../../system/version.ts';
import type { NodeAnswers } from './answers.ts';
import { type Attempt, askUrls } from './ask-urls.ts';
import { accepts } from './typed.ts';

const USUAL_URL = 'http://127.0.0.1:1848';
const USUAL_NETWORK = 'mainnet01';

export type Nodes = Pick<NodeAnswers, 'urls' | 'fingerprints' | 'network'>;

export async function askNodes(): Promise<Nodes> {
  const { places, network } = await askUrls({ kind: 'node', type: nodeUrl, usual: USUAL_URL, attempt: attemptNode });
  if (places.urls.every(hasPath)) return places;
  return { ...places, network: await askNetwork(network) };
}

/** @param usual the network that Enter alone stands for */
export async function askNetwork(usual = USUAL_NETWORK): Promise<string> {
  const network = await input({ message: 'Network', default: usual, validate: acceptsNetwork });
  return network.trim();
}

const isNetwork = accepts(networkType);

function acceptsNetwork(text: string): true | string {
  const meant = misspeltNetwork(text.trim());
  if (meant === undefined) return isNetwork(text);
  return `Did you mean ${meant}? If not, write the network into the node URL: http://HOST:PORT/ledger/0.0/${text.trim()}`;
}

/** Neither network nor key is known yet: whether it is a node is what counts here. */
async function attemptNode(url: string, trust: Trust): Promise<Attempt> {
  const { findings, ...found } = await examineNode({ url, trust, userAgent: `pickaxe/${version}` });
  const told = findings.filter(
    ({ about, state }) =>
      about === 'connection' ||
      (about === 'network' && found.network !== undefined) ||
      (about === 'clock' && state !== 'ok'),
  );
  return { ...found, findings: told };
}
