/** Chooses the source to mine on. Pure: times are milliseconds of a monotonic clock. */

import type { Work } from '../../protocol/chain/work.ts';
import type { WorkSource } from './source.ts';

/** The source itself, or somebody who watches all sources. */
export type FoundBy = 'itself' | 'others';

/** What failover knows of one of its sources. */
export interface Standby {
  readonly source: WorkSource;
  /** Its place in the order of preference, from 0. A removed source has the last place. */
  rank: number;
  /** Whether it is no longer configured: it gives work only until another one does. */
  removed: boolean;
  started: boolean;
  /** Whether failover has asked it to report its health. */
  followsHealth: boolean;
  /** Aborted to end the source. It is not started again before `following` has settled. */
  ending: AbortController;
  following: Promise<void>;
  /** Whether the source has been out of reach since it last gave work. */
  lost: boolean;
  /** Whether the source did not answer the last probe. */
  silent: boolean;
  /** Whether the source has thrown, which its interface forbids, so it is never used again. */
  failed: boolean;
  /** Why its work is probably worth nothing, as clauses after its name, by who has found that out. */
  readonly faults: Map<FoundBy, string>;
  /** Number of times that the source has given work. */
  given: number;
  /** Since when it has given work without interruption; undefined while it gives none. */
  givesSinceMs: number | undefined;
  /** When another source last took over because this one gave no work. */
  leftAtMs: number;
  /** Time for which it must give work before it takes over again. It grows when the source is left repeatedly. */
  trialMs: number;
  work: Work | undefined;
}

export interface Patience {
  /** Time for which the active source may be without work, or out of reach, before another one is started. */
  readonly patienceMs: number;
  /** The same when another source has work already. */
  readonly readyPatienceMs: number;
}

/** A source that is left again within this time after its trial gets a longer trial. */
const AGAIN_MS = 60_000;
/**
 * The same for a source that can be reached and is merely slower. Such a change costs half a second: little of this
 * time, but nearly all the time of a source whose works end at once.
 */
const SLOW_AGAIN_MS = 10_000;
const FIRST_TRIAL_MS = 5_000;
const MOST_TRIAL_MS = 300_000;

export class FailoverStrategy {
  readonly #patience: Patience;
  #standbys: readonly Standby[];
  #active: Standby;
  /** Since when the active source has been unfit, or when another one was last started because of it. */
  #unfitSinceMs: number | undefined;
  /** Whether the active source has been unfit for too long: then the first better one that gives work takes over. */
  #isImpatient = false;

  /** @throws Error if there are no sources */
  constructor(sources: readonly WorkSource[], patience: Patience) {
    this.#patience = patience;
    this.#standbys = sources.map(newStandby);
    this.#active = this.#standbys[0];
    this.change(sources);
  }

  /** In order of preference. */
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
   * @returns the sources that are no longer used
   * @throws Error if there are no sources
   */
  change(sources: readonly WorkSource[]): readonly Standby[] {
    if (sources.length === 0) throw new Error('give at least one source of work');
    const before = this.#standbys;
    const used = sources.map((source) => before.find((each) => each.source === source) ?? newStandby(source));
    const removed = before.filter((each) => !used.includes(each));
    for (const standby of removed) standby.removed = true;
    for (const standby of used) standby.removed = false;
    if (!this.#active.started) this.#active = used[0];
    this.#setStandbys([...used, ...removed.filter((each) => each === this.#active)]);
    return removed;
  }

  #setStandbys(standbys: readonly Standby[]): void {
    this.#standbys = standbys;
    for (const [rank, standby] of standbys.entries()) standby.rank = rank;
  }

  /**
   * Whether a source whose state has changed takes over now: a healthy preferred one at once, or at the end of its
   * trial; others only when patience has ended.
   */
  takesOver(standby: Standby, nowMs: number): boolean {
    if (isInNeed(standby) || !isBetter(standby, this.#active)) return false;
    const isPreferred = standby.rank < this.#active.rank && isHealthy(standby);
    return this.#isImpatient || (isPreferred && trialLeftMs(standby, nowMs) <= 0);
  }

  /**
   * Makes a source the active one. @returns what follows its name in a sentence, and whether a preferred one is back
   */
  activate(standby: Standby, nowMs: number): { readonly reason: string; readonly isBack: boolean } {
    const left = this.#active;
    const { source, silent, lost, removed } = left;
    const isBack = standby.rank < left.rank && !removed;
    const isSlow = !lost && !silent && !this.#isImpatient;
    if (!isBack && !removed && isInNeed(left)) leave(left, nowMs, isSlow);
    const trial =
      isBack || removed || left.trialMs === 0
        ? ''
        : `, which must give work for ${left.trialMs / 1000} s before it is used again`;
    const why = removed
      ? ', which is no longer configured'
      : silent
        ? ', which does not answer'
        : isHealthy(left)
          ? ''
          : ', which is unhealthy';
    this.#active = standby;
    if (removed) this.#setStandbys(this.#standbys.filter((each) => each !== left));
    // No other source may take over until the new one has been unfit for too long.
    this.#unfitSinceMs = undefined;
    this.#isImpatient = false;
    return { reason: `${isBack ? 'takes over again from' : 'takes over from'} ${source.name}${why}${trial}`, isBack };
  }

  /**
   * Loses patience with the active source when it has been unfit for too long.
   * @returns the source that takes over, or else the source to start, if there is one; nothing while patience lasts
   */
  losePatience(nowMs: number): { readonly next?: Standby | undefined; readonly toStart?: Standby | undefined } {
    if (!isUnfit(this.#active)) {
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

  /** @returns the time until patience or the first trial of a preferred source ends; undefined if neither runs */
  waitMs(nowMs: number): number | undefined {
    const patience = isUnfit(this.#active) ? [this.#patienceLeftMs(nowMs)] : [];
    const trials = this.preferred
      .filter((standby) => !isInNeed(standby))
      .map((standby) => trialLeftMs(standby, nowMs))
      .filter((ms) => ms > 0);
    const all = [...patience, ...trials];
    return all.length === 0 ? undefined : Math.min(...all);
  }

  /** A silent source has used up its patience already; a failed or removed one gets none. */
  #patienceLeftMs(nowMs: number): number {
    const { silent, failed, removed } = this.#active;
    if ((silent || failed || removed) && !this.#isImpatient) return 0;
    const { patienceMs, readyPatienceMs } = this.#patience;
    return (
      (this.#unfitSinceMs ?? nowMs) + (this.#better && isHealthy(this.#better) ? readyPatienceMs : patienceMs) - nowMs
    );
  }

  /** The best source that could take over from the active one now. */
  get #better(): Standby | undefined {
    const better = this.#standbys.filter((standby) => !isInNeed(standby) && isBetter(standby, this.#active));
    return better.find(isHealthy) ?? better[0];
  }

  /** The source to start next. An unhealthy one is started only when the active source gives no work. */
  get #idle(): Standby | undefined {
    const idle = this.#standbys.filter(({ started, failed }) => !started && !failed);
    return idle.find(isHealthy) ?? (isInNeed(this.#active) ? idle[0] : undefined);
  }
}

function newStandby(source: WorkSource): Standby {
  return {
    source,
    rank: 0,
    removed: false,
    started: false,
    followsHealth: false,
    ending: new AbortController(),
    following: Promise.resolve(),
    lost: false,
    silent: false,
    failed: false,
    faults: new Map(),
    given: 0,
    givesSinceMs: undefined,
    leftAtMs: Number.NEGATIVE_INFINITY,
    trialMs: 0,
    work: undefined,
  };
}

/** Notes that another source takes over. @param isSlow whether this one is merely slower to give its next work */
function leave(standby: Standby, nowMs: number, isSlow: boolean): void {
  const isAgain = nowMs - standby.leftAtMs < (isSlow ? SLOW_AGAIN_MS : AGAIN_MS) + standby.trialMs;
  standby.trialMs = isAgain ? Math.min(MOST_TRIAL_MS, Math.max(FIRST_TRIAL_MS, 2 * standby.trialMs)) : 0;
  standby.leftAtMs = nowMs;
  standby.givesSinceMs = undefined;
}

/** @returns how much longer the source must give work before it may take over again; 0 or less if it may now */
function trialLeftMs({ givesSinceMs, trialMs }: Standby, nowMs: number): number {
  return (givesSinceMs ?? nowMs) + trialMs - nowMs;
}

/** Whether the source gives no work now. */
function isInNeed({ work, lost, silent }: Standby): boolean {
  return work === undefined || lost || silent;
}

export function isHealthy({ faults }: Standby): boolean {
  return faults.size === 0;
}

/** Whether there is a reason to look for another source. */
export function isUnfit(standby: Standby): boolean {
  return isInNeed(standby) || !isHealthy(standby) || standby.removed;
}

/** Best is a healthy source, then an unhealthy, a removed one, one without work; among equals the preferred. */
function isBetter(one: Standby, other: Standby): boolean {
  return grade(one) < grade(other) || (grade(one) === grade(other) && one.rank < other.rank);
}

function grade(standby: Standby): number {
  if (isInNeed(standby)) return 3;
  if (standby.removed) return 2;
  return isHealthy(standby) ? 0 : 1;
}
