/** Judges nodes by what was seen of them: pure. */

import { quote } from '../node/errors.ts';
import { type Look, STANDSTILL_MS, YOUNG_MS } from './look.ts';

/** How many blocks of each chain a node may be behind: about two minutes. */
const MOST_BEHIND = 4;
/** A smaller difference of clocks does no harm. */
const TOLERATED_SKEW_US = 2_000_000n;

export interface Seen {
  readonly look: Look;
  /** Its block at a height that all nodes have; undefined where that is not known. */
  readonly commonBlock?: string | undefined;
  /** Why it gives no work; undefined when it does, or was not asked. */
  readonly noWork?: string | undefined;
}

interface Problem {
  /** With a fault, mining there is of no use. */
  readonly state: 'fault' | 'warning';
  /** What follows the node's name in a sentence. */
  readonly what: string;
}

export interface Judgement {
  /** Whether the node has said what is needed to judge it. One that does not answer may be as good as any other. */
  readonly hasAnswered: boolean;
  /** How many blocks of each chain it is behind the node that is furthest; 0 while its newest block is young. */
  readonly behind?: number;
  readonly problems: readonly Problem[];
}

/**
 * Any node can claim any height and weight, so no claim makes another node faulty by itself. What a node's own newest
 * block says must fit, and between branches most nodes decide.
 * @param network the wanted one; empty where it is not known, as with a URL whose path does not name it
 * @param nowUs our clock, in µs since 1970
 * @returns a judgement for each node, in the same order
 */
export function judge(nodes: readonly Seen[], network: string, nowUs: bigint): Judgement[] {
  const usable = nodes.filter(({ look }) => look.cut && !isOther(look.network, network));
  const behindOf = ({ look }: Seen) => blocksBehind(look, usable, nowUs);
  // Nodes that the rest of the network has left behind have no vote.
  const voters = usable.filter((node) => behindOf(node) <= MOST_BEHIND);
  const branch = branchOfMost(voters);
  return nodes.map((node) => judgeOne(node, { network, nowUs, branch, behindOf }));
}

/** The block of the right branch; null where as many nodes follow another branch; undefined where nobody says. */
type Branch = string | null | undefined;

function branchOfMost(voters: readonly Seen[]): Branch {
  const votes = new Map<string, number>();
  for (const { commonBlock } of voters) if (commonBlock) votes.set(commonBlock, (votes.get(commonBlock) ?? 0) + 1);
  const [most, next] = [...votes].sort(([, a], [, b]) => b - a);
  return most && next && most[1] === next[1] ? null : most?.[0];
}

/**
 * While a node gets new blocks, it keeps up, whatever others claim: one that is behind has only old ones.
 * @returns how many blocks of each chain the node is behind the one that is furthest
 */
function blocksBehind(look: Look, peers: readonly Seen[], nowUs: bigint): number {
  if (ageMsOf(look, nowUs) < YOUNG_MS) return 0;
  return Math.max(0, ...peers.map((peer) => headsBetween(look, peer.look)));
}

/**
 * @returns how much higher the other node's head is, on the chain in the middle of those that both have. Both have a
 *   cut
 */
function headsBetween({ cut }: Look, { cut: other }: Look): number {
  const missing = [...cut!.heads].flatMap(([chain, { height }]) => {
    const head = other!.heads.get(chain);
    return head ? [Number(head.height - height)] : [];
  });
  return missing.sort((a, b) => a - b)[Math.floor(missing.length / 2)] ?? 0;
}

/** @returns how old a node's newest block is; 0 when that is not known */
function ageMsOf({ newestBlockUs, skew }: Look, nowUs: bigint): number {
  // Our clock may be wrong, and then every node would seem to stand still.
  const theirNowUs = nowUs - (skew && skew.mostUs > 0n ? skew.mostUs : 0n);
  return newestBlockUs === undefined ? 0 : Number((theirNowUs - newestBlockUs) / 1000n);
}

interface Standard {
  readonly network: string;
  readonly nowUs: bigint;
  readonly branch: Branch;
  readonly behindOf: (node: Seen) => number;
}

function judgeOne(node: Seen, { network, nowUs, branch, behindOf }: Standard): Judgement {
  const { look, commonBlock, noWork } = node;
  const { cut, skew } = look;
  if (isOther(look.network, network)) {
    return { hasAnswered: true, problems: [fault(`serves the network ${quote(look.network ?? '')}, not ${network}`)] };
  }
  if (look.fault !== undefined || !cut) {
    return { hasAnswered: false, problems: [fault(`does not answer: ${look.fault}`)] };
  }
  const problems: Problem[] = [];
  const behind = behindOf(node);
  if (behind > MOST_BEHIND) problems.push(fault(`is ${behind} blocks behind on each chain`));
  const ageMs = ageMsOf(look, nowUs);
  if (ageMs >= STANDSTILL_MS) {
    problems.push(fault(`stands still: no chain has grown for ${formatAge(ageMs)}`));
  }
  if (commonBlock !== undefined && branch === null) {
    problems.push(
      fault('follows one branch of the ledger, and as many nodes follow another one: configure one more node'),
    );
  } else if (commonBlock !== undefined && branch !== undefined && commonBlock !== branch) {
    problems.push(fault('follows another branch of the ledger than most nodes'));
  }
  if (noWork !== undefined) problems.push(fault(`gives no work: ${noWork}`));
  if (skew && (skew.leastUs > TOLERATED_SKEW_US || -skew.mostUs > TOLERATED_SKEW_US)) {
    const [offUs, direction] = skew.leastUs > 0n ? [skew.leastUs, 'behind'] : [-skew.mostUs, 'ahead of'];
    problems.push({ state: 'warning', what: `has a clock at least ${offUs / 1_000_000n} s ${direction} ours` });
  }
  return { hasAnswered: true, behind, problems };
}

/** The units of long times, in minutes, the longest first. A year has 365 days. */
const UNITS = [
  ['years', 525_600],
  ['days', 1_440],
  ['hours', 60],
  ['minutes', 1],
] as const;

/** @returns a time in the longest unit of which it has at least two: `11 minutes`, `3 days` */
function formatAge(ms: number): string {
  const minutes = ms / 60_000;
  const [unit, length] = UNITS.find(([, length]) => minutes >= 2 * length) ?? UNITS[3];
  return `${Math.floor(minutes / length)} ${unit}`;
}

/**
 * @returns whether a node is known to serve another network than the wanted one, which is empty where it is not known
 */
export function isOther(served: string | undefined, wanted: string): boolean {
  return served !== undefined && wanted !== '' && served !== wanted;
}

function fault(what: string): Problem {
  return { state: 'fault', what };
}

/*
 * Decides from look to look whether a node is healthy. A node near a limit must not be left and returned to again and
 * again, so one look alone changes nothing.
 */

/** How many looks in a row it takes to change what is thought of a node. */
const LOOKS = 2;

export class NodeHealth {
  #isHealthy = true;
  /** How many looks in a row have contradicted what is thought of the node. */
  #contradictions = 0;

  /**
   * Takes note of a look. One at a node that did not answer says nothing, and is left out.
   * @returns `doubtful` when a healthy node has had a fault for the first time, and another look should follow soon
   */
  looked(isFaulty: boolean): 'unchanged' | 'doubtful' | 'unhealthy' | 'healthy' {
    if (isFaulty !== this.#isHealthy) {
      this.#contradictions = 0;
      return 'unchanged';
    }
    this.#contradictions += 1;
    if (this.#contradictions < LOOKS) return isFaulty ? 'doubtful' : 'unchanged';
    this.#isHealthy = !isFaulty;
    this.#contradictions = 0;
    return isFaulty ? 'unhealthy' : 'healthy';
  }
}
