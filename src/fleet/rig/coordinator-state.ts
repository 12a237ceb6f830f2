/** What a rig derives from the states of one coordinator: works, and their latest valid creation times. Pure. */

import { BoundedMap, BoundedSet } from '../../base/system/bounded.ts';
import type { StaleReason } from '../../miner/events/vocabulary.ts';
import type { Work } from '../../protocol/chain/work.ts';
import { type CoordinatorState, type GivenWork, workOfGiven } from '../messages.ts';
import { MOST_WORKS } from './rig-limits.ts';

/** One run of a coordinator, from its start to its end. All states of a run have the same `instance`. */
interface Run {
  readonly instance: string;
  /** The number of the last accepted state. */
  readonly number: number;
}

export interface IssuedWork {
  readonly name: string;
  /** What listeners get for this work now: see `renew`. */
  work: Work;
  /**
   * Time of the last state that named this work as current (monotonic). A suspension of this machine makes it earlier
   * by the duration of the suspension.
   */
  confirmedMs: number;
  /**
   * The latest valid creation time in the last state that named this work as current, minus the monotonic time at which
   * that state came, in µs. A state that comes late makes the difference smaller, which is harmless. The greatest
   * difference of several states is not used, because it can be too great: this machine's clock may run faster than the
   * coordinator's, and a node's clock can be set back.
   */
  offsetUs: number;
  /** Whether a state has reported the end of the work. After the end, solutions of the work are worthless. */
  hasEnded: boolean;
}

/**
 * - `taken`: the state is the newest.
 * - `old`: a newer state of the same run has come already.
 * - `other-instance`: the state is of another run, although the last accepted state is less than `replacedAfterMs` old.
 *   Probably two coordinators have this name.
 */
type Reception = 'taken' | 'old' | 'other-instance';

export class CoordinatorStates {
  readonly #replacedAfterMs: number;
  #run: Run | undefined;
  #newest: CoordinatorState | undefined;
  #lastStateMs = Number.NEGATIVE_INFINITY;
  /** The coordinator's works by their names, without works that have ended. */
  readonly #known = new BoundedMap<string, IssuedWork>(MOST_WORKS);
  readonly #about = new WeakMap<Work, IssuedWork>();
  /** The names of the works whose ends were reported most recently. */
  readonly #ended = new BoundedSet<string>(MOST_WORKS);
  /** The known works that have ended since the last call of `takeEnded`. */
  #news: { readonly work: Work; readonly reason: StaleReason }[] = [];

  /** @param replacedAfterMs time since the last accepted state after which every state is accepted */
  constructor(replacedAfterMs: number) {
    this.#replacedAfterMs = replacedAfterMs;
  }

  /** Time at which the last accepted state came (monotonic); −∞ before the first. */
  get lastStateMs(): number {
    return this.#lastStateMs;
  }

  /** Why the coordinator's own source is out of reach, by the newest state; null while it is in reach. */
  get lost(): string | null {
    return this.#newest?.lost ?? null;
  }

  /** Why the coordinator's work is probably worth nothing, by the newest state; undefined if it reports no fault. */
  get fault(): string | undefined {
    return this.#newest?.fault;
  }

  /** Whether the coordinator's newest state reports that there is no work now. */
  get hasNone(): boolean {
    return this.#newest?.work === null;
  }

  /**
   * The current work by the newest state; undefined if there is none, if only its name is known, or if it has ended.
   */
  get current(): IssuedWork | undefined {
    return this.#known.get(this.#newest?.work ?? '');
  }

  /** Whether only the name of the current work is known, so that the coordinator must be asked for it. */
  get isCurrentUnknown(): boolean {
    const name = this.#newest?.work ?? null;
    return name !== null && !this.#ended.has(name) && !this.#known.has(name);
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

  /** @returns what is known about the work; undefined if it is not one of this coordinator's works */
  about(work: Work): IssuedWork | undefined {
    return this.#about.get(work);
  }

  /**
   * Drops a work that is too old. If a later state names this work as current, it must be requested, and counts as a
   * new work.
   */
  forget({ name }: IssuedWork): void {
    this.#known.delete(name);
  }

  /**
   * Replaces the work by an equal one. A miner ignores a work whose end was reported, as that of each work is when its
   * source is closed. Solutions of both belong to the coordinator's work.
   */
  renew(known: IssuedWork): void {
    known.work = { ...known.work };
    this.#about.set(known.work, known);
  }

  /**
   * Makes all works older after a suspension of this machine, in which the monotonic clock may have stood still.
   * @param ms duration of the suspension
   */
  age(ms: number): void {
    for (const known of this.#known.values()) known.confirmedMs -= ms;
  }

  /**
   * @returns the latest creation time that is surely valid for the work, in µs since the UNIX epoch; 0 if the work is
   *   not one of this coordinator's works
   */
  latestTimeUs(work: Work, nowMs: number): bigint {
    const known = this.#about.get(work);
    return known ? BigInt(Math.floor(known.offsetUs + nowMs * 1000)) : 0n;
  }

  #receive(state: CoordinatorState, nowMs: number): Reception {
    const { instance, number } = state;
    // If no state was accepted for `replacedAfterMs`, every state is accepted. Otherwise, one forged state with a huge
    // number would shut out the coordinator for good.
    if (nowMs - this.#lastStateMs < this.#replacedAfterMs) {
      // If states of another run were accepted, and two coordinators had this name, every rig would change its work
      // each second.
      if (instance !== this.#run?.instance) return 'other-instance';
      if (number < this.#run.number) return 'old';
    }
    this.#run = { instance, number };
    this.#newest = state;
    this.#lastStateMs = nowMs;
    return 'taken';
  }

  #end(name: string, reason: StaleReason): void {
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
