/** Examines one node: asks it once for everything that a miner needs, and reports what it finds. */

import { parseWork, type Work } from '../chain/work.ts';
import { BY_AUTHORITY, type Trust } from '../net/trust.ts';
import { NodeClock, type Skew } from '../node/clock.ts';
import { checkConfig, getConfig, servedNetwork } from '../node/config.ts';
import { NodeError, type NodeFault } from '../node/errors.ts';
import { NodeHttp } from '../node/http.ts';
import { type NodeLimits, nodeLimits } from '../node/limits.ts';
import type { MinerIdentity } from '../node/miner-identity.ts';
import { getWork, openUpdates } from '../node/mining.ts';
import { hasPath, nodeAddress } from '../node/url.ts';
import { within } from '../system/abort.ts';
import { systemClock } from '../system/clock.ts';
import { version } from '../system/version.ts';
import type { Finding, Problem } from './finding.ts';

export interface NodeQuestion {
  readonly url: string;
  /** Without a network the node is asked which one it serves. */
  readonly network?: string | undefined;
  /** Without a miner no work is asked for. */
  readonly miner?: MinerIdentity | undefined;
  /** What makes an https node's certificate trusted: by default, that an authority has signed it. */
  readonly trust?: Trust;
}

export interface Examination {
  readonly findings: readonly Finding[];
  /** The network that the node says it serves. */
  readonly network?: string;
  /** The fingerprint of the certificate that the node has shown, where that is not trusted. */
  readonly untrusted?: string;
  /** The work that it has given. */
  readonly work?: Work;
}

type Mining = Pick<Examination, 'findings' | 'work'>;

/** The chain whose updates are asked for when no work names a chain. Every network has it. */
const FIRST_CHAIN = 0;

/** Faults after which there is no point in asking more. */
const NO_ANSWER: ReadonlySet<NodeFault> = new Set(['unreachable', 'no answer', 'not a node', 'broken']);

/** @throws Error when the URL is not a node's */
export async function examineNode(question: NodeQuestion, limits: Partial<NodeLimits> = {}): Promise<Examination> {
  const { url, miner } = question;
  const nodeClock = new NodeClock(systemClock);
  const httpFor = (network: string) => openHttp({ ...question, network }, nodeClock, limits);
  const stop = new AbortController().signal;

  const first = httpFor(question.network ?? '');
  const report = await attempt(() => getConfig(first, stop));
  await first.close();
  if (report.error && NO_ANSWER.has(report.error.fault)) {
    const { message: what, fingerprint: untrusted } = report.error;
    const findings = [{ about: 'connection', state: 'fault', what, why: WHY_NODE }] as const;
    return { findings, ...(untrusted !== undefined && { untrusted }) };
  }
  const served = servedNetwork(report.value);
  const network = question.network ?? (hasPath(url) ? nodeAddress(url, served ?? '').network : served);
  let mining: Mining = { findings: [NAMELESS] };
  if (network !== undefined) {
    const http = httpFor(network);
    mining = await examineMining(http, miner, stop);
    await http.close();
  }
  // What the report says about this miner is known: a refusal says the same, and only a miner that is listed gets work.
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

/** @returns why the node gives the miner no work; undefined when it does */
export async function whyNoWork(
  question: NodeQuestion & { readonly network: string; readonly miner: MinerIdentity },
): Promise<string | undefined> {
  const http = openHttp(question, new NodeClock(systemClock));
  const { error } = await attempt(() => getWork(http, question.miner, new AbortController().signal));
  await http.close();
  return error?.message;
}

/**
 * @returns the network that the node says it serves; undefined when it does not say
 * @throws NodeError when it gives no answer about it
 */
export async function askNetwork(question: Omit<NodeQuestion, 'miner'>): Promise<string | undefined> {
  const http = openHttp(question, new NodeClock(systemClock));
  const { value, error } = await attempt(() => getConfig(http, new AbortController().signal));
  await http.close();
  if (error && error.fault !== 'refused') throw error;
  return servedNetwork(value);
}

function openHttp(
  { url, network = '', trust = BY_AUTHORITY }: NodeQuestion,
  nodeClock: NodeClock,
  limits: Partial<NodeLimits> = {},
): NodeHttp {
  return new NodeHttp({
    address: nodeAddress(url, network),
    trust,
    userAgent: `pickaxe/${version}`,
    nodeClock,
    clock: systemClock,
    limits: { ...nodeLimits, ...limits },
  });
}

const WHY_NODE = 'work comes from the node, and solutions go there';
const WHY_WORK = 'without work there is nothing to mine';
const WHY_UPDATES = 'without one, pickaxe asks for work every few seconds, and more solutions come too late';

const NAMELESS: Finding = {
  about: 'network',
  state: 'fault',
  what: 'the node does not say which network it serves',
  why: 'the network is a part of the address at which a node gives work',
  mend: 'give its network with --network, like --network mainnet01',
};

/** A missing report, or one that is not understood, is fine. */
function networkFindings(report: unknown, network: string | undefined, miner: MinerIdentity | undefined): Finding[] {
  if (report === undefined) {
    return [{ about: 'network', state: 'ok', what: 'the node does not report its configuration' }];
  }
  return checkConfig(report, network, miner).map((finding) => ({ ...finding, about: 'network' }));
}

async function examineMining(http: NodeHttp, miner: MinerIdentity | undefined, stop: AbortSignal): Promise<Mining> {
  const record = miner ? await attempt(() => getWork(http, miner, stop)) : {};
  if (record.error) {
    const { fault, message, nodeConfiguration } = record.error;
    const entry = nodeConfiguration && { nodeConfiguration: [...nodeConfiguration] };
    // A busy node has work a moment later.
    const state = fault === 'busy' ? 'warning' : 'fault';
    return { findings: [{ about: 'work', state, what: message, why: WHY_WORK, ...entry }] };
  }
  const work = record.value && parseWork(record.value, { id: 'examined' });
  const stream = await attempt(() => tryUpdates(http, work?.chain ?? FIRST_CHAIN, stop));
  if (!work) return { findings: [updatesFinding(stream.error, false)] };
  const given: Finding = { about: 'work', state: 'ok', what: `gives work: chain ${work.chain}, height ${work.height}` };
  return { findings: [given, updatesFinding(stream.error, true)], work };
}

/** @param error why no stream could be opened */
function updatesFinding(error: NodeError | undefined, hasWork: boolean): Finding {
  const about = 'updates';
  if (!error) return { about, state: 'ok', what: 'announces New Cuts' };
  const what = `no update stream: ${error.message}`;
  // When no work was asked for, a refused stream is the sign that there is no mining API.
  if (!hasWork && error.fault === 'refused') return { about, state: 'fault', what, why: WHY_WORK };
  return { about, state: 'warning', what, why: WHY_UPDATES };
}

/** The stream only has to open: it may be silent for minutes. It ends with its connection. */
async function tryUpdates(http: NodeHttp, chain: number, stop: AbortSignal): Promise<void> {
  const stream = await within(http.limits.workTimeoutMs, stop, (signal) => openUpdates(http, chain, signal));
  void readToEnd(stream);
}

async function readToEnd(stream: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of stream);
  } catch {
    // The connection was closed, as intended.
  }
}

/**
 * The largest difference of clocks that does no harm: a node reports its clock in whole seconds, and creation times are
 * half a second late anyway.
 */
const TOLERATED_SKEW_US = 2_000_000n;

function clockFinding(skew: Skew | undefined): Finding {
  const about = 'clock';
  if (!skew) return { about, state: 'skipped', what: 'was not checked: the node sent no time' };
  return clockProblem(skew) ?? { about, state: 'ok', what: 'agrees with the node’s' };
}

/** @returns undefined when the two clocks may agree */
export function clockProblem({ leastUs, mostUs }: Skew): Problem | undefined {
  const [offUs, direction] = leastUs > 0n ? [leastUs, 'ahead of'] : [-mostUs, 'behind'];
  if (offUs <= TOLERATED_SKEW_US) return undefined;
  return {
    about: 'clock',
    state: 'warning',
    what: `this machine’s clock is at least ${offUs / 1_000_000n} s ${direction} the node’s`,
    why: 'one of the two is wrong; pickaxe uses the earlier one, because nodes refuse blocks from the future',
    mend: 'let the system set its clock (timedatectl set-ntp true), or tell the node’s operator',
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
