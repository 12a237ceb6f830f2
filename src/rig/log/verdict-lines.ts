/**
 * Log lines of verdicts and of accepted blocks. Each block has a line, up to a bound that is exceeded only on a test
 * network, or when a pool or node sends false answers. A pool's shares can come many times a second, so each outcome of
 * shares has at most one line every ten seconds, with the number of shares since the last line.
 */

import type { Logger } from 'pino';
import { LogBucket } from '../../base/system/bounded.ts';
import type { MinerEvent } from '../../miner/events/events.ts';
import { OUTCOMES, type Outcome } from '../../miner/events/vocabulary.ts';
import type { BlockState } from '../../node/blocks/fate.ts';
import type { OutcomeCounts } from '../status/status.ts';
import type { Tally } from '../status/tally.ts';
import { formatDuration, inWords } from '../status/units.ts';

/** Minimum time between two lines about shares of one outcome. Usually a share comes every few minutes. */
const SHARE_LINE_MS = 10_000;
/** Maximum burst of lines about blocks of one outcome; after it, there is one line every ten seconds. */
const MOST_BLOCK_LINES = 30;
const ASK_POOL = 'Ask the pool for harder ones: --pool-difficulty (pool.difficulty)';
const REMEDIES = {
  node: 'Set a harder target',
  pool: ASK_POOL,
  parent: 'Set a harder target',
  fleet: `${ASK_POOL} at the coordinator`,
} as const;

/** Time for which a device may skip some shares without a warning: pools adapt the difficulty in less time. */
const LEFT_OUT_MS = 30_000;
/** Tolerance for targets that were rounded when they were computed from difficulties. */
const ROUNDING = 1.01;

type VerdictEvent = MinerEvent & { type: 'verdict' };
type Level = 'info' | 'warn' | 'error';

const LEVEL_OF_BLOCK: Readonly<Record<Outcome, Level>> = {
  accepted: 'info',
  rejected: 'error',
  stale: 'warn',
  unknown: 'warn',
  delivered: 'info',
};
/** Pools reject a share now and then, and one share is worth little. */
const LEVEL_OF_SHARE: Readonly<Record<Outcome, Level>> = { ...LEVEL_OF_BLOCK, rejected: 'warn' };

interface ShareLines {
  loggedMs: number;
  /** Number of shares since the last line, none of which had a line. */
  unlogged: number;
}

interface Searched {
  hashes: number;
  /** Time since which a candidate takes more hashes than a share, so that the device skips some shares. */
  leftOutSinceMs?: number | undefined;
  isLogged?: true;
}

export class VerdictLines {
  readonly #log: Logger;
  readonly #tally: Tally;
  readonly #shares = new Map<Outcome, ShareLines>();
  readonly #blocks: ReadonlyMap<Outcome, LogBucket>;
  readonly #devices = new Map<string, Searched>();

  /** @param tally must receive each event first */
  constructor(log: Logger, tally: Tally) {
    this.#log = log;
    this.#tally = tally;
    const { nowMs } = tally;
    this.#blocks = new Map(OUTCOMES.map((outcome) => [outcome, new LogBucket(MOST_BLOCK_LINES, nowMs)]));
  }

  /** Records the hashes of a candidate. If the candidate is a solution, the `solution` event follows at once. */
  proved({ device, hashes }: MinerEvent & { type: 'proof' }): void {
    const searched = this.#devices.get(device);
    if (searched) searched.hashes = hashes;
    else this.#devices.set(device, { hashes });
  }

  solved({ device, isShare, isRelay, difficulty }: MinerEvent & { type: 'solution' }): void {
    const searched = isShare && !isRelay ? this.#devices.get(device) : undefined;
    if (!searched || searched.isLogged) return;
    const { nowMs } = this.#tally;
    const sent = difficulty / searched.hashes;
    if (sent * ROUNDING >= 1) searched.leftOutSinceMs = undefined;
    else searched.leftOutSinceMs ??= nowMs;
    if (searched.leftOutSinceMs === undefined || nowMs - searched.leftOutSinceMs < LEFT_OUT_MS) return;
    searched.isLogged = true;
    const percent = Math.min(99, Math.max(1, Math.round(100 * (1 - sent))));
    const remedy = REMEDIES[this.#tally.sourceKind];
    const what = `shares are so easy that about ${percent} % of them are left out and not paid: a device sends some 100 a second`;
    this.#log.warn({ tag: device }, `${what}. ${remedy}`);
  }

  add(event: VerdictEvent): void {
    if (event.isBlock) this.#block(event);
    else this.#share(event);
  }

  #block(event: VerdictEvent): void {
    const { outcome, isShare } = event;
    const unlogged = this.#blocks.get(outcome)?.take(this.#tally.nowMs);
    if (unlogged === undefined) return;
    const more = unlogged === 0 ? '' : `; ${unlogged} more since the last such line`;
    const counts = countsIn(outcome, this.#tally.summary());
    const { device, chain, height } = event;
    // On a pool, this line appears among those of shares, which have different counts.
    const what = isShare
      ? `block ${outcome}${outcome === 'accepted' ? '!' : ''} (blocks ${counts}) ${device} chain ${chain} height ${height}`
      : `${outcome} (${counts}) ${device} chain ${chain} height ${height} ${answered(event)}`;
    this.#log[LEVEL_OF_BLOCK[outcome]]({ tag: 'miner', outcome }, `${what}${why(event)}${more}`);
  }

  #share(event: VerdictEvent): void {
    const { outcome } = event;
    const { nowMs } = this.#tally;
    const lines = this.#shares.get(outcome) ?? { loggedMs: Number.NEGATIVE_INFINITY, unlogged: 0 };
    this.#shares.set(outcome, lines);
    const sinceMs = nowMs - lines.loggedMs;
    if (sinceMs < SHARE_LINE_MS) {
      lines.unlogged++;
      return;
    }
    const counts = `(shares ${countsIn(outcome, this.#tally.summary().shares)})`;
    const many = lines.unlogged + 1;
    const what =
      many === 1
        ? `share ${outcome} ${counts} ${event.device} chain ${event.chain}`
        : `${many} shares ${outcome} in ${(sinceMs / 1000).toFixed(0)} s ${counts}, last ${event.device}`;
    this.#log[LEVEL_OF_SHARE[outcome]]({ tag: 'miner' }, `${what} ${answered(event)}${why(event)}`);
    lines.loggedMs = nowMs;
    lines.unlogged = 0;
  }
}

/** @returns `12/0/1`: accepted, rejected, stale; for a parent that never answers, the number of delivered solutions */
function countsIn(outcome: Outcome, { accepted, rejected, stale, delivered }: OutcomeCounts): string {
  return outcome === 'delivered' ? `${delivered}` : `${accepted}/${rejected}/${stale}`;
}

function answered({ answerSeconds }: VerdictEvent): string {
  return `${(1000 * answerSeconds).toFixed(0)} ms`;
}

function why({ outcome, reason }: VerdictEvent): string {
  return outcome === 'accepted' || reason === '' ? '' : `: ${reason}`;
}

/* Accepted blocks: one line each, once it is known whether the block was won, and more only when something is wrong. */

type StateEvent = MinerEvent & { type: 'block-state' };
type RewardEvent = MinerEvent & { type: 'block-reward' };

const TAG = { tag: 'block' } as const;

export function logBlockState(log: Logger, event: StateEvent): void {
  log[levelOf(event)](TAG, describeBlockState(event));
}

export function logBlockReward(log: Logger, event: RewardEvent): void {
  const { fault, paidTo } = event;
  const level = paidTo !== undefined ? 'error' : fault !== undefined ? 'warn' : 'info';
  log[level](TAG, describeBlockReward(event));
}

/** @returns `chain 3 height 42: earned 0.98 coins`, or what is wrong. Notices use it, too */
export function describeBlockReward({ fault, paidTo, account, source, isEarlier, ...event }: RewardEvent): string {
  if (paidTo !== undefined) {
    const what = `${where(event)} pays ${paidTo} and not ${account}, for whom it was mined: it earns nothing`;
    // The node of an earlier run may have been repaired since, so the line does not warn of the node.
    if (isEarlier) return `${what}. The work came from ${source}`;
    return (
      `${what}. ${source} gave this work, or somebody between it and here who changed it, and is left. ` +
      'Find out which, use https, and start pickaxe again then'
    );
  }
  return fault === undefined
    ? `${where(event)}: earned ${describeReward(event)}`
    : `${where(event)}: the reward is not proven, because what a node says of it is false: ${fault}`;
}

/** @returns `chain 3 height 42 won 0.98 coins, settles in ~2 min`. Notices use it, too */
export function describeBlockState(event: StateEvent): string {
  const { chain, height, state, reason } = event;
  const why = reason === '' ? [] : [reason];
  // The line about the block's acceptance has named the device already.
  if (state === 'won') {
    const parts = [`chain ${chain} height ${height} won${describeWin(event)}`, settlesWhen(event), ...why];
    return parts.join(', ');
  }
  const parts = [...(state === 'settled' ? [describeIncome(event)] : []), ...why];
  return `${where(event)} ${inWords(state)}${parts.length === 0 ? '' : `: ${parts.join('; ')}`}`;
}

/** The first decisive state has the level info, a loss warn or error, and everything else debug. */
function levelOf({ state, previous, nodesDisagree }: StateEvent): 'error' | 'warn' | 'info' | 'debug' {
  if (previous !== undefined && isOnChain(previous) && !isOnChain(state)) return 'error';
  if (nodesDisagree || ['orphaned', 'never-entered', 'lost', 'unknown'].includes(state)) return 'warn';
  if (state === 'won' || (state === 'settled' && previous !== 'won')) return 'info';
  return 'debug';
}

function isOnChain(state: BlockState): boolean {
  return state === 'won' || state === 'settled';
}

function where({ chain, height, device }: Pick<StateEvent, 'chain' | 'height' | 'device'>): string {
  return `chain ${chain} height ${height} by ${device}`;
}

function describeWin(event: StateEvent): string {
  if (event.paidTo !== undefined) return `, but it pays ${event.paidTo}`;
  return event.fees === undefined ? ', reward not proven yet' : ` ${describeReward(event)}`;
}

function describeIncome(event: StateEvent): string {
  return event.paidTo === undefined ? `earned ${describeReward(event)}` : `it pays ${event.paidTo}`;
}

function describeReward({ reward, fees }: Pick<StateEvent, 'reward' | 'fees'>): string {
  if (fees === undefined) return 'an amount that is not proven yet';
  if (reward === undefined) return `fees of ${fees} and a reward that is not known`;
  return fees === '0.0' ? `${reward} coins` : `${reward} coins and ${fees} in fees`;
}

/** Rounded up to whole minutes, as it is an estimate. */
function settlesWhen({ settledInSeconds = 0 }: StateEvent): string {
  if (settledInSeconds === 0) return 'settles now';
  const seconds = settledInSeconds < 60 ? settledInSeconds : 60 * Math.ceil(settledInSeconds / 60);
  return `settles in ~${formatDuration(seconds)}`;
}
