/** Examines a node: asks it once for everything that a miner needs, and returns findings about it. */

import type { Finding, Problem } from '../../base/finding.ts';
import { BY_AUTHORITY, type Trust } from '../../base/net/tls-trust.ts';
import { within } from '../../base/system/abort.ts';
import { systemClock } from '../../base/system/clock.ts';
import { version } from '../../base/system/version.ts';
import { checkConfig, servedNetwork } from '../../node/client/config.ts';
import type { MinerIdentity } from '../../node/client/miner-identity.ts';
import { MiningClient } from '../../node/client/mining.ts';
import { NodeClock, type Skew } from '../../node/http/node-clock.ts';
import { NodeError, type NodeErrorKind } from '../../node/http/node-error.ts';
import { type NodeLimits, nodeLimits } from '../../node/http/request-limits.ts';
import { hasPath, nodeAddress } from '../../node/http/url.ts';
import type { Work } from '../../protocol/chain/work.ts';

export interface NodeQuestion {
  readonly url: string;
  /**
   * The expected network. If it is absent, the network in the URL's path is expected or, if the path names no network,
   * the network that the node reports.
   */
  readonly network?: string | undefined;
  /** The miner for which work is requested. If it is absent, no work is requested. */
  readonly miner?: MinerIdentity | undefined;
  /** How the certificate of a node with https is checked. By default, an authority must have signed it. */
  readonly trust?: Trust;
}

export interface Examination {
  readonly findings: readonly Finding[];
  /** The network that the node claims to serve. */
  readonly network?: string;
  /** The fingerprint of the node's certificate. Present only if the certificate is not trusted. */
  readonly untrusted?: string;
  readonly work?: Work;
}

type Mining = Pick<Examination, 'findings' | 'work'>;

/** The chain whose update stream is opened if no work was requested. Every network has this chain. */
const FIRST_CHAIN = 0;

/** Kinds of errors after which further requests to the node are pointless. */
const NO_ANSWER: ReadonlySet<NodeErrorKind> = new Set(['unreachable', 'timed out', 'not a node', 'broken']);

/** @throws Error when `url` is not the URL of a node */
export async function examineNode(question: NodeQuestion, limits: Partial<NodeLimits> = {}): Promise<Examination> {
  const { url, miner } = question;
  const nodeClock = new NodeClock(systemClock);
  const clientFor = (network: string) =>
    openClient({ ...question, network }, { nodeClock, limits: { ...nodeLimits, ...limits } });
  const stop = new AbortController().signal;

  const first = clientFor(question.network ?? '');
  const report = await attempt(() => first.config(stop));
  await first.close();
  if (report.error && NO_ANSWER.has(report.error.kind)) {
    const { message: what, fingerprint: untrusted } = report.error;
    const findings = [{ about: 'connection', state: 'fault', what, why: WHY_NODE }] as const;
    return { findings, ...(untrusted !== undefined && { untrusted }) };
  }
  const served = servedNetwork(report.value);
  const network = question.network ?? (hasPath(url) ? nodeAddress(url, served ?? '').network : served);
  let mining: Mining = { findings: [NAMELESS] };
  if (network !== undefined) {
    const client = clientFor(network);
    mining = await examineMining(client, miner, stop);
    await client.close();
  }
  // A node that gave work is configured for the miner. A node that refused work with lines for its configuration is
  // not. In all other cases, the configuration that the node reports is checked for the miner.
  const isKnown = mining.findings.some(({ about, state, nodeConfiguration }) => {
    return about === 'work' && (state === 'ok' || nodeConfiguration !== undefined);
  });
  const findings: Finding[] = [
    { about: 'connection', state: 'ok', what: `${nodeAddress(url, '').origin} answers` },
    ...networkFindings(report.value, network, isKnown ? undefined : miner),
    ...mining.findings,
    clockFinding(nodeClock.skew),
  ];
  const { work } = mining;
  return { findings, ...(served !== undefined && { network: served }), ...(work && { work }) };
}

/** @returns the reason why the node gives the miner no work; undefined if it gives work */
export async function whyNoWork(
  question: NodeQuestion & { readonly network: string; readonly miner: MinerIdentity },
): Promise<string | undefined> {
  const client = openClient(question);
  const { error } = await attempt(() => client.work(question.miner, new AbortController().signal));
  await client.close();
  return error?.message;
}

/**
 * @returns the network that the node serves; undefined if the node does not report it
 * @throws NodeError when the request fails for another reason than a refusal by the node
 */
export async function askNetwork(question: Omit<NodeQuestion, 'miner'>): Promise<string | undefined> {
  const client = openClient(question);
  const { value, error } = await attempt(() => client.config(new AbortController().signal));
  await client.close();
  if (error && error.kind !== 'refused') throw error;
  return servedNetwork(value);
}

function openClient(
  { url, network = '', trust = BY_AUTHORITY }: NodeQuestion,
  context: { readonly nodeClock?: NodeClock; readonly limits?: NodeLimits } = {},
): MiningClient {
  return new MiningClient({ address: nodeAddress(url, network), trust, userAgent: `pickaxe/${version}`, ...context });
}

const WHY_NODE = 'work comes from the node, and solutions go there';
const WHY_WORK = 'without work there is nothing to mine';
const WHY_UPDATES = 'without one, pickaxe asks for work every few seconds, and more solutions come too late';

const NAMELESS: Finding = {
  about: 'network',
  state: 'fault',
  what: 'the node does not say which network it serves',
  why: 'the network is a part of the address at which a node gives work',
  remedy: 'give its network with --network, like --network mainnet01',
};

/** A report that is missing or cannot be interpreted is no fault. */
function networkFindings(report: unknown, network: string | undefined, miner: MinerIdentity | undefined): Finding[] {
  if (report === undefined) {
    return [{ about: 'network', state: 'ok', what: 'the node does not report its configuration' }];
  }
  return checkConfig(report, network, miner).map((finding) => ({ ...finding, about: 'network' }));
}

async function examineMining(
  client: MiningClient,
  miner: MinerIdentity | undefined,
  stop: AbortSignal,
): Promise<Mining> {
  const answer = miner ? await attempt(() => client.work(miner, stop)) : {};
  if (answer.error) {
    const { isBusy, message, nodeConfiguration } = answer.error;
    const entry = nodeConfiguration && { nodeConfiguration: [...nodeConfiguration] };
    // A busy node may give work a moment later, so being busy is no fault.
    const state = isBusy ? 'warning' : 'fault';
    return { findings: [{ about: 'work', state, what: message, why: WHY_WORK, ...entry }] };
  }
  const work = answer.value;
  const stream = await attempt(() => tryUpdates(client, work?.chain ?? FIRST_CHAIN, stop));
  if (!work) return { findings: [updatesFinding(stream.error, false)] };
  const given: Finding = { about: 'work', state: 'ok', what: `gives work: chain ${work.chain}, height ${work.height}` };
  return { findings: [given, updatesFinding(stream.error, true)], work };
}

/** @param error the reason why no update stream could be opened; undefined if one was opened */
function updatesFinding(error: NodeError | undefined, hasWork: boolean): Finding {
  const about = 'updates';
  if (!error) return { about, state: 'ok', what: 'announces New Cuts' };
  const what = `no update stream: ${error.message}`;
  // No work was requested in this case, so a refused stream is the only sign that the node has no mining API.
  if (!hasWork && error.kind === 'refused') return { about, state: 'fault', what, why: WHY_WORK };
  return { about, state: 'warning', what, why: WHY_UPDATES };
}

/** Opens an update stream. Its events are not awaited, because the first may take minutes. */
async function tryUpdates(client: MiningClient, chain: number, stop: AbortSignal): Promise<void> {
  const stream = await within(systemClock, client.limits.workTimeoutMs, stop, (signal) =>
    client.updates(chain, signal),
  );
  void readToEnd(stream);
}

async function readToEnd(stream: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of stream);
  } catch {
    // The connection was closed, as intended.
  }
}

/** Difference of two clocks that is tolerated, because nodes report their time in whole seconds. */
const TOLERATED_SKEW_US = 2_000_000n;

function clockFinding(skew: Skew | undefined): Finding {
  const about = 'clock';
  if (!skew) return { about, state: 'skipped', what: 'was not checked: the node sent no time' };
  return clockProblem(skew) ?? { about, state: 'ok', what: 'agrees with the node’s' };
}

/** @returns a warning if the clocks certainly differ by more than `TOLERATED_SKEW_US`; otherwise undefined */
export function clockProblem({ leastUs, mostUs }: Skew): Problem | undefined {
  const [offUs, direction] = leastUs > 0n ? [leastUs, 'ahead of'] : [-mostUs, 'behind'];
  if (offUs <= TOLERATED_SKEW_US) return undefined;
  return {
    about: 'clock',
    state: 'warning',
    what: `this machine’s clock is at least ${offUs / 1_000_000n} s ${direction} the node’s`,
    why: 'one of the two is wrong; pickaxe uses the earlier one, because nodes refuse blocks from the future',
    remedy: 'let the system set its clock (timedatectl set-ntp true), or tell the node’s operator',
  };
}

async function attempt<T>(ask: () => Promise<T>): Promise<{ value?: T; error?: NodeError }> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return { error };
  }
}
