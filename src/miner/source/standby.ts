/** The state of one of failover's sources: its latest work, whether it can be reached, and its health. */

import { onAbort } from '../../base/system/abort.ts';
import type { Work } from '../../protocol/chain/work.ts';
import type { CompleteSource } from './complete-source.ts';
import { listeningUntil, type SourceUpdate, type UpdateListener } from './source.ts';

/** Who has found a fault: the source itself, or a check that watches all sources from outside. */
export type FoundBy = 'itself' | 'others';

/** Why a source is never used again. */
interface GivenUp {
  /** Follows the source's name in a sentence. */
  readonly reason: string;
  /** What the source has thrown, although the WorkSource interface forbids it. */
  readonly fault?: { readonly thrown: unknown };
}

/**
 * A source is replaced again too soon if, since it was last replaced, less than this time plus the length of its last
 * trial has passed. Then its next trial is longer.
 */
const AGAIN_MS = 60_000;
/**
 * Used instead of `AGAIN_MS` if the replaced source can be reached, and is only late with its next work. Each such
 * replacement costs half a second without work. That is little if it happens every ten seconds. But with a source whose
 * works always end at once, it would happen all the time.
 */
const SLOW_AGAIN_MS = 10_000;
const FIRST_TRIAL_MS = 5_000;
const MOST_TRIAL_MS = 300_000;

/** Times are milliseconds of a monotonic clock. */
export class Standby {
  readonly source: CompleteSource;
  /** Place in the order of preference, from 0. A removed source that is still in use has the last place. */
  rank = 0;
  /** Whether the source is no longer configured. A removed source is used only until another source gives work. */
  removed = false;
  /** Whether failover has called the source's `onHealth`. */
  followsHealth = false;
  /** Whether the source did not answer the last probe, and has given no work since. */
  isUnresponsive = false;
  #givenUp: GivenUp | undefined;
  /** Ends the source when it is aborted; undefined while the source is not started. */
  #ending: AbortController | undefined;
  #following: Promise<void> = Promise.resolve();
  #work: Work | undefined;
  #worksGiven = 0;
  #isLost = false;
  readonly #faults = new Map<FoundBy, string>();
  /** Time of the first work since the source was last lost or replaced; undefined until that work comes. */
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

  /** Number of `work` updates from the source. */
  get worksGiven(): number {
    return this.#worksGiven;
  }

  get isStarted(): boolean {
    return this.#ending !== undefined;
  }

  /** Whether the source was reported as lost and has given no work since. Also true of a source that was given up. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get givenUp(): GivenUp | undefined {
    return this.#givenUp;
  }

  /** Why the source's work is probably worth nothing, as words that follow its name; undefined for a healthy source. */
  get fault(): string | undefined {
    return this.#faults.size === 0 ? undefined : [...this.#faults.values()].join(', and ');
  }

  /** Whether the source cannot be used now: it has no valid work, is out of reach or does not answer. */
  get isInNeed(): boolean {
    return this.#work === undefined || this.#isLost || this.isUnresponsive;
  }

  /** Whether there is a reason to look for another source. */
  get isUnfit(): boolean {
    return this.isInNeed || this.fault !== undefined || this.removed;
  }

  /**
   * A healthy source is better than an unhealthy one, and an unhealthy source is better than a removed one. A source in
   * need (`isInNeed`) is the worst. If two sources are equal in this, the source with the lower rank is better.
   */
  isBetterThan(other: Standby): boolean {
    return this.#grade < other.#grade || (this.#grade === other.#grade && this.rank < other.rank);
  }

  get #grade(): number {
    if (this.isInNeed) return 3;
    if (this.removed) return 2;
    return this.fault === undefined ? 0 : 1;
  }

  /**
   * Time for which the source must give work before it takes over again; 0 if it may do so at once. Each replacement
   * that follows the last one too soon (`AGAIN_MS`) doubles the time, from five seconds up to five minutes.
   */
  get trialMs(): number {
    return this.#trialMs;
  }

  /** @returns the time until the trial ends if the source gives work until then; 0 or less if it may take over now */
  trialLeftMs(nowMs: number): number {
    return (this.#givesSinceMs ?? nowMs) + this.#trialMs - nowMs;
  }

  /**
   * Called when another source takes over because this source gave no work.
   * @param isSlow whether this source can be reached, and is only late with its next work
   */
  replaced(nowMs: number, isSlow: boolean): void {
    const isAgain = nowMs - this.#replacedAtMs < (isSlow ? SLOW_AGAIN_MS : AGAIN_MS) + this.#trialMs;
    this.#trialMs = isAgain ? Math.min(MOST_TRIAL_MS, Math.max(FIRST_TRIAL_MS, 2 * this.#trialMs)) : 0;
    this.#replacedAtMs = nowMs;
    this.#givesSinceMs = undefined;
  }

  /** Follows the source until `stop` or a call of `end`. @param failed called with what the source has thrown */
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
    // If the source was ended before, it is followed again only after the earlier call of `follow` has settled.
    this.#following = this.#following.then(follow).catch(failed);
  }

  /** Ends the source; it may be started again. @returns its latest work, which is stale now, if it had one */
  end(): Work | undefined {
    this.#ending?.abort();
    this.#ending = undefined;
    this.#isLost = false;
    this.isUnresponsive = false;
    const work = this.#work;
    this.#work = undefined;
    return work;
  }

  /** Ends the source for good; it counts as lost. @returns its latest work, which is stale now, if it had one */
  giveUp(why: GivenUp): Work | undefined {
    const work = this.end();
    this.#givenUp = why;
    this.#isLost = true;
    return work;
  }

  /** Settles when the source has ended and the actions given to `whenSettled` have been called. */
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
