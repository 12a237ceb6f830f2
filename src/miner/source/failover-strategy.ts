/** Chooses the source to mine on. Pure: times are milliseconds of a monotonic clock. */

import type { CompleteSource } from './complete-source.ts';
import { Standby } from './standby.ts';

export interface Patience {
  /**
   * Time for which the active source may be unfit: without work, out of reach or unhealthy. After that, a better source
   * that gives work takes over. If there is none, another source is started.
   */
  readonly patienceMs: number;
  /** Used instead of `patienceMs` while a better and healthy source gives work. */
  readonly readyPatienceMs: number;
}

export class FailoverStrategy {
  readonly #patience: Patience;
  #standbys: readonly Standby[];
  #active: Standby;
  /**
   * Start of the current time of patience: when the active source became unfit, or when the last time of patience
   * ended. Undefined while the active source is fit.
   */
  #unfitSinceMs: number | undefined;
  /**
   * Whether patience has ended while no better source gave work. Then the first better source that gives work takes
   * over at once.
   */
  #isImpatient = false;

  /** @throws Error if there are no sources */
  constructor(sources: readonly CompleteSource[], patience: Patience) {
    this.#patience = patience;
    this.#standbys = sources.map((source) => new Standby(source));
    this.#active = this.#standbys[0];
    this.change(sources);
  }

  /** All standbys in order of preference. */
  get standbys(): readonly Standby[] {
    return this.#standbys;
  }

  get active(): Standby {
    return this.#active;
  }

  /** The standbys that are preferred to the active one. */
  get preferred(): readonly Standby[] {
    return this.#standbys.slice(0, this.#active.rank);
  }

  /** The standbys after the active one in the order of preference. */
  get others(): readonly Standby[] {
    return this.#standbys.slice(this.#active.rank + 1);
  }

  /**
   * Chooses among these sources from now on.
   * @param sources in order of preference
   * @returns the standbys of removed sources. If the active standby is among them, it stays in use until another source
   *   takes over
   * @throws Error if there are no sources
   */
  change(sources: readonly CompleteSource[]): readonly Standby[] {
    if (sources.length === 0) throw new Error('give at least one source of work');
    const before = this.#standbys;
    const used = sources.map((source) => before.find((each) => each.source === source) ?? new Standby(source));
    const removed = before.filter((each) => !used.includes(each));
    for (const standby of removed) standby.removed = true;
    for (const standby of used) standby.removed = false;
    if (!this.#active.isStarted) this.#active = used[0];
    this.#setStandbys([...used, ...removed.filter((each) => each === this.#active)]);
    return removed;
  }

  #setStandbys(standbys: readonly Standby[]): void {
    this.#standbys = standbys;
    for (const [rank, standby] of standbys.entries()) standby.rank = rank;
  }

  /**
   * Whether a source takes over now. A healthy source that is preferred to the active one takes over when its trial has
   * ended, or at once if it needs no trial. After patience has ended, every better source takes over without a trial.
   * @param standby a source whose state has changed, or whose trial may have ended
   */
  takesOver(standby: Standby, nowMs: number): boolean {
    if (standby.isInNeed || !standby.isBetterThan(this.#active)) return false;
    const isPreferred = standby.rank < this.#active.rank && standby.fault === undefined;
    return this.#isImpatient || (isPreferred && standby.trialLeftMs(nowMs) <= 0);
  }

  /**
   * Makes a source the active one.
   * @returns `reason`, which follows the source's name in a sentence, and `isBack`: whether the previous active source
   *   is less preferred, and still configured
   */
  activate(standby: Standby, nowMs: number): { readonly reason: string; readonly isBack: boolean } {
    const before = this.#active;
    const { source, isUnresponsive, isLost, removed } = before;
    const isBack = standby.rank < before.rank && !removed;
    const isSlow = !isLost && !isUnresponsive && !this.#isImpatient;
    if (!isBack && before.isInNeed) before.replaced(nowMs, isSlow);
    const trial =
      isBack || removed || before.trialMs === 0
        ? ''
        : `, which must give work for ${before.trialMs / 1000} s before it is used again`;
    const why = removed
      ? ', which is no longer configured'
      : isUnresponsive
        ? ', which does not answer'
        : before.fault === undefined
          ? ''
          : ', which is unhealthy';
    this.#active = standby;
    if (removed) this.#setStandbys(this.#standbys.filter((each) => each !== before));
    // How long the new active source is unfit is counted anew, from the moment at which it becomes unfit.
    this.#unfitSinceMs = undefined;
    this.#isImpatient = false;
    return { reason: `${isBack ? 'takes over again from' : 'takes over from'} ${source.name}${why}${trial}`, isBack };
  }

  /**
   * Checks whether the active source has been unfit for too long.
   * @returns an empty object if the active source has not been unfit for too long. Otherwise, `next` is the better
   *   source that takes over. If no source is better, `toStart` is the source to start, if any is left
   */
  losePatience(nowMs: number): { readonly next?: Standby | undefined; readonly toStart?: Standby | undefined } {
    if (!this.#active.isUnfit) {
      this.#unfitSinceMs = undefined;
      this.#isImpatient = false;
      return {};
    }
    this.#unfitSinceMs ??= nowMs;
    if (this.#patienceLeftMs(nowMs) > 0) return {};
    this.#unfitSinceMs = nowMs;
    const next = this.#better;
    if (next) return { next };
    this.#isImpatient = true;
    return { toStart: this.#idle };
  }

  /**
   * @returns the time until patience or a trial of a preferred source ends, whichever is first; undefined if neither is
   *   in progress
   */
  waitMs(nowMs: number): number | undefined {
    const patience = this.#active.isUnfit ? [this.#patienceLeftMs(nowMs)] : [];
    const trials = this.preferred
      .filter(({ isInNeed }) => !isInNeed)
      .map((standby) => standby.trialLeftMs(nowMs))
      .filter((ms) => ms > 0);
    const all = [...patience, ...trials];
    return all.length === 0 ? undefined : Math.min(...all);
  }

  /**
   * @returns how much longer the active source may be unfit; 0 or less if patience has ended. Patience ends at once if
   *   the active source does not answer probes, was removed or was given up. If no better source could take over then,
   *   the usual time passes before each further source is started
   */
  #patienceLeftMs(nowMs: number): number {
    const { isUnresponsive, givenUp, removed } = this.#active;
    if ((isUnresponsive || givenUp || removed) && !this.#isImpatient) return 0;
    const { patienceMs, readyPatienceMs } = this.#patience;
    const better = this.#better;
    const isReady = better !== undefined && better.fault === undefined;
    return (this.#unfitSinceMs ?? nowMs) + (isReady ? readyPatienceMs : patienceMs) - nowMs;
  }

  /** The best of the sources that give work and are better than the active one. */
  get #better(): Standby | undefined {
    const better = this.#standbys.filter((standby) => !standby.isInNeed && standby.isBetterThan(this.#active));
    return better.find(({ fault }) => fault === undefined) ?? better[0];
  }

  /** The source to start next. An unhealthy source is started only when the active source gives no work. */
  get #idle(): Standby | undefined {
    const idle = this.#standbys.filter(({ isStarted, givenUp }) => !isStarted && !givenUp);
    return idle.find(({ fault }) => fault === undefined) ?? (this.#active.isInNeed ? idle[0] : undefined);
  }
}
