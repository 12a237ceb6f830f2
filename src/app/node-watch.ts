/** Compares the nodes that a rig mines on, and reports which of them are healthy. Mining does not wait for it. */

import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';
import { NodeError } from '../node/errors.ts';
import { minerIdentity } from '../node/miner-identity.ts';
import type { NodeApi } from '../node/node-api.ts';
import { numberRepeated, shownUrl } from '../node/url.ts';
import { type Candidate, survey } from '../survey/comparison.ts';
import { type Pace, watchNodes } from '../survey/health.ts';
import { whyNoWork } from '../survey/node.ts';
import { type Clock, systemClock } from '../system/clock.ts';
import { oneLine } from '../text/plain-text.ts';
import { type ConfiguredNode, configuredNodes, nodeTrust, openNodeApi, RIG_LIMITS } from './node-api.ts';

/** The source that learns of a node's health: failover. */
interface WatchedSource {
  /**
   * @param rank the node's place in the order of preference; 0 is the first
   * @param fault what follows the node's name in a sentence; undefined when it is healthy
   */
  judge(rank: number, fault: string | undefined): void;
}

export interface NodeWatchOptions {
  /** The URLs of `node` are those of the nodes of the source, in the same order. */
  readonly settings: NodeSettings;
  readonly source: WatchedSource;
  readonly pace?: Pace;
  readonly clock?: Clock;
}

const TAG = { tag: 'node' } as const;
/** A node's fault can name what the node calls itself. */
const MAX_SHOWN = 300;

/** Watches until `stop`. */
export async function runNodeWatch(options: NodeWatchOptions, log: Logger, stop: AbortSignal): Promise<void> {
  const { settings, source, pace, clock = systemClock } = options;
  let opened: Candidates | undefined;
  const surveyAll = async (signal: AbortSignal) => {
    opened ??= await openCandidates(settings);
    // The sources of work notice by themselves when a node gives none.
    const candidates = opened.candidates.map(({ name, api }): Candidate => ({ name, api }));
    return await survey(candidates, opened.network, clock.nowUs(), signal);
  };
  const changed = (rank: number, fault: string | undefined) =>
    source.judge(rank, fault === undefined ? undefined : oneLine(fault, MAX_SHOWN));
  const failing = (reason: string | undefined) => {
    if (reason === undefined) log.info(TAG, 'the health of the nodes is known again');
    else log.warn(TAG, `the health of the nodes cannot be found out; trying again: ${oneLine(reason)}`);
  };
  try {
    await watchNodes({ survey: surveyAll, changed, failing, ...(pace && { pace }) }, stop);
  } finally {
    await opened?.close();
  }
}

/** The settings that name the nodes, their network, and the miner that they are asked for work for. */
type NodeSettings = Pick<Config, 'node' | 'ledger' | 'miner'>;

/** Short, because a person waits for the answer; a slow node is listed all the same. */
const LIMITS = { ...RIG_LIMITS, attempts: 1, answerTimeoutMs: 10_000 };

/** The nodes of the settings, as candidates of a comparison. */
export interface Candidates {
  readonly candidates: readonly Candidate[];
  /** That of the settings, or that of the first node that says it; empty where none does. */
  readonly network: string;
  close(): Promise<void>;
}

/** @throws UsageError when the network of a node is not known, or a file holds no certificates */
export async function openCandidates(settings: NodeSettings): Promise<Candidates> {
  const { node } = settings;
  const { urls = [] } = node;
  const opened = await Promise.all(configuredNodes(settings).map((each) => open(settings, each)));
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

/** @returns a client, or why it could not be opened */
async function open(settings: NodeSettings, node: ConfiguredNode): Promise<NodeApi | string> {
  try {
    return await openNodeApi(node, settings, { limits: LIMITS });
  } catch (fault) {
    if (fault instanceof NodeError) return fault.message;
    throw fault;
  }
}
