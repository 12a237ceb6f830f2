/** Judges nodes by what was seen of them: pure. */

import { type Look, STANDSTILL_MS } from './look.ts';

/** How many blocks of each chain a node may be behind: about two minutes. */
const MOST_BEHIND = 4;
/** A smaller difference of clocks does no harm. */
const TOLERATED_SKEW_US = 2_000_000n;

export interface Seen {
  readonly look: Look;
  /** Strangers are not compared with: they may say anything. */
  readonly isConfigured: boolean;
  /** Its block at a height that all nodes have; undefined where that is not known. */
  readonly commonBlock?: string | undefined;
  /** Why it gives no work; undefined when it does, or was not asked. */
  readonly noWork?: string | undefined;
}

export interface Problem {
  /** With a fault, mining there is of no use. */
  readonly state: 'fault' | 'warning';
  /** What follows the node's name in a sentence. */
  readonly what: string;
}

export interface Judgement {
  /** Whether the node has said what is needed to judge it. One that does not answer may be as good as any other. */
  readonly hasAnswered: boolean;
  /** How many blocks of each chain it is behind the best configured node, rounded down. */
  readonly behind?: number;
  readonly problems: readonly Problem[];
}

/**
 * @param network the wanted one; empty where it is not known, as with a URL whose path does not name it
 * @param nowUs our clock, in µs since 1970
 * @returns a judgement for each node, in the same order
 */
export function judge(nodes: readonly Seen[], network: string, nowUs: bigint): Judgement[] {
  const reference = referenceOf(nodes, network);
  return nodes.map((node) => judgeOne(node, reference, network, nowUs));
}

/**
 * The best of the configured nodes, or of all if no configured one has answered. Of those that keep up with the heaviest one,
 * most decide which branch is the right one: as long as a fork is young, either branch can be the heavier one.
 */
function referenceOf(nodes: readonly Seen[], network: string): Seen | undefined {
  const usable = nodes.filter(({ look }) => look.cut && !isOther(look.network, network));
  const configured = usable.filter(({ isConfigured }) => isConfigured);
  const heaviestFirst = (configured.length > 0 ? configured : usable).sort(byWeight);
  const [heaviest] = heaviestFirst;
  const voters = heaviestFirst.filter((node) => node.commonBlock && blocksBehind(node, heaviest) <= MOST_BEHIND);
  const [most = [heaviest]] = voters
    .map((voter) => voters.filter(({ commonBlock }) => commonBlock === voter.commonBlock))
    .sort((one, other) => other.length - one.length);
  return most[0];
}

function byWeight({ look: one }: Seen, { look: other }: Seen): number {
  return one.cut!.weight === other.cut!.weight ? 0 : one.cut!.weight > other.cut!.weight ? -1 : 1;
}

/** @returns how many blocks of each chain the first node is behind the other one, rounded down. Both have a cut */
function blocksBehind({ look: { cut } }: Seen, { look: other }: Seen): number {
  const missing = other.cut!.height - cut!.height;
  return missing > 0n ? Number(missing / BigInt(cut!.heads.size)) : 0;
}

function judgeOne(node: Seen, reference: Seen | undefined, network: string, nowUs: bigint): Judgement {
  const { look, isConfigured, commonBlock, noWork } = node;
  const { cut, newestBlockUs, skew } = look;
  if (isOther(look.network, network)) {
    return { hasAnswered: true, problems: [fault(`serves the network ${look.network}, not ${network}`)] };
  }
  if (look.fault !== undefined || !cut) {
    return { hasAnswered: false, problems: [fault(`does not answer: ${look.fault}`)] };
  }
  const problems: Problem[] = [];
  const behind = blocksBehind(node, reference!);
  if (behind > MOST_BEHIND) problems.push(fault(`is ${behind} blocks behind on each chain`));
  // Our clock may be wrong, and then every node would seem to stand still.
  const theirNowUs = nowUs - (skew && skew.mostUs > 0n ? skew.mostUs : 0n);
  const ageMs = newestBlockUs === undefined ? 0 : Number((theirNowUs - newestBlockUs) / 1000n);
  if (ageMs >= STANDSTILL_MS) {
    problems.push(fault(`stands still: no chain has grown for ${Math.floor(ageMs / 60_000)} minutes`));
  }
  const common = reference!.commonBlock;
  if (commonBlock !== undefined && common !== undefined && commonBlock !== common) {
    problems.push(fault('follows another branch of the ledger than the best node'));
  }
  // Real nodes do not give work on the port by which they are discovered.
  if (noWork !== undefined)
    problems.push({ state: isConfigured ? 'fault' : 'warning', what: `gives no work: ${noWork}` });
  if (skew && (skew.leastUs > TOLERATED_SKEW_US || -skew.mostUs > TOLERATED_SKEW_US)) {
    const [offUs, direction] = skew.leastUs > 0n ? [skew.leastUs, 'behind'] : [-skew.mostUs, 'ahead of'];
    problems.push({ state: 'warning', what: `has a clock at least ${offUs / 1_000_000n} s ${direction} ours` });
  }
  return { hasAnswered: true, behind, problems };
}

/** @returns whether a node is known to serve another network than the wanted one, which is empty where it is not known */
export function isOther(served: string | undefined, wanted: string): boolean {
  return served !== undefined && wanted !== '' && served !== wanted;
}

function fault(what: string): Problem {
  return { state: 'fault', what };
}
