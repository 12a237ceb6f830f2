/**
 * What has become of a block, from what nodes say of it. Pure.
 *
 * Nodes differ for seconds, and heads of cuts are often orphaned, so nothing is decided on one look: a block is won,
 * settled or orphaned only when looks some time apart agree, of all nodes that can tell. What was decided stays until
 * such looks say otherwise. Blocks are watched until they are so deep that no reorganisation has ever reached them.
 *
 * A block whose answer was lost is not known to be accepted until some node's chain has it, or a node keeps it beside
 * its chain.
 */

import type { BlockState } from '../events/vocabulary.ts';

/** What one node's chain says of a block at one moment. */
export type Look =
  /** Its chain does not reach the block's height yet. */
  | { readonly node: string; readonly says: 'not-yet' }
  /** Its chain has the block, and `depth` more on top of it. */
  | { readonly node: string; readonly says: 'ours'; readonly depth: number }
  /** Its chain has the block `winner` at that height, and `depth` more on top of that one. */
  | {
      readonly node: string;
      readonly says: 'another';
      readonly depth: number;
      readonly winner: string;
      /** Whether the node also keeps ours; absent where that is not known. */
      readonly keepsOurs?: boolean;
    };

/** What is known of a block. */
export interface Standing {
  readonly state: BlockState;
  /** Number of blocks on top of it, or of the one in its place, at the last look at which that was known. */
  readonly depth: number;
  /** Whether nodes contradict each other. */
  readonly nodesDisagree: boolean;
  /** The hash of the block in its place, while there is one. */
  readonly winner?: string;
}

/** Since when looks have said the same without a break. It is forgotten between runs. */
export interface Agreement {
  readonly verdict: Verdict['verdict'];
  readonly sinceMs: number;
  /** Since when they were that deep as well. */
  readonly settledSinceMs?: number;
  readonly deepSinceMs?: number;
}

interface Moment {
  /** A clock that never jumps. */
  readonly nowMs: number;
  /** Time since the block was accepted. */
  readonly ageMs: number;
}

interface Rules {
  /** Number of blocks that must be on top of a block to settle it. */
  readonly settledDepth: number;
  /** How far apart two looks must be to decide something. */
  readonly apartMs: number;
}

/** A block that a node has just accepted. */
export const JUST_FOUND: Standing = { state: 'pending', depth: 0, nodesDisagree: false };
/** A block whose answer was just lost. */
export const UNANSWERED: Standing = { state: 'unanswered', depth: 0, nodesDisagree: false };

/** Number of blocks on top until which blocks and orphans are watched: an hour. */
export const WATCHED_DEPTH = 120;
/** Time after which a block is called unknown if no node knows it. It is still watched, but less closely. */
export const UNKNOWN_AFTER_MS = 3_600_000;
/** Nodes differ for seconds: half of all pairs of siblings are found within three seconds of each other. */
export const APART_MS = 10_000;

export const UNDECIDED: readonly BlockState[] = ['pending', 'contested', 'unknown', 'unanswered'];
const URGENT: readonly BlockState[] = ['pending', 'contested', 'unanswered', 'won'];
export const ON_CHAIN: readonly BlockState[] = ['won', 'settled'];
export const OFF_CHAIN: readonly BlockState[] = ['orphaned', 'never-entered', 'lost'];

/** What all looks of one moment say together. */
type Verdict =
  | { readonly verdict: 'nobody-knows' | 'contested' | 'disagreement' }
  | { readonly verdict: 'ours'; readonly depth: number }
  | {
      readonly verdict: 'another';
      readonly depth: number;
      readonly winner: string;
      /** Undefined when some of the nodes did not say so, and no other one keeps ours. */
      readonly keepsOurs: boolean | undefined;
    };

/**
 * @param agreement what the looks before said; undefined before the first
 * @param looks of all nodes that answered, at this moment
 * @returns the same standing, unless something was decided or its depth has changed
 */
export function judge(
  standing: Standing,
  agreement: Agreement | undefined,
  looks: readonly Look[],
  moment: Moment,
  rules: Rules,
): { readonly standing: Standing; readonly agreement: Agreement } {
  const verdict = verdictOf(looks);
  const now = agreementWith(agreement, verdict, moment.nowMs, rules);
  return { standing: decide(standing, verdict, now, moment, rules), agreement: now };
}

/** Whether a look could still change something that matters. */
export function isWatched({ state, depth }: Standing): boolean {
  return UNDECIDED.includes(state) || state === 'won' || depth < WATCHED_DEPTH;
}

/**
 * Whether something is to be decided about a block soon. After its first hour that is rare: a node may be on another
 * branch for ever, and is not asked often because of it.
 * @param ageMs how long ago it was accepted
 */
export function isUrgent({ state }: Standing, ageMs: number): boolean {
  return URGENT.includes(state) && ageMs < UNKNOWN_AFTER_MS;
}

/** Whether what is kept of a block must be written again. Its depth alone matters once it ends the watch. */
export function isNews(before: Standing, after: Standing): boolean {
  return (
    before.state !== after.state ||
    before.nodesDisagree !== after.nodesDisagree ||
    isWatched(before) !== isWatched(after)
  );
}

/** A head alone proves nothing: 18 of 26 orphans were once the head of a cut. So only what is below a head counts. */
function verdictOf(looks: readonly Look[]): Verdict {
  const ours = looks.filter((look) => look.says === 'ours' && look.depth > 0) as (Look & { says: 'ours' })[];
  const others = looks.filter((look) => look.says === 'another' && look.depth > 0) as (Look & { says: 'another' })[];
  if (ours.length > 0 && others.length > 0) return { verdict: 'disagreement' };
  if (ours.length > 0) return { verdict: 'ours', depth: least(ours) };
  if (others.length > 0) {
    return { verdict: 'another', depth: least(others), winner: others[0].winner, keepsOurs: someKeepsOurs(others) };
  }
  return { verdict: looks.some(({ says }) => says === 'another') ? 'contested' : 'nobody-knows' };
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
  // Two looks must be that deep, like everything else that decides.
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

/** @param keepsOurs whether a node whose chain has another block keeps ours; undefined when that is not known */
function whereAnotherWon(before: BlockState, keepsOurs: boolean | undefined): BlockState {
  if (before === 'orphaned' || ON_CHAIN.includes(before) || keepsOurs === true) return 'orphaned';
  if (before === 'unanswered' || before === 'lost') return keepsOurs === false ? 'lost' : before;
  // A node that does not say whether it keeps ours may keep it.
  return keepsOurs === false ? 'never-entered' : 'orphaned';
}

/* What there is to say about a block's state, for people. */

/**
 * @param before what was known of the block before, where that is of interest
 * @param isRefused whether the node said that it refused the block
 * @returns a clause; empty when the state says it all
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
  const refused = isRefused ? ['the node said that it refused it, and nodes have it all the same'] : [];
  return [...reorganised, ...taken, ...refused, ...parts, ...(nodesDisagree ? ['nodes disagree about it'] : [])].join(
    '; ',
  );
}
