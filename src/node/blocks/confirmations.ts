/**
 * Decides from the answers of nodes what has become of a block. Pure.
 *
 * A look is one node's answer about the block. Nodes can have different chains for seconds, and the heads of cuts are
 * often orphaned. So a block becomes won, settled or orphaned only when the looks of all nodes whose chains have grown
 * beyond the block's height have agreed for some time. A decision stands until later looks have contradicted it for the
 * same time. Blocks are watched until they are deeper than any known reorganisation.
 *
 * A block whose answer was lost counts as accepted only when some node's chain has it, or when a node keeps it beside
 * its chain.
 */

import type { BlockState } from './fate.ts';

export type BlockLook =
  /** The node's chain does not reach the block's height yet. */
  | { readonly node: string; readonly chainHas: 'not-yet' }
  /** The node's chain has the block, and `depth` more blocks on top of it. */
  | { readonly node: string; readonly chainHas: 'ours'; readonly depth: number }
  /** The node's chain has the block `winner` in the block's place, and `depth` more blocks on top of `winner`. */
  | {
      readonly node: string;
      readonly chainHas: 'another';
      readonly depth: number;
      readonly winner: string;
      /** Whether the node keeps the block beside its chain; absent if unknown. */
      readonly keepsOurs?: boolean;
    };

export interface Standing {
  readonly state: BlockState;
  /**
   * Last known number of blocks on top of the block, or of the block in its place. It is less than `WATCHED_DEPTH`
   * until looks have shown `WATCHED_DEPTH` for some time.
   */
  readonly depth: number;
  readonly nodesDisagree: boolean;
  /** For a block off the chain: the hash of the block in its place. */
  readonly winner?: string;
}

/**
 * A series of consecutive looks that have led to the same verdict. Its times are monotonic (`Moment.nowMs`), and are
 * lost when the process ends.
 */
export interface Agreement {
  readonly verdict: Verdict['verdict'];
  /** Time of the first look of the series. */
  readonly sinceMs: number;
  /**
   * Time from which the looks have also shown enough blocks on top to settle the block. Absent if they do not show
   * enough.
   */
  readonly settledSinceMs?: number;
  /**
   * Time from which the looks have also shown enough blocks on top to end the watch. Absent if they do not show enough.
   */
  readonly deepSinceMs?: number;
}

interface Moment {
  /** Time on the monotonic clock. */
  readonly nowMs: number;
  /** Time since the block was sent to the node. */
  readonly ageMs: number;
}

interface Rules {
  /** Number of blocks that must be on top of a block to settle it. */
  readonly settledDepth: number;
  /** Like `APART_MS`, but shorter on a network whose chains grow faster than those of real networks. */
  readonly apartMs: number;
}

export const JUST_FOUND: Standing = { state: 'pending', depth: 0, nodesDisagree: false };
export const UNANSWERED: Standing = { state: 'unanswered', depth: 0, nodesDisagree: false };

/**
 * A settled block is watched until it has this many blocks on top. A block off the chain is watched until the block in
 * its place has this many. A chain grows by this number of blocks in an hour.
 */
export const WATCHED_DEPTH = 120;
/**
 * Age at which a block becomes unknown, if no node's chain has shown until then what becomes of it. An unanswered block
 * stays unanswered. From this age on, the block is still watched, but nodes are asked less often.
 */
export const UNKNOWN_AFTER_MS = 3_600_000;
/**
 * Time for which looks must lead to the same verdict before a block counts as on the chain, settled or off the chain,
 * or before nodes count as disagreeing about it. The time is long enough for most rival blocks: if two miners find
 * blocks with the same parent, the second block comes within three seconds in half of all cases.
 */
export const APART_MS = 10_000;

export const UNDECIDED: readonly BlockState[] = ['pending', 'contested', 'unknown', 'unanswered'];
const URGENT: readonly BlockState[] = ['pending', 'contested', 'unanswered', 'won'];
export const ON_CHAIN: readonly BlockState[] = ['won', 'settled'];
export const OFF_CHAIN: readonly BlockState[] = ['orphaned', 'never-entered', 'lost'];

type Verdict =
  | { readonly verdict: 'nobody-knows' | 'contested' | 'disagreement' }
  | { readonly verdict: 'ours'; readonly depth: number }
  | {
      readonly verdict: 'another';
      readonly depth: number;
      readonly winner: string;
      /**
       * True if any node keeps the block beside its chain, and false if no node does. Undefined if no node is known to
       * keep it, and some nodes have not answered.
       */
      readonly keepsOurs: boolean | undefined;
    };

/**
 * @param agreement the agreement of the previous looks; undefined before the first look
 * @param looks the present looks, one for each node that answered
 * @returns the new standing, which may be equal to the given one, and the new agreement
 */
export function judge(
  standing: Standing,
  agreement: Agreement | undefined,
  looks: readonly BlockLook[],
  moment: Moment,
  rules: Rules,
): { readonly standing: Standing; readonly agreement: Agreement } {
  const verdict = verdictOf(looks);
  const now = agreementWith(agreement, verdict, moment.nowMs, rules);
  return { standing: decide(standing, verdict, now, moment, rules), agreement: now };
}

/** Whether nodes are asked about the block, because its state may still change. */
export function isWatched({ state, depth }: Standing): boolean {
  return UNDECIDED.includes(state) || state === 'won' || depth < WATCHED_DEPTH;
}

/**
 * Whether a decision about a block is due soon. If so, nodes are asked more often. After an hour a decision is rarely
 * due soon: for example, a node may stay on another branch.
 * @param ageMs time since the block was sent to the node
 */
export function isUrgent({ state }: Standing, ageMs: number): boolean {
  return URGENT.includes(state) && ageMs < UNKNOWN_AFTER_MS;
}

/** Whether the change must be written to the block log. A change of depth alone matters only if it ends the watch. */
export function isNews(before: Standing, after: Standing): boolean {
  return (
    before.state !== after.state ||
    before.nodesDisagree !== after.nodesDisagree ||
    isWatched(before) !== isWatched(after)
  );
}

/**
 * A block at the head of a node's chain proves nothing: 18 of 26 orphans were once the head of a cut. So looks without
 * a block on top decide nothing. They can only make the block contested.
 */
function verdictOf(looks: readonly BlockLook[]): Verdict {
  const ours = looks.filter((look) => look.chainHas === 'ours' && look.depth > 0) as (BlockLook & {
    chainHas: 'ours';
  })[];
  const others = looks.filter((look) => look.chainHas === 'another' && look.depth > 0) as (BlockLook & {
    chainHas: 'another';
  })[];
  if (ours.length > 0 && others.length > 0) return { verdict: 'disagreement' };
  if (ours.length > 0) return { verdict: 'ours', depth: least(ours) };
  if (others.length > 0) {
    return { verdict: 'another', depth: least(others), winner: others[0].winner, keepsOurs: someKeepsOurs(others) };
  }
  return { verdict: looks.some(({ chainHas }) => chainHas === 'another') ? 'contested' : 'nobody-knows' };
}

function someKeepsOurs(looks: readonly { readonly keepsOurs?: boolean }[]): boolean | undefined {
  if (looks.some(({ keepsOurs }) => keepsOurs === true)) return true;
  return looks.every(({ keepsOurs }) => keepsOurs === false) ? false : undefined;
}

function least(looks: readonly { readonly depth: number }[]): number {
  return Math.min(...looks.map(({ depth }) => depth));
}

function agreementWith(
  before: Agreement | undefined,
  verdict: Verdict,
  nowMs: number,
  { settledDepth }: Rules,
): Agreement {
  const same = before?.verdict === verdict.verdict ? before : undefined;
  const depth = 'depth' in verdict ? verdict.depth : 0;
  return {
    verdict: verdict.verdict,
    sinceMs: same?.sinceMs ?? nowMs,
    ...(depth >= settledDepth && { settledSinceMs: same?.settledSinceMs ?? nowMs }),
    ...(depth >= WATCHED_DEPTH && { deepSinceMs: same?.deepSinceMs ?? nowMs }),
  };
}

function decide(
  standing: Standing,
  verdict: Verdict,
  agreement: Agreement,
  { nowMs, ageMs }: Moment,
  { apartMs }: Rules,
): Standing {
  const lasted = (sinceMs: number | undefined) => sinceMs !== undefined && nowMs - sinceMs >= apartMs;
  const isUndecided = UNDECIDED.includes(standing.state);
  const isUnanswered = standing.state === 'unanswered';
  // A depth that ends the watch takes effect only after some time, like every other decision.
  const depthOf = (depth: number) => (lasted(agreement.deepSinceMs) ? depth : Math.min(depth, WATCHED_DEPTH - 1));
  switch (verdict.verdict) {
    case 'ours': {
      if (!lasted(agreement.sinceMs)) return standing;
      const settled = standing.state === 'settled' || lasted(agreement.settledSinceMs);
      const depth = Math.max(depthOf(verdict.depth), ON_CHAIN.includes(standing.state) ? standing.depth : 0);
      return { state: settled ? 'settled' : 'won', depth, nodesDisagree: false };
    }
    case 'another': {
      if (!lasted(agreement.sinceMs)) return standing;
      const state = whereAnotherWon(standing.state, verdict.keepsOurs);
      if (state === 'unanswered') return standing;
      const depth = Math.max(depthOf(verdict.depth), OFF_CHAIN.includes(standing.state) ? standing.depth : 0);
      return { state, depth, nodesDisagree: false, winner: verdict.winner };
    }
    case 'disagreement':
      if (!lasted(agreement.sinceMs)) return standing;
      return { ...standing, state: isUndecided ? 'contested' : standing.state, nodesDisagree: true };
    case 'contested':
      return isUndecided && !isUnanswered ? { ...standing, state: 'contested' } : standing;
    case 'nobody-knows':
      if (!isUndecided || isUnanswered) return standing;
      return { ...standing, state: ageMs >= UNKNOWN_AFTER_MS ? 'unknown' : 'pending', nodesDisagree: false };
  }
}

/**
 * @param keepsOurs whether any node whose chain has another block keeps this block, too; undefined if unknown
 * @returns the state of a block in whose place the chain has another block
 */
function whereAnotherWon(before: BlockState, keepsOurs: boolean | undefined): BlockState {
  if (before === 'orphaned' || ON_CHAIN.includes(before) || keepsOurs === true) return 'orphaned';
  if (before === 'unanswered' || before === 'lost') return keepsOurs === false ? 'lost' : before;
  // While it is unknown whether nodes keep the block, it counts as kept.
  return keepsOurs === false ? 'never-entered' : 'orphaned';
}

/**
 * @param before the previous standing; without it, the text is about the present standing alone
 * @param isRefused whether the node refused the block, although nodes have it
 * @returns clauses for people; empty if the name of the state is enough
 */
export function describeStanding(standing: Standing, before?: Standing, isRefused = false): string {
  const { state, nodesDisagree, winner } = standing;
  const place = winner === undefined ? 'another block has its place' : `the block ${winner} has its place`;
  const parts = {
    pending: [],
    contested: nodesDisagree ? [] : ['another block has its height, and nothing is on top of either'],
    unknown: ['for an hour no node could tell'],
    unanswered: ['the answer of the node was lost, and only the chain can tell whether the node took it'],
    won: [],
    settled: [],
    orphaned: [place],
    'never-entered': [`${place}, and no node that was asked has kept ours`],
    lost: [`${place}, no node that was asked has kept ours, and none has said that it took it`],
  }[state];
  const wasOnChain = before !== undefined && ON_CHAIN.includes(before.state);
  const reorganised =
    wasOnChain && !ON_CHAIN.includes(state) ? [`it was ${before.state}: the chain was reorganised`] : [];
  const wasTaken = before?.state === 'unanswered' && state !== 'unanswered' && state !== 'lost';
  const taken = wasTaken ? ['the node has taken it, although its answer was lost'] : [];
  const refused = isRefused ? ['the node answered that it refused the block, but a node has it'] : [];
  return [...reorganised, ...taken, ...refused, ...parts, ...(nodesDisagree ? ['nodes disagree about it'] : [])].join(
    '; ',
  );
}
