/**
 * Log lines of verdicts. Each block has a line of its own. A pool's shares may come many times a second, so that each outcome of
 * shares has a line at most every ten seconds, with the number of those that had none.
 */

import type { Logger } from 'pino';
import type { MinerEvent } from '../events/events.ts';
import type { Outcome } from '../source/vocabulary.ts';
import type { Tally } from './tally.ts';
import type { OutcomeCounts } from './verdict-counts.ts';

/** A person can read a line this often; a share every few minutes, which is usual, still gets a line of its own. */
const SHARE_LINE_MS = 10_000;

type VerdictEvent = MinerEvent & { type: 'verdict' };
type Level = 'info' | 'warn' | 'error';

const LEVEL_OF_BLOCK: Readonly<Record<Outcome, Level>> = {
  accepted: 'info',
  rejected: 'error',
  stale: 'warn',
  unknown: 'warn',
  delivered: 'info',
};
/** One share is worth little, and pools reject some now and then. */
const LEVEL_OF_SHARE: Readonly<Record<Outcome, Level>> = { ...LEVEL_OF_BLOCK, rejected: 'warn' };

/** Shares of one outcome. */
interface Held {
  /** When the last line was logged. */
  loggedMs: number;
  /** How many had no line since. */
  unlogged: number;
}

export class VerdictLines {
  readonly #log: Logger;
  readonly #tally: Tally;
  readonly #shares = new Map<Outcome, Held>();

  /** @param tally must get each event before this does */
  constructor(log: Logger, tally: Tally) {
    this.#log = log;
    this.#tally = tally;
  }

  add(event: VerdictEvent): void {
    if (event.isBlock) this.#block(event);
    else this.#share(event);
  }

  #block(event: VerdictEvent): void {
    const { outcome, isShare } = event;
    const counts = countsIn(outcome, this.#tally.summary());
    const what = isShare ? `block ${outcome}${outcome === 'accepted' ? '!' : ''}` : outcome;
    this.#log[LEVEL_OF_BLOCK[outcome]]({ tag: 'miner', outcome }, `${what} ${counts} ${where(event)}${why(event)}`);
  }

  #share(event: VerdictEvent): void {
    const { outcome } = event;
    const { nowMs } = this.#tally;
    const held = this.#shares.get(outcome) ?? { loggedMs: Number.NEGATIVE_INFINITY, unlogged: 0 };
    this.#shares.set(outcome, held);
    const sinceMs = nowMs - held.loggedMs;
    if (sinceMs < SHARE_LINE_MS) {
      held.unlogged++;
      return;
    }
    const counts = countsIn(outcome, this.#tally.summary().shares);
    const many = held.unlogged + 1;
    const what =
      many === 1
        ? `share ${outcome} ${counts} ${where(event)}`
        : `${many} shares ${outcome} in ${(sinceMs / 1000).toFixed(0)} s ${counts}, the last by ${where(event)}`;
    this.#log[LEVEL_OF_SHARE[outcome]]({ tag: 'miner' }, `${what}${why(event)}`);
    held.loggedMs = nowMs;
    held.unlogged = 0;
  }
}

/** @returns `(12/0/1)`: accepted, rejected and stale ones; a parent that never answers has only those that were delivered */
function countsIn(outcome: Outcome, { accepted, rejected, stale, delivered }: OutcomeCounts): string {
  return outcome === 'delivered' ? `(${delivered})` : `(${accepted}/${rejected}/${stale})`;
}

function where({ device, chain, height, answerSeconds }: VerdictEvent): string {
  return `${device} chain ${chain} height ${height} ${(1000 * answerSeconds).toFixed(0)} ms`;
}

/** What is as it should be has no reason. */
function why({ outcome, reason }: VerdictEvent): string {
  return outcome === 'accepted' || reason === '' ? '' : `: ${reason}`;
}
