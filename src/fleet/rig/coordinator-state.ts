/** The works of one coordinator, the current work and the coordinator's clock, from its states. Pure. */

import { BoundedMap, BoundedSet } from '../../base/system/bounded.ts';
import type { StaleReason } from '../../miner/events/vocabulary.ts';
import type { Work } from '../../protocol/chain/work.ts';
import { type CoordinatorState, type GivenWork, workOfGiven } from '../messages.ts';
import { MOST_WORKS } from './rig-limits.ts';

/** One run of a coordinator, from its start to its end, as its states show it. */
interface Run {
  readonly instance: string;
  /** The number of the newest state. */
  number: number;
}

export interface IssuedWork {
  readonly name: string;
  readonly work: Work;
  /** Time of the last state that named this work as current (monotonic). */
  confirmedMs: number;
  /**
   * The work's latest safe creation time minus the monotonic time of reception, in µs, from the last state that named
   * the work as current. The greatest difference of all states would be wrong: this machine's clock may run faster than
   * the coordinator's, and a node's clock can be set back. A state that comes late only makes the difference smaller.
   */
  offsetUs: number;
  /** Whether a state of the coordinator has reported the end of the work, after which its solutions are worthless. */
  hasEnded: boolean;
}

/**
 * - `taken`: the state is the newest.
 * - `old`: a newer state has come already.
 * - `other-instance`: the state is from another coordinator of this name.
 */
type Reception = 'taken' | 'old' | 'other-instance';

export class CoordinatorStates {
  readonly #replacedAfterMs: number;
  #run: Run | undefined;
  #newest: CoordinatorState | undefined;
  #lastStateMs = Number.NEGATIVE_INFINITY;
  readonly #known = new BoundedMap<string, IssuedWork>(MOST_WORKS);
  readonly #about = new WeakMap<Work, IssuedWork>();
  /** The names of ended works. */
  readonly #ended = new BoundedSet<string>(MOST_WORKS);
  /** The known works that have ended since the last call of `takeEnded`. */
  #news: { readonly work: Work; readonly reason: StaleReason }[] = [];

  /** @param replacedAfterMs time without a newer state after which any state counts */
  constructor(replacedAfterMs: number) {
    this.#replacedAfterMs = replacedAfterMs;
  }

  /** Time at which the newest state came (monotonic); −∞ before the first. */
  get lastStateMs(): number {
    return this.#lastStateMs;
  }

  /** Why the coordinator's own source is out of reach; null while it is in reach. */
  get lost(): string | null {
    return this.#newest?.lost ?? null;
  }

  /** Why the work is probably worth nothing, by the newest state; undefined while the coordinator is healthy. */
  get fault(): string | undefined {
    return this.#newest?.fault;
  }

  /** Whether the coordinator's newest state reports that there is no work now. */
  get hasNone(): boolean {
    return this.#newest?.work === null;
  }

  /** The current work; undefined while there is none, while only its name is known, and after its end. */
  get current(): IssuedWork | undefined {
    const name = this.#newest?.work ?? undefined;
    return name === undefined || this.#ended.has(name) ? undefined : this.#known.get(name);
  }

  /** Whether only the name of the current work is known, so that the coordinator must be asked for it. */
  get isCurrentUnknown(): boolean {
    const name = this.#newest?.work ?? undefined;
    return name !== undefined && !this.#ended.has(name) && !this.#known.has(name);
  }

  take(state: CoordinatorState, nowMs: number): Reception {
    const reception = this.#receive(state, nowMs);
    if (reception !== 'taken') return reception;
    const { work, given } = state;
    for (const { name, reason } of state.ended) this.#end(name, reason);
    const offsetUs = state.latestTimeMicros - nowMs * 1000;
    if (given !== undefined && given.name === work) this.#learn(given, nowMs, offsetUs);
    const { current } = this;
    if (current) {
      current.confirmedMs = nowMs;
      current.offsetUs = offsetUs;
    }
    return reception;
  }

  /** @returns the known works that have ended since the last call, by reason */
  takeEnded(): ReadonlyMap<StaleReason, readonly Work[]> {
    const byReason = new Map<StaleReason, Work[]>();
    for (const { work, reason } of this.#news) byReason.set(reason, [...(byReason.get(reason) ?? []), work]);
    this.#news = [];
    return byReason;
  }

  /** @returns undefined for a work of another coordinator */
  about(work: Work): IssuedWork | undefined {
    return this.#about.get(work);
  }

  /** Drops a work that is too old. A state that names it later makes it a work to be requested, and a new one. */
  forget({ name }: IssuedWork): void {
    this.#known.delete(name);
  }

  /** Makes all works older by a suspension of this machine, in which the monotonic clock may have stood still. */
  age(ms: number): void {
    for (const known of this.#known.values()) known.confirmedMs -= ms;
  }

  /** @returns µs since the UNIX epoch; 0 for a work of another coordinator */
  latestTimeUs(work: Work, nowMs: number): bigint {
    const known = this.#about.get(work);
    return known ? BigInt(Math.floor(known.offsetUs + nowMs * 1000)) : 0n;
  }

  #receive(state: CoordinatorState, nowMs: number): Reception {
    const { instance, number } = state;
    const isOverdue = nowMs - this.#lastStateMs >= this.#replacedAfterMs;
    const run = this.#run?.instance === instance ? this.#run : undefined;
    if (run && (number >= run.number || isOverdue)) {
      // If newer states are overdue, a lower number counts, too: a forged state with a huge number must not shut out
      // the coordinator for good.
      run.number = number;
    } else if (!this.#run || isOverdue) {
      this.#run = { instance, number };
    } else {
      // If this state counted, two coordinators of one name would change the work of every rig each second.
      return run ? 'old' : 'other-instance';
    }
    this.#newest = state;
    this.#lastStateMs = nowMs;
    return 'taken';
  }

  #end(name: string, reason: StaleReason): void {
    if (this.#ended.has(name)) return;
    this.#ended.add(name);
    const known = this.#known.get(name);
    if (!known) return;
    known.hasEnded = true;
    this.#known.delete(name);
    this.#news.push({ work: known.work, reason });
  }

  #learn(given: GivenWork, nowMs: number, offsetUs: number): void {
    const { name } = given;
    if (this.#known.has(name) || this.#ended.has(name)) return;
    const known = { name, work: workOfGiven(given), confirmedMs: nowMs, offsetUs, hasEnded: false };
    this.#known.set(name, known);
    this.#about.set(known.work, known);
  }
}
