/** One of the sources among which failover chooses: how it is doing, and which of two is better. Pure. */

import type { Work } from '../chain/work.ts';
import type { WorkSource } from './source.ts';

export interface Standby {
  readonly source: WorkSource;
  /** Its place in the order of preference; 0 is the first. A source that was removed has the last one. */
  rank: number;
  /** Distinguishes its works from those of all other sources, also of earlier ones. */
  readonly serial: number;
  /** Whether it is no longer among the sources to use: it gives work only until another one does. */
  removed: boolean;
  started: boolean;
  /** Whether it reports its health. */
  followsHealth: boolean;
  /** Ends the source, and settles when it has ended; not started again before that. */
  ending: AbortController;
  following: Promise<void>;
  /** Whether the source has been out of reach since it last gave work. */
  lost: boolean;
  /** Whether the source did not answer the last probe. */
  silent: boolean;
  /** Whether the source has thrown, which it may not: it is left for good. */
  failed: boolean;
  /** Whether the source is as good as others, so far as is known: its work may be worth nothing otherwise. */
  healthy: boolean;
  /** How often the source has given work. */
  given: number;
  /** Since when it has given work and was not lost (monotonic); undefined while that is not so. */
  givesSinceMs: number | undefined;
  /** When another source last took over because this one gave no work (monotonic). */
  leftAtMs: number;
  /**
   * For how long it must have given work before it takes over again: longer each time when it is left again and again.
   */
  trialMs: number;
  /** The source's current work, with an id that is unique among all sources. */
  work: Work | undefined;
}

/** @returns a source that has not been started */
export function newStandby(source: WorkSource, serial: number): Standby {
  return {
    source,
    rank: serial,
    serial,
    removed: false,
    started: false,
    followsHealth: false,
    ending: new AbortController(),
    following: Promise.resolve(),
    lost: false,
    silent: false,
    failed: false,
    healthy: true,
    given: 0,
    givesSinceMs: undefined,
    leftAtMs: Number.NEGATIVE_INFINITY,
    trialMs: 0,
    work: undefined,
  };
}

/** A source that is left again within this time after its trial has a longer one. */
const AGAIN_MS = 60_000;
/**
 * The same of a source that is within reach and merely slower than another one, which costs half a second each time:
 * that is little of this time, and nearly all of the time of a source whose works end at once.
 */
const SLOW_AGAIN_MS = 10_000;
const FIRST_TRIAL_MS = 5_000;
const MOST_TRIAL_MS = 300_000;

/**
 * Notes that another source takes over because this one gives no work.
 * @param isSlow whether it is merely slower to give its next work than the other one
 */
export function leave(standby: Standby, nowMs: number, isSlow: boolean): void {
  const isAgain = nowMs - standby.leftAtMs < (isSlow ? SLOW_AGAIN_MS : AGAIN_MS) + standby.trialMs;
  standby.trialMs = isAgain ? Math.min(MOST_TRIAL_MS, Math.max(FIRST_TRIAL_MS, 2 * standby.trialMs)) : 0;
  standby.leftAtMs = nowMs;
  standby.givesSinceMs = undefined;
}

/** @returns how much longer the source must give work before it may take over again: 0 or less when it may */
export function trialLeftMs({ givesSinceMs, trialMs }: Standby, nowMs: number): number {
  return (givesSinceMs ?? nowMs) + trialMs - nowMs;
}

/** Whether the source gives no work now. */
export function isInNeed({ work, lost, silent }: Standby): boolean {
  return work === undefined || lost || silent;
}

/** Whether there is a reason to look for another source. */
export function isUnfit(standby: Standby): boolean {
  return isInNeed(standby) || !standby.healthy || standby.removed;
}

/**
 * Any work is better than none, that of a source that was not removed is better, that of a healthy one is better still,
 * and among equals the preferred source is better.
 */
export function isBetter(one: Standby, other: Standby): boolean {
  return grade(one) < grade(other) || (grade(one) === grade(other) && one.rank < other.rank);
}

function grade(standby: Standby): number {
  if (isInNeed(standby)) return 3;
  if (standby.removed) return 2;
  return standby.healthy ? 0 : 1;
}

/**
 * @returns what follows the name of a source that is left in a sentence: for how long it must give work before it is
 *   used again
 */
export function trialOf({ trialMs }: Standby): string {
  return trialMs === 0 ? '' : `, which must give work for ${trialMs / 1000} s before it is used again`;
}

/** Asks a source whether it answers; one that cannot find out counts as answering. */
export async function answersNow(source: WorkSource, stop: AbortSignal): Promise<boolean> {
  return stop.aborted || !source.answers || (await source.answers(stop));
}

/** The works of several sources as one source gives them. */
export class AdoptedWorks {
  /** For each work given out: its source, and the work as that source knows it. */
  readonly #origins = new WeakMap<Work, { readonly source: WorkSource; readonly work: Work }>();
  /** For each work of a source: the same work with an id that is unique here. */
  readonly #adopted = new WeakMap<Work, Work>();
  readonly #given = new WeakSet<Work>();

  /**
   * Gives a work an id that is unique here: ids are unique only within a source. The same work stays the same object.
   */
  adopt({ source, serial }: Standby, work: Work): Work {
    const known = this.#adopted.get(work);
    if (known) return known;
    const own = { ...work, id: `${serial}/${work.id}` };
    this.#origins.set(own, { source, work });
    this.#adopted.set(work, own);
    return own;
  }

  /** @returns the same works as they are known here, without those that are not */
  adopted(works: readonly Work[]): Work[] {
    return works.flatMap((work) => this.#adopted.get(work) ?? []);
  }

  /** @returns the source of an adopted work, and the work as that source knows it */
  originOf(work: Work): { readonly source: WorkSource; readonly work: Work } | undefined {
    return this.#origins.get(work);
  }

  /** Notes that a work was given to be mined. */
  give(work: Work): void {
    this.#given.add(work);
  }

  isGiven(work: Work): boolean {
    return this.#given.has(work);
  }
}
