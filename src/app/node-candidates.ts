/** Prepares nodes to be looked at: those of the configuration, and peers that these know. */

import type { Config } from '../config/settings.ts';
import type { Peer } from '../ledger/peer.ts';
import { ApiError } from '../node/api/api-error.ts';
import { basePathOf } from '../node/api/dialect.ts';
import type { NodeApi } from '../node/api/node-api.ts';
import { trustOfPeer, urlOfPeer } from '../node/api/peers.ts';
import type { MinerIdentity } from '../node/miner-identity.ts';
import { numberRepeated, shownUrl } from '../node/url.ts';
import { type Discovery, discoverPeers } from '../nodes/discover.ts';
import type { Candidate } from '../nodes/survey.ts';
import { whyNoWork } from '../nodes/work.ts';
import { version } from '../system/version.ts';
import { defaultAccount } from './choose-source.ts';
import { type ConfiguredNode, configuredNodes, openNodeApi, peerApi, RIG_LIMITS } from './node-api.ts';
import { nodeTrust } from './node-trust.ts';

/** The settings that say which nodes, of what network, and for whom they are asked for work. */
export type NodeSettings = Pick<Config, 'node' | 'ledger' | 'miner'>;

export interface DiscoveredNode extends Candidate {
  readonly peer: Peer;
  /** Where it gives work, if it does. @throws ApiError when its dialect cannot be found out */
  readonly url: () => Promise<string>;
}

/** Short, because a person waits for the answer; a slow node is listed all the same. */
const LIMITS = { ...RIG_LIMITS, attempts: 1, answerTimeoutMs: 10_000 };
const USER_AGENT = `pickaxe/${version}`;

export class NodeCandidates {
  readonly configured: readonly Candidate[];
  /** That of the configuration, or that of the first node that says it. */
  readonly network: string;
  readonly #settings: NodeSettings;
  /** The clients of configured nodes. */
  readonly #apis: readonly NodeApi[];
  readonly #peers: NodeApi[] = [];

  /** @throws UsageError when the network of a node is not known, or a file holds no certificates */
  static async open(settings: NodeSettings): Promise<NodeCandidates> {
    const nodes = configuredNodes(settings).filter(({ url }) => url !== undefined);
    return new NodeCandidates(settings, await Promise.all(nodes.map((node) => open(settings, node))));
  }

  private constructor(settings: NodeSettings, opened: readonly (NodeApi | string)[]) {
    const { node } = settings;
    const urls = node.urls ?? [];
    this.#settings = settings;
    this.#apis = opened.filter((each) => typeof each !== 'string');
    this.network = node.network ?? this.#apis[0]?.network ?? '';
    const { network } = this;
    const names = numberRepeated(urls.map(shownUrl));
    const miner = minerOf(settings);
    this.configured = urls.map((url, i) => {
      const question = miner && { url, network, trust: nodeTrust(url, node), miner, userAgent: USER_AGENT };
      return { name: names[i], isConfigured: true, api: opened[i], whyNoWork: question && (() => whyNoWork(question)) };
    });
  }

  /** @returns at most so many peers of the configured nodes, and why some of these have named none */
  async discover(most: number): Promise<{ nodes: readonly DiscoveredNode[]; faults: Discovery['faults'] }> {
    const { node, ledger } = this.#settings;
    const { peerUrl } = ledger;
    const known = [...(node.urls ?? []), ...(peerUrl === undefined ? [] : [peerUrl])];
    const { peers, faults } = await discoverPeers(this.#apis, known, most);
    return { nodes: peers.map((peer) => this.#candidateOf(peer)), faults };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#apis, ...this.#peers].map((api) => api.close()));
  }

  #candidateOf(peer: Peer): DiscoveredNode {
    const { network } = this;
    const api = peerApi(peer, network, this.#settings, { limits: LIMITS });
    this.#peers.push(api);
    const url = async () => urlOfPeer(peer) + basePathOf(await api.dialect(), network);
    const miner = minerOf(this.#settings);
    const trust = trustOfPeer(peer);
    const ask = async (identity: MinerIdentity) =>
      whyNoWork({ url: await url(), network, trust, miner: identity, userAgent: USER_AGENT, isStranger: true });
    return { name: urlOfPeer(peer), isConfigured: false, api, whyNoWork: miner && (() => ask(miner)), peer, url };
  }
}

/** @returns a client, or why there is none */
async function open(settings: NodeSettings, node: ConfiguredNode): Promise<NodeApi | string> {
  try {
    return await openNodeApi(node, settings, { limits: LIMITS });
  } catch (fault) {
    if (fault instanceof ApiError) return fault.message;
    throw fault;
  }
}

function minerOf({ miner: { account, publicKeys = [], predicate } }: NodeSettings): MinerIdentity | undefined {
  if (publicKeys.length === 0) return undefined;
  return { account: account ?? defaultAccount(publicKeys), predicate, publicKeys };
}
