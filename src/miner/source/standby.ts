/** One of the sources that failover chooses among: what it gives, and whether it can be reached and is healthy. */

import { onAbort } from '../../base/system/abort.ts';
import type { Work } from '../../protocol/chain/work.ts';
import type { CompleteSource } from './complete-source.ts';
import { listeningUntil, type SourceUpdate, type UpdateListener } from './source.ts';

/** The source itself, or somebody who watches all sources. */
export type FoundBy = 'itself' | 'others';

/** Why a source is never used again. `fault` is what it has thrown, which its interface forbids. */
interface GivenUp {
  /** Follows the source's name in a sentence. */
  readonly reason: string;
  readonly fault?: { readonly thrown: unknown };
}

/** A source that is replaced again within this time after its trial gets a longer trial. */
const AGAIN_MS = 60_000;
/**
 * The same for a source that can be reached and is merely slower. Such a change costs half a second: little of this
 * time, but nearly all the time of a source whose works end at once.
 */
const SLOW_AGAIN_MS = 10_000;
const FIRST_TRIAL_MS = 5_000;
const MOST_TRIAL_MS = 300_000;

/** Times are milliseconds of a monotonic clock. */
export class Standby {
  readonly source: CompleteSource;
  /** Place in the order of preference, from 0. A removed source has the last place. */
  rank = 0;
  /** Whether the source is no longer configured: then it is used only until another source gives work. */
  removed = false;
  /** Whether failover has asked it to report its health. */
  followsHealth = false;
  /** Whether the source did not answer the last probe. */
  isUnresponsive = false;
  #givenUp: GivenUp | undefined;
  /** Aborted to end the source; undefined while the source is not started. */
  #ending: AbortController | undefined;
  #following: Promise<void> = Promise.resolve();
  #work: Work | undefined;
  #worksGiven = 0;
  #isLost = false;
  readonly #faults = new Map<FoundBy, string>();
  /** Since when the source has given work without interruption; undefined while it gives none. */
  #givesSinceMs: number | undefined;
  /** When another source last took over because this source gave no work. */
  #replacedAtMs = Number.NEGATIVE_INFINITY;
  #trialMs = 0;

  constructor(source: CompleteSource) {
    this.source = source;
  }

  /** The latest work of the source; undefined if it is stale, if a `rest` update followed it, or after `end`. */
  get work(): Work | undefined {
    return this.#work;
  }

  /** Number of times that the source has given work. */
  get worksGiven(): number {
    return this.#worksGiven;
  }

  get isStarted(): boolean {
    return this.#ending !== undefined;
  }

  /** Whether the source has been out of reach since it last gave work. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get givenUp(): GivenUp | undefined {
    return this.#givenUp;
  }

  /** Why the source's work is probably worth nothing, as clauses after its name; undefined for a healthy source. */
  get fault(): string | undefined {
    return this.#faults.size === 0 ? undefined : [...this.#faults.values()].join(', and ');
  }

  /** Whether the source gives no work now. */
  get isInNeed(): boolean {
    return this.#work === undefined || this.#isLost || this.isUnresponsive;
  }

  /** Whether there is a reason to look for another source. */
  get isUnfit(): boolean {
    return this.isInNeed || this.fault !== undefined || this.removed;
  }

  /**
   * A healthy source is better than an unhealthy one, which is better than a removed one. A source without work is the
   * worst. Of two sources of the same class, the preferred one is better.
   */
  isBetterThan(other: Standby): boolean {
    return this.#grade < other.#grade || (this.#grade === other.#grade && this.rank < other.rank);
  }

  get #grade(): number {
    if (this.isInNeed) return 3;
    if (this.removed) return 2;
    return this.fault === undefined ? 0 : 1;
  }

  /** Time for which the source must give work before it takes over again. It grows with repeated replacements. */
  get trialMs(): number {
    return this.#trialMs;
  }

  /** @returns how much longer the source must give work before it may take over again; 0 or less if it may now */
  trialLeftMs(nowMs: number): number {
    return (this.#givesSinceMs ?? nowMs) + this.#trialMs - nowMs;
  }

  /** Notes that another source takes over. @param isSlow whether this source is merely slower to give its next work */
  replaced(nowMs: number, isSlow: boolean): void {
    const isAgain = nowMs - this.#replacedAtMs < (isSlow ? SLOW_AGAIN_MS : AGAIN_MS) + this.#trialMs;
    this.#trialMs = isAgain ? Math.min(MOST_TRIAL_MS, Math.max(FIRST_TRIAL_MS, 2 * this.#trialMs)) : 0;
    this.#replacedAtMs = nowMs;
    this.#givesSinceMs = undefined;
  }

  /** Follows the source until `stop`, or until `end` is called. @param failed called with what the source throws */
  start(listener: UpdateListener, stop: AbortSignal, failed: (thrown: unknown) => void): void {
    const ending = new AbortController();
    this.#ending = ending;
    const follow = async () => {
      const release = onAbort(stop, () => ending.abort());
      try {
        await this.source.follow(listeningUntil(ending.signal, listener), ending.signal);
      } finally {
        release();
      }
    };
    // A source that was ended is not started again before it has settled.
    this.#following = this.#following.then(follow).catch(failed);
  }

  /** @returns the source's work, which is stale now */
  end(): Work | undefined {
    this.#ending?.abort();
    this.#ending = undefined;
    this.#isLost = false;
    this.isUnresponsive = false;
    const work = this.#work;
    this.#work = undefined;
    return work;
  }

  /** Ends the source for good, and counts it as lost. @returns the source's work, which is stale now */
  giveUp(why: GivenUp): Work | undefined {
    const work = this.end();
    this.#givenUp = why;
    this.#isLost = true;
    return work;
  }

  /** Settles when the source has ended, and what was planned for then is done. */
  get settled(): Promise<void> {
    return this.#following;
  }

  /** Calls an action once the source has ended. */
  whenSettled(action: () => void): void {
    this.#following = this.#following.then(action);
  }

  note(update: SourceUpdate, nowMs: number): void {
    if (update.kind === 'work') {
      this.#isLost = false;
      this.isUnresponsive = false;
      this.#worksGiven++;
      this.#givesSinceMs ??= nowMs;
      this.#work = update.work;
    } else if (update.kind === 'rest') {
      this.#work = undefined;
    } else if (update.kind === 'stale') {
      if (this.#work && update.works.includes(this.#work)) this.#work = undefined;
    } else {
      this.#isLost = true;
      this.#givesSinceMs = undefined;
    }
  }

  /** @param fault follows the source's name in a sentence; undefined if the source is healthy */
  judge(by: FoundBy, fault: string | undefined): void {
    if (fault === undefined) this.#faults.delete(by);
    else this.#faults.set(by, fault);
  }
}
