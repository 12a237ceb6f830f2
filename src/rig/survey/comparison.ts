/** Compares nodes of one network with each other, and finds the problems of each node. */

import type { Problem } from '../../base/finding.ts';
import type { Clock } from '../../base/system/clock.ts';
import { otherNetworkText } from '../../node/client/config.ts';
import { NodeError, unlessMissing } from '../../node/http/node-error.ts';
import type { Cut } from '../../protocol/ledger/cut.ts';
import { blockHash } from '../../protocol/ledger/header.ts';
import { encodeBase64url } from '../../protocol/ledger/json.ts';
import { clockProblem } from './examine-node.ts';
import { type Look, type LookedAt, lookAt, YOUNG_MS } from './look.ts';

export interface Candidate {
  /** The name of the node for people, without secrets. */
  readonly name: string;
  /** The node's client, or the reason why it has none. */
  readonly api: LookedAt | string;
  /**
   * Asks the node for work. Absent if the settings name no account to mine for.
   * @returns the reason why the node gives no work; undefined if it gives work
   */
  readonly whyNoWork?: (() => Promise<string | undefined>) | undefined;
}

export interface Surveyed extends Assessment {
  readonly candidate: Candidate;
  readonly look: Look;
  /** Whether the node gives work; absent if it was not asked for work. */
  readonly givesWork?: boolean;
}

/**
 * @param network the expected network; an empty text if it is not known (the URLs of nodes need not contain it)
 * @param clock this machine's clock, with which those of the nodes and the age of their blocks are compared
 * @returns an assessment of each node, in the same order
 */
export async function survey(
  candidates: readonly Candidate[],
  network: string,
  clock: Clock,
  stop?: AbortSignal,
): Promise<Surveyed[]> {
  const nowUs = clock.nowUs();
  const looks = await Promise.all(
    candidates.map(({ api }): Look | Promise<Look> =>
      typeof api === 'string' ? { fault: api } : lookAt(api, clock, stop),
    ),
  );
  const blocks = await blocksOf(candidates, looks, network, stop);
  // A node that does not answer is not asked for work, because the request would fail for the same reason.
  const work = await Promise.all(
    candidates.map(async ({ whyNoWork }, i) =>
      whyNoWork && looks[i].fault === undefined ? { reason: await whyNoWork() } : undefined,
    ),
  );
  const seen = candidates.map((_, i): Seen => {
    return { look: looks[i], commonBlock: blocks[i], noWork: work[i]?.reason };
  });
  return assess(seen, network, nowUs).map((assessment, i) => {
    const asked = work[i] && { givesWork: work[i].reason === undefined };
    return { ...assessment, ...asked, candidate: candidates[i], look: looks[i] };
  });
}

async function blocksOf(
  candidates: readonly Candidate[],
  looks: readonly Look[],
  network: string,
  stop?: AbortSignal,
): Promise<(string | undefined)[]> {
  const followers = candidates.flatMap(({ api }, i) => {
    const { cut, network: served } = looks[i];
    return typeof api !== 'string' && cut && !otherNetworkText(served, network) ? [{ api, cut, i }] : [];
  });
  const found = await commonBlocks(followers, stop);
  return candidates.map((_, i) => found[followers.findIndex((follower) => follower.i === i)]);
}

/** Depth in blocks at which all nodes must have the same block. Nearer to the head, nodes may differ for seconds. */
const DEPTH = 6n;

interface Follower {
  readonly api: LookedAt;
  readonly cut: Cut;
}

/**
 * Asks the nodes for their blocks at one height, on the first chain that all nodes have. The height is `DEPTH` below
 * the median of the heads' heights. The lowest head would be unsuitable: at the height of a node that is years behind,
 * nodes on both sides of a later fork have the same block.
 * @returns the hash of each node's block at this height, 43 characters of base64url; undefined where it is not known
 */
async function commonBlocks(
  followers: readonly Follower[],
  stop?: AbortSignal,
): Promise<readonly (string | undefined)[]> {
  const chains = [...(followers[0]?.cut.heads.keys() ?? [])];
  const chain = chains.find((each) => followers.every(({ cut }) => cut.heads.has(each)));
  if (chain === undefined) return followers.map(() => undefined);
  const height = median(followers.map(({ cut }) => cut.heads.get(chain)!.height)) - DEPTH;
  if (height < 0n) return followers.map(() => undefined);
  return await Promise.all(
    followers.map(async ({ api, cut }) => {
      const head = cut.heads.get(chain);
      return head && head.height >= height ? await ancestorAt(api, chain, head.hash, height, stop) : undefined;
    }),
  );
}

/** @returns the median. Of an even number of heights, the higher one of the two in the middle */
function median(heights: readonly bigint[]): bigint {
  return heights.toSorted((a, b) => Number(a - b))[Math.floor(heights.length / 2)];
}

/**
 * @returns the hash of the block's ancestor at a height, 43 characters of base64url; undefined if the node does not
 *   return it
 */
async function ancestorAt(
  api: LookedAt,
  chain: number,
  hash: Uint8Array,
  height: bigint,
  stop?: AbortSignal,
): Promise<string | undefined> {
  const bounds = { upper: [hash], lower: [] };
  const range = { minHeight: height, maxHeight: height };
  try {
    const found =
      (await unlessMissing(first(api.hashBranch(chain, bounds, range, stop)))) ??
      (await unlessMissing(first(api.headerBranch(chain, bounds, range, stop)).then((it) => it && blockHash(it))));
    return found && encodeBase64url(found);
  } catch (error) {
    if (error instanceof NodeError) return undefined;
    throw error;
  }
}

async function first<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}

/** Maximum number of blocks that a node may be behind on each chain: about two minutes. */
const MOST_BEHIND = 4;
/**
 * A node stands still if its newest block is at least this old. Each chain has a block about every 30 s, so a network
 * that works always has a younger block.
 */
const STANDSTILL_MS = 600_000;

export interface Seen {
  readonly look: Look;
  /** Hash of the node's block at the height that is the same for all nodes; undefined if it is not known. */
  readonly commonBlock?: string | undefined;
  /** Why the node gives no work; undefined if it gives work, or if it was not asked for work. */
  readonly noWork?: string | undefined;
}

export interface Assessment {
  /**
   * Whether the node has given the answers that an assessment needs. If not, the assessment does not show whether
   * mining on the node is useful.
   */
  readonly hasAnswered: boolean;
  /**
   * Number of blocks per chain by which the node is behind the furthest node; 0 while its own newest block is young.
   * Absent if the node did not answer or serves another network.
   */
  readonly behind?: number;
  /**
   * The problems of the node. A problem with the state `fault` makes mining on the node useless, and its `what` is a
   * clause that follows the node's name.
   */
  readonly problems: readonly Problem[];
}

/**
 * Assesses nodes by comparing them. Any node can claim any height and weight, so such a claim alone is no evidence
 * against other nodes: a node is behind only if its own newest block is old, too. If nodes follow different branches,
 * the branch of most nodes is right.
 * @param network as for `survey`
 * @param nowUs this machine's time, in µs since the UNIX epoch
 * @returns an assessment of each node, in the same order
 */
export function assess(nodes: readonly Seen[], network: string, nowUs: bigint): Assessment[] {
  const usable = nodes.filter(({ look }) => look.cut && !otherNetworkText(look.network, network));
  const behindOf = ({ look }: Seen) => blocksBehind(look, usable, nowUs);
  // Nodes that are too far behind do not count when the branch of most nodes is determined.
  const voters = usable.filter((node) => behindOf(node) <= MOST_BEHIND);
  const branch = branchOfMost(voters);
  return nodes.map((node) => assessOne(node, { network, nowUs, branch, behindOf }));
}

/** Hash of the block that most nodes have; null if as many nodes have another block; undefined if none is known. */
type Branch = string | null | undefined;

function branchOfMost(voters: readonly Seen[]): Branch {
  const votes = new Map<string, number>();
  for (const { commonBlock } of voters) if (commonBlock) votes.set(commonBlock, (votes.get(commonBlock) ?? 0) + 1);
  const [most, next] = [...votes].sort(([, a], [, b]) => b - a);
  return most && next && most[1] === next[1] ? null : most?.[0];
}

/**
 * @returns the number of blocks per chain by which the node is behind the furthest node of `peers`; 0 if its own newest
 *   block is young, whatever other nodes claim
 */
function blocksBehind(look: Look, peers: readonly Seen[], nowUs: bigint): number {
  if (ageMsOf(look, nowUs) < YOUNG_MS) return 0;
  return Math.max(0, ...peers.map((peer) => headsBetween(look, peer.look)));
}

/**
 * @returns by how many blocks the heads of `other` are higher: the median for the chains that both nodes have. Both
 *   looks must have a cut
 */
function headsBetween({ cut }: Look, { cut: other }: Look): number {
  const missing = [...cut!.heads].flatMap(([chain, { height }]) => {
    const head = other!.heads.get(chain);
    return head ? [Number(head.height - height)] : [];
  });
  return missing.sort((a, b) => a - b)[Math.floor(missing.length / 2)] ?? 0;
}

/** @returns the age of a node's newest block in ms; 0 if it is not known */
function ageMsOf({ newestBlockUs, skew }: Look, nowUs: bigint): number {
  // If this machine's clock is ahead, every node seems to stand still. Therefore the largest possible lead over the
  // node's clock is subtracted.
  const theirNowUs = nowUs - (skew && skew.mostUs > 0n ? skew.mostUs : 0n);
  return newestBlockUs === undefined ? 0 : Number((theirNowUs - newestBlockUs) / 1000n);
}

interface Standard {
  readonly network: string;
  readonly nowUs: bigint;
  readonly branch: Branch;
  readonly behindOf: (node: Seen) => number;
}

function assessOne(node: Seen, { network, nowUs, branch, behindOf }: Standard): Assessment {
  const { look, commonBlock, noWork } = node;
  const { cut, skew } = look;
  const other = otherNetworkText(look.network, network);
  if (other !== undefined) return { hasAnswered: true, problems: [fault('network', other)] };
  if (look.fault !== undefined || !cut) {
    return { hasAnswered: false, problems: [fault('connection', `does not answer: ${look.fault}`)] };
  }
  const problems: Problem[] = [];
  const behind = behindOf(node);
  if (behind > MOST_BEHIND) problems.push(fault('ledger', `is ${behind} blocks behind on each chain`));
  const ageMs = ageMsOf(look, nowUs);
  if (ageMs >= STANDSTILL_MS) {
    problems.push(fault('ledger', `stands still: no chain has grown for ${formatAge(ageMs)}`));
  }
  if (commonBlock !== undefined && branch === null) {
    const what = 'follows one branch of the ledger, and as many nodes follow another one: configure one more node';
    problems.push(fault('ledger', what));
  } else if (commonBlock !== undefined && branch !== undefined && commonBlock !== branch) {
    problems.push(fault('ledger', 'follows another branch of the ledger than most nodes'));
  }
  if (noWork !== undefined) problems.push(fault('work', `gives no work: ${noWork}`));
  const clock = skew && clockProblem(skew);
  if (clock) problems.push(clock);
  return { hasAnswered: true, behind, problems };
}

/** Units of time and their lengths in minutes, the longest first. A year has 365 days. */
const UNITS = [
  ['years', 525_600],
  ['days', 1_440],
  ['hours', 60],
  ['minutes', 1],
] as const;

/** @returns the time, such as `3 days`, in the longest unit that gives at least 2; in minutes if none does */
function formatAge(ms: number): string {
  const minutes = ms / 60_000;
  const [unit, length] = UNITS.find(([, length]) => minutes >= 2 * length) ?? UNITS[3];
  return `${Math.floor(minutes / length)} ${unit}`;
}

function fault(about: string, what: string): Problem {
  return { about, state: 'fault', what };
}
