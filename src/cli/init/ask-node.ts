/** Asks for the nodes and the network, and asks each node at once whether it is a node. */

import { confirm, input } from '@inquirer/prompts';
import { misspeltNetwork } from '../../config/networks.ts';
import { nodeUrl } from '../../config/setting-types/addresses.ts';
import { network as networkType } from '../../config/setting-types/miner.ts';
import { examineNode } from '../../doctor/examine-node.ts';
import { hexOf } from '../../net/certificate.ts';
import { BY_AUTHORITY, type Trust } from '../../net/trust.ts';
import { hasPath } from '../../node/url.ts';
import { version } from '../../system/version.ts';
import type { Answers } from './answers.ts';
import { say, sayFindings } from './say.ts';
import { accepts, read } from './typed.ts';

const USUAL_URL = 'http://127.0.0.1:1848';
const USUAL_NETWORK = 'mainnet01';
/** More nodes for failover would help nobody. */
const MOST_NODES = 5;

export type Nodes = Pick<Answers, 'urls' | 'fingerprints' | 'network'>;

export async function askNodes(): Promise<Nodes> {
  const nodes = [await askNode('Node URL', USUAL_URL)];
  while (nodes.length < MOST_NODES) {
    const next = await askNode('Another node, for when that one fails (none: leave it empty)');
    if (next.url === '') break;
    nodes.push(next);
  }
  const urls = nodes.map(({ url }) => url);
  const fingerprints = nodes.flatMap(({ url, fingerprint }) =>
    fingerprint === undefined ? [] : { origin: new URL(url).origin, value: fingerprint },
  );
  const found = { urls, ...(fingerprints.length > 0 && { fingerprints }) };
  if (urls.every(hasPath)) return found;
  return { ...found, network: await askNetwork(nodes[0].network) };
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

interface AskedNode {
  readonly url: string;
  /** The fingerprint of its certificate, where that is the only reason to trust it. */
  readonly fingerprint?: string;
  /** The network that the node says it serves. */
  readonly network?: string;
}

/** @param usual the URL that Enter alone stands for; without one, Enter alone means no node */
async function askNode(message: string, usual?: string): Promise<AskedNode> {
  const isUrl = accepts(nodeUrl);
  for (;;) {
    const typed = await input({
      message,
      ...(usual !== undefined && { default: usual }),
      validate: (text) => (text.trim() === '' && usual === undefined) || isUrl(text),
    });
    if (typed.trim() === '') return { url: '' };
    const url = read(nodeUrl, typed);
    say(`asking ${url} …`);
    const { fingerprint, network, isThere } = await examine(url);
    if (isThere || (await confirm({ message: 'Use it anyway?', default: false }))) {
      return { url, ...(fingerprint !== undefined && { fingerprint }), ...(network !== undefined && { network }) };
    }
  }
}

/** @param fingerprint that of the certificate that the user trusts; without one, an authority must have signed it */
async function examine(url: string, fingerprint?: string): Promise<Omit<AskedNode, 'url'> & { isThere: boolean }> {
  const trust: Trust = fingerprint === undefined ? BY_AUTHORITY : { by: 'fingerprint', fingerprints: [fingerprint] };
  // Neither network nor key is known yet: whether it is a node is what counts here.
  const { findings, network, untrusted } = await examineNode({ url, trust, userAgent: `pickaxe/${version}` });
  if (untrusted !== undefined && fingerprint === undefined && (await recognizes(untrusted)))
    return examine(url, untrusted);
  const told = findings.filter(({ about }) => about === 'connection' || (about === 'network' && network !== undefined));
  sayFindings([...told, ...findings.filter(({ about, state }) => about === 'clock' && state !== 'ok')]);
  const isThere = told.every(({ state }) => state !== 'fault');
  return { ...(fingerprint !== undefined && { fingerprint }), ...(network !== undefined && { network }), isThere };
}

async function recognizes(fingerprint: string): Promise<boolean> {
  say(
    'No known authority has signed its certificate: nodes often sign their own. Its fingerprint is',
    `  ${fingerprint}`,
    'On the node’s own machine this prints the same as hex digits: openssl x509 -in FILE -noout -fingerprint -sha256',
    `  ${hexOf(fingerprint)}`,
  );
  return confirm({ message: 'Is that the fingerprint of your node?', default: false });
}
