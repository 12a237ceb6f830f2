/** Compares the nodes that a rig mines on, and reports the health of each to the source of work. */

import type { Logger } from 'pino';
import { systemClock } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { minerIdentity } from '../../node/client/miner-identity.ts';
import type { NodeApi } from '../../node/client/node-api.ts';
import { NodeError } from '../../node/http/node-error.ts';
import { numberRepeated, shownUrl } from '../../node/http/url.ts';
import { type Candidate, survey } from '../../rig/survey/comparison.ts';
import { whyNoWork } from '../../rig/survey/examine-node.ts';
import { type Pace, watchNodes } from '../../rig/survey/node-health.ts';
import type { Config } from '../config/settings.ts';
import {
  type ConfiguredNode,
  configuredNodes,
  type NodeContext,
  nodeTrust,
  openNodeApi,
  RIG_LIMITS,
} from './node-clients.ts';

/** The method of `FailoverSource` that the watch calls. This source prefers healthy nodes. */
interface WatchedSource {
  /**
   * @param rank place of the node in the order of preference, from 0
   * @param fault a clause after the node's name; undefined if the node is healthy
   */
  judge(rank: number, fault: string | undefined): void;
}

export interface NodeWatchOptions {
  /** `settings.node.urls` are the URLs of the source's nodes, in the same order. */
  readonly settings: NodeSettings;
  readonly source: WatchedSource;
  readonly pace?: Pace;
  readonly context?: NodeContext;
}

const TAG = { tag: 'node' } as const;
/** Maximum number of characters of a fault, which can contain foreign text. */
const MAX_SHOWN = 300;

export async function runNodeWatch(options: NodeWatchOptions, log: Logger, stop: AbortSignal): Promise<void> {
  const { settings, source, pace, context = {} } = options;
  const { clock = systemClock, random = Math.random } = context;
  let opened: Candidates | undefined;
  const surveyAll = async (signal: AbortSignal) => {
    opened ??= await openCandidates(settings, context);
    // The nodes are not asked for work here, because the source of work notices by itself when a node gives none.
    const candidates = opened.candidates.map(({ name, api }): Candidate => ({ name, api }));
    return await survey(candidates, opened.network, clock, signal);
  };
  const changed = (rank: number, fault: string | undefined) =>
    source.judge(rank, fault === undefined ? undefined : oneLine(fault, MAX_SHOWN));
  const failing = (reason: string | undefined) => {
    if (reason === undefined) log.info(TAG, 'the health of the nodes is known again');
    else log.warn(TAG, `the health of the nodes cannot be found out; trying again: ${oneLine(reason)}`);
  };
  try {
    await watchNodes({ survey: surveyAll, changed, failing, clock, random, ...(pace && { pace }) }, stop);
  } finally {
    await opened?.close();
  }
}

type NodeSettings = Pick<Config, 'node' | 'ledger' | 'miner'>;

/** Short limits, because a person may wait for the comparison. A node that is too slow is listed with the reason. */
const LIMITS = { ...RIG_LIMITS, attempts: 1, answerTimeoutMs: 10_000 };

interface Candidates {
  readonly candidates: readonly Candidate[];
  /** The network of the settings, or else that of the first node that could be opened; empty if neither exists. */
  readonly network: string;
  close(): Promise<void>;
}

/** @throws UsageError when a node names no network and none is configured, or a file of certificates cannot be used */
export async function openCandidates(settings: NodeSettings, context: NodeContext = {}): Promise<Candidates> {
  const { node } = settings;
  const { urls = [] } = node;
  const opened = await Promise.all(configuredNodes(settings).map((each) => open(settings, each, context)));
  const apis = opened.filter((each) => typeof each !== 'string');
  const network = node.network ?? apis[0]?.network ?? '';
  const names = numberRepeated(urls.map(shownUrl));
  const miner = minerIdentity(settings.miner);
  const candidates = urls.map((url, i): Candidate => {
    const question = miner && { url, network, trust: nodeTrust(url, node), miner };
    return { name: names[i], api: opened[i], whyNoWork: question && (() => whyNoWork(question)) };
  });
  return { candidates, network, close: async () => void (await Promise.all(apis.map((api) => api.close()))) };
}

/** @returns a client of the node, or the reason why the node could not be asked for its network */
async function open(settings: NodeSettings, node: ConfiguredNode, context: NodeContext): Promise<NodeApi | string> {
  try {
    return await openNodeApi(node, settings, { ...context, limits: LIMITS });
  } catch (fault) {
    if (fault instanceof NodeError) return fault.message;
    throw fault;
  }
}
