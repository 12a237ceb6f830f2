/**
 * Asks a node everything that a miner needs, once, and reports what it finds: for `pickaxe doctor` and `pickaxe init`.
 */

import { defaultAccount, insecureTlsRisk } from '../app/choose-source.ts';
import { UsageError } from '../app/exit.ts';
import { nodeTrust } from '../app/node-api.ts';
import { parseWork, type Work } from '../chain/work.ts';
import { type Config, DEFAULTS } from '../config/settings.ts';
import { BY_AUTHORITY, type Trust } from '../net/trust.ts';
import { NodeClock, type Skew } from '../node/clock.ts';
import { checkConfig, getConfig, servedNetwork } from '../node/config.ts';
import { NodeError, type NodeFault } from '../node/errors.ts';
import { NodeHttp } from '../node/http.ts';
import { type NodeLimits, nodeLimits } from '../node/limits.ts';
import type { MinerIdentity } from '../node/miner-identity.ts';
import { getWork, openUpdates } from '../node/mining.ts';
import { hasPath, nodeAddress, numberRepeated, shownUrl } from '../node/url.ts';
import { within } from '../system/abort.ts';
import { type Clock, systemClock } from '../system/clock.ts';
import { version } from '../system/version.ts';
import { type Finding, softened } from './finding.ts';

export interface NodeQuestion {
  readonly url: string;
  /** Without a network the node is asked which one it serves. */
  readonly network?: string | undefined;
  /** Without a miner no work is asked for. */
  readonly miner?: MinerIdentity | undefined;
  /** What makes an https node's certificate trusted: by default, that an authority has signed it. */
  readonly trust?: Trust;
  readonly userAgent?: string;
}

interface NodeFinding extends Finding {
  readonly about: 'connection' | 'network' | 'work' | 'updates' | 'clock';
}

export interface Examination {
  readonly findings: readonly NodeFinding[];
  /** The network that the node says it serves. */
  readonly network?: string;
  /** The fingerprint of the certificate that the node has shown, where that is not trusted. */
  readonly untrusted?: string;
  /** The work that it has given. */
  readonly work?: Work;
}

/**
 * A smaller difference does no harm: the node reports its clock in whole seconds, and creation times are half a second
 * late anyway.
 */
const TOLERATED_SKEW_US = 2_000_000n;
/** The chain whose updates are asked for when no work names a chain. Every network has it. */
const FIRST_CHAIN = 0;

/** Faults after which there is no point in asking more. */
const NO_ANSWER: ReadonlySet<NodeFault> = new Set(['unreachable', 'no answer', 'not a node', 'broken']);

/** @throws Error when the URL is not a node's */
export async function examineNode(
  question: NodeQuestion,
  context: { readonly clock?: Clock; readonly limits?: Partial<NodeLimits>; readonly stop?: AbortSignal } = {},
): Promise<Examination> {
  const { clock = systemClock, stop = new AbortController().signal } = context;
  const limits = { ...nodeLimits, ...context.limits };
  const { url, miner, trust = BY_AUTHORITY, userAgent = 'pickaxe' } = question;
  const nodeClock = new NodeClock(clock);
  const httpFor = (network: string) =>
    new NodeHttp({ address: nodeAddress(url, network), trust, userAgent, nodeClock, clock, limits });

  const first = httpFor(question.network ?? '');
  const report = await attempt(() => getConfig(first, stop));
  await first.close();
  if (report.error && NO_ANSWER.has(report.error.fault)) {
    const { message: what, fingerprint: untrusted } = report.error;
    const findings = [{ about: 'connection', state: 'fault', what, why: WHY_NODE }] as const;
    return { findings, ...(untrusted !== undefined && { untrusted }) };
  }
  const answers: NodeFinding = { about: 'connection', state: 'ok', what: `${nodeAddress(url, '').origin} answers` };
  const served = servedNetwork(report.value);
  const network = question.network ?? (hasPath(url) ? nodeAddress(url, served ?? '').network : served);
  const mining: NodeFinding[] = [];
  let work: Work | undefined;
  if (network === undefined) {
    const what = 'the node does not say which network it serves';
    mining.push({
      about: 'network',
      state: 'fault',
      what,
      why: WHY_NETWORK,
      mend: 'give its network with --network, like --network mainnet01',
    });
  } else {
    const http = httpFor(network);
    const examined = await examineMining(http, miner, stop);
    mining.push(...examined.findings);
    work = examined.work;
    await http.close();
  }
  // What the report says about this miner is known: a refusal says the same, and only a miner that is listed gets work.
  const isKnown = mining.some(({ about, state, nodeConfiguration }) => {
    return about === 'work' && (state === 'ok' || nodeConfiguration !== undefined);
  });
  const findings = [
    answers,
    ...networkFindings(report.value, network || undefined, isKnown ? undefined : miner),
    ...mining,
  ];
  findings.push(clockFinding(nodeClock.skew));
  return { findings, ...(served !== undefined && { network: served }), ...(work && { work }) };
}

const WHY_NODE = 'work comes from the node, and solutions go there';
const WHY_NETWORK = 'the network is a part of the address at which a node gives work';
const WHY_WORK = 'without work there is nothing to mine';
const WHY_UPDATES = 'without one, pickaxe asks for work every few seconds, and more solutions come too late';

/** A missing report, or one that is not understood, is fine. */
function networkFindings(
  report: unknown,
  network: string | undefined,
  miner: MinerIdentity | undefined,
): NodeFinding[] {
  if (report === undefined)
    return [{ about: 'network', state: 'ok', what: 'the node does not report its configuration' }];
  return checkConfig(report, network, miner).map(({ state, reason, nodeConfiguration }) => ({
    about: 'network',
    state: state === 'warning' ? 'warning' : 'ok',
    what: reason,
    ...(nodeConfiguration && { nodeConfiguration: [...nodeConfiguration] }),
  }));
}

async function examineMining(
  http: NodeHttp,
  miner: MinerIdentity | undefined,
  stop: AbortSignal,
): Promise<{ findings: NodeFinding[]; work?: Work }> {
  const record = miner ? await attempt(() => getWork(http, miner, stop)) : {};
  const work = record.value && parseWork(record.value);
  const findings: NodeFinding[] = [];
  if (work) {
    findings.push({ about: 'work', state: 'ok', what: `gives work: chain ${work.chain}, height ${work.height}` });
  } else if (record.error) {
    const { fault, message, nodeConfiguration } = record.error;
    const entry = nodeConfiguration && { nodeConfiguration: [...nodeConfiguration] };
    // A busy node has work a moment later.
    const state = fault === 'busy' ? 'warning' : 'fault';
    return { findings: [{ about: 'work', state, what: message, why: WHY_WORK, ...entry }] };
  }
  const stream = await attempt(() => tryUpdates(http, work?.chain ?? FIRST_CHAIN, stop));
  const given = work && { work };
  if (!stream.error) {
    return { findings: [...findings, { about: 'updates', state: 'ok', what: 'announces New Cuts' }], ...given };
  }
  // When no work was asked for, a refused stream is the sign that there is no mining API.
  const state = !work && stream.error.fault === 'refused' ? 'fault' : 'warning';
  const what = `no update stream: ${stream.error.message}`;
  const why = state === 'fault' ? WHY_WORK : WHY_UPDATES;
  return { findings: [...findings, { about: 'updates', state, what, why }], ...given };
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

function clockFinding(skew: Skew | undefined): NodeFinding {
  if (!skew) return { about: 'clock', state: 'skipped', what: 'was not checked: the node sent no time' };
  const { leastUs, mostUs } = skew;
  const [offUs, direction] = leastUs > 0n ? [leastUs, 'ahead of'] : mostUs < 0n ? [-mostUs, 'behind'] : [0n, ''];
  if (offUs < TOLERATED_SKEW_US) return { about: 'clock', state: 'ok', what: 'agrees with the node’s' };
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

/* Examines all nodes that are configured. */

/** Examines one node; tests replace it. */
export type Ask = (question: NodeQuestion) => Promise<Examination>;

/** Is called with the work that a node or a pool gives. */
export type OnWork = (work: Work) => void;

/** @returns findings, with faults only if no node is left to mine on */
export async function examineNodes(
  { node, miner }: Pick<Config, 'node' | 'miner'>,
  ask: Ask = examineNode,
  onWork: OnWork = () => {},
) {
  const { urls = [], network } = node;
  if (urls.length === 0) {
    const what = 'no node is configured, so none was asked, and the clock was not checked';
    const why = 'pickaxe mine does not start without one';
    return [
      { about: 'node', state: 'fault', what, why, mend: 'run pickaxe init, or give --node URL' } satisfies Finding,
    ];
  }
  const { publicKeys = [], predicate, account } = miner;
  const identity =
    publicKeys.length === 0 ? undefined : { account: account ?? defaultAccount(publicKeys), predicate, publicKeys };
  const userAgent = `pickaxe/${version}`;
  const names = numberRepeated(urls.map(shownUrl));
  const each = await Promise.all(
    urls.map(async (url, index) =>
      findingsOf(node, names[index], ask, onWork, { url, network, miner: identity, userAgent }),
    ),
  );
  const canMine = each.some((findings) => findings.every(({ state }) => state !== 'fault'));
  const findings = each.flat().map((finding) => (canMine ? softened(finding) : finding));
  const risk = insecureTlsRisk({ node, pool: DEFAULTS.pool });
  return [
    ...findings,
    ...(risk ? [{ about: 'node', state: 'warning', ...risk } satisfies Finding] : []),
    ...(identity ? [] : [NO_KEY]),
  ];
}

const NO_KEY: Finding = {
  about: 'miner',
  state: 'fault',
  what: 'no public key is configured, so no work was asked for',
  why: 'pickaxe mine does not start without one, since rewards go to a key',
  mend: 'run pickaxe init, or give --public-key HEX; pickaxe keygen pickaxe-key.json makes a key',
};

async function findingsOf(
  node: Config['node'],
  name: string,
  ask: Ask,
  onWork: OnWork,
  question: NodeQuestion,
): Promise<Finding[]> {
  const { url } = question;
  try {
    const { findings, work } = await ask({ ...question, trust: nodeTrust(url, node) });
    if (work) onWork(work);
    return findings.map(({ about, what, ...rest }) => ({ ...rest, about: 'node', what: `${name} ${about}: ${what}` }));
  } catch (fault) {
    if (!(fault instanceof UsageError)) throw fault;
    return [
      {
        about: 'node',
        state: 'fault',
        what: fault.message,
        why: 'pickaxe mine does not start until this is corrected',
      },
    ];
  }
}
