/** How often a miner may connect to a pool, and how soon it must: the pauses that the limits of pools document. */

import { poolLimits } from '#pickaxe/miner/source/pool/pool-limits.js';

/** Processes do not react at once. */
const SLACK_MS = 5;

type Why = 'network' | 'refused' | 'unsure';

export class Dialling {
  /** Number of connections that were begun. */
  attempts = 0;
  /** When the last connection ended, or could not be opened; undefined while there is one. */
  #endedMs: number | undefined;
  #why: Why = 'network';
  #limits: { readonly leastMs: number; readonly mostMs: number } | undefined;
  /** Numbers of pauses of each kind since a connection has lasted long enough. */
  #pauses = { network: 0, refused: 0 };
  /** Whether nobody knows the kinds of the earlier pauses. */
  #isUnsure = false;
  /** Whether the miner uses another pool, and needs no connection to this one. */
  #isIdle = true;

  /** The miner has closed the connection because it uses another pool. It may open the next one at any time. */
  forget(): void {
    this.#isIdle = true;
    this.#endedMs = undefined;
    this.#pauses = { network: 0, refused: 0 };
    this.#isUnsure = false;
  }

  /** @param thawedMs when the miner was last thawed @returns what is wrong with a connection at this time */
  begin(nowMs: number, thawedMs: number): string | undefined {
    this.attempts++;
    this.#isIdle = false;
    if (this.#endedMs === undefined || !this.#limits) return undefined;
    const pauseMs = nowMs - this.#endedMs;
    const { leastMs, mostMs } = this.#limits;
    const wasAwake = thawedMs < this.#endedMs;
    this.#endedMs = undefined;
    const what = `${pauseMs.toFixed(0)} ms after the last one, which ended as ${this.#why}`;
    if (pauseMs < leastMs - SLACK_MS && wasAwake) return `connects ${what}: too early`;
    if (pauseMs > mostMs + SLACK_MS && wasAwake) return `connects ${what}: too late`;
    return undefined;
  }

  /**
   * @param workMs time from its first work to its end; 0 without work
   * @param askedMs the wait that the pool has asked for
   */
  end(nowMs: number, why: Why, workMs: number, askedMs = 0): void {
    const { pauses, refusedPauses, steadyMs, refusedSteadyMs, mostReconnectWaitMs } = poolLimits;
    if (this.#isIdle) return;
    this.#endedMs = nowMs;
    this.#why = why;
    if (why === 'unsure' || Math.abs(workMs - steadyMs) < 100) this.#isUnsure = true;
    if (why !== 'unsure' && workMs >= (why === 'refused' ? refusedSteadyMs : steadyMs + 100)) {
      this.#pauses = { network: 0, refused: 0 };
      this.#isUnsure = false;
    }
    if (this.#isUnsure) {
      this.#limits = { leastMs: pauses.firstMs / 2, mostMs: refusedPauses.mostMs };
      return;
    }
    const kind = why as 'network' | 'refused';
    const { firstMs, mostMs } = why === 'refused' ? refusedPauses : pauses;
    const pauseMs = Math.min(mostMs, firstMs * 2 ** this.#pauses[kind]++);
    const waitMs = Math.min(askedMs, mostReconnectWaitMs);
    this.#limits = { leastMs: Math.max(pauseMs / 2, waitMs), mostMs: Math.max(pauseMs, waitMs) };
  }

  /** Whether the miner may still wait until it connects again. */
  mayWait(nowMs: number): boolean {
    return this.#endedMs !== undefined && this.#limits !== undefined && nowMs <= this.#endedMs + this.#limits.mostMs;
  }

  /** Whether the miner should have connected again long ago. */
  isLate(nowMs: number): boolean {
    return this.#endedMs !== undefined && !this.mayWait(nowMs - 1_000);
  }
}
