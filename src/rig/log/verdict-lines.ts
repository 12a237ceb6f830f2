/**
 * Log lines about verdicts and about the fates of accepted blocks. Each verdict on a block has a line, up to a limit.
 * The limit is reached only on a test network, or when a pool or node sends false answers. Shares can have many
 * verdicts a second. So there is at most one line every ten seconds for each outcome of shares, with the number of
 * shares since the previous line.
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
/** Maximum number of lines about blocks of one outcome in a burst. Then there is at most one line every ten seconds. */
const MOST_BLOCK_LINES = 30;
const ASK_POOL = 'Ask the pool for harder ones: --pool-difficulty (pool.difficulty)';
const REMEDIES = {
  node: 'Set a harder target',
  pool: ASK_POOL,
  parent: 'Set a harder target',
  fleet: `${ASK_POOL} at the coordinator`,
} as const;

/**
 * Time after which a warning says that a device leaves out shares (see `leftOutSinceMs`). Usually, pools raise the
 * difficulty sooner, and the device then leaves out none.
 */
const LEFT_OUT_MS = 30_000;
/**
 * A candidate that proves at most this many times the hashes of a share counts as no harder than the share. Two numbers
 * for the same target may differ a little, because targets are rounded when they are computed.
 */
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
/** A rejected share is only a warning, because pools reject a share now and then, and one share is worth little. */
const LEVEL_OF_SHARE: Readonly<Record<Outcome, Level>> = { ...LEVEL_OF_BLOCK, rejected: 'warn' };

interface ShareLines {
  loggedMs: number;
  /** Number of shares since the last line. These shares have had no lines of their own. */
  unlogged: number;
}

interface Searched {
  /** Number of hashes that the device's last candidate takes on average. */
  hashes: number;
  /**
   * Time at which the device began to leave out shares, in ms of the clock's `monotonicMs`. A device leaves out shares
   * if its candidates take more hashes than a share. Undefined while the device leaves out none.
   */
  leftOutSinceMs?: number | undefined;
  isLogged?: true;
}

export class VerdictLines {
  readonly #log: Logger;
  readonly #tally: Tally;
  readonly #shares = new Map<Outcome, ShareLines>();
  readonly #blocks: ReadonlyMap<Outcome, LogBucket>;
  readonly #devices = new Map<string, Searched>();

  /** @param tally must receive each event before this object does */
  constructor(log: Logger, tally: Tally) {
    this.#log = log;
    this.#tally = tally;
    const { nowMs } = tally;
    this.#blocks = new Map(OUTCOMES.map((outcome) => [outcome, new LogBucket(MOST_BLOCK_LINES, nowMs)]));
  }

  /**
   * Records the hashes that a candidate proves. If the candidate is a solution, the `solution` event follows at once.
   */
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
    // On a pool, the log also has lines with counts of shares, so this line names what it counts.
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

/**
 * @returns the numbers of accepted, rejected and stale solutions, such as `12/0/1`. For the outcome `delivered`, it is
 *   the number of delivered solutions, because the source reports no results
 */
function countsIn(outcome: Outcome, { accepted, rejected, stale, delivered }: OutcomeCounts): string {
  return outcome === 'delivered' ? `${delivered}` : `${accepted}/${rejected}/${stale}`;
}

function answered({ answerSeconds }: VerdictEvent): string {
  return `${(1000 * answerSeconds).toFixed(0)} ms`;
}

function why({ outcome, reason }: VerdictEvent): string {
  return outcome === 'accepted' || reason === '' ? '' : `: ${reason}`;
}

/*
 * The fates of accepted blocks. Usually there is one line about a block, when it is known that the block is won. There
 * are more lines if something is wrong, or if the reward is proven later.
 */

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

/** @returns `chain 3 height 42 by gpu0: earned 0.98 coins`, or what is wrong. Notices contain this text, too */
export function describeBlockReward({ fault, paidTo, account, source, isEarlier, ...event }: RewardEvent): string {
  if (paidTo !== undefined) {
    const what = `${where(event)} pays ${paidTo} and not ${account}, for whom it was mined: it earns nothing`;
    // The node that gave work to an earlier run may have been repaired since, so the line does not warn of this node.
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

/**
 * @returns `chain 3 height 42 won 0.98 coins, settles in ~2 min` for a won block; for other states, a text such as
 *   `chain 3 height 42 by gpu0 settled: earned 0.98 coins`. Notices contain this text, too
 */
export function describeBlockState(event: StateEvent): string {
  const { chain, height, state, reason } = event;
  const why = reason === '' ? [] : [reason];
  // The line about the block's verdict has named the device already.
  if (state === 'won') {
    const parts = [`chain ${chain} height ${height} won${describeWin(event)}`, settlesWhen(event), ...why];
    return parts.join(', ');
  }
  const parts = [...(state === 'settled' ? [describeIncome(event)] : []), ...why];
  return `${where(event)} ${inWords(state)}${parts.length === 0 ? '' : `: ${parts.join('; ')}`}`;
}

/**
 * @returns `error` if the block has left the chain; `warn` if the block has not entered the chain, if its fate is not
 *   known after an hour, or if nodes disagree; `info` if it is won, or settled without having been won before; and
 *   `debug` otherwise
 */
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

/**
 * @returns `settles in ~2 min`, or `settles now`. A time of a minute or more is rounded up to whole minutes, because it
 *   is an estimate
 */
function settlesWhen({ settledInSeconds = 0 }: StateEvent): string {
  if (settledInSeconds === 0) return 'settles now';
  const seconds = settledInSeconds < 60 ? settledInSeconds : 60 * Math.ceil(settledInSeconds / 60);
  return `settles in ~${formatDuration(seconds)}`;
}
