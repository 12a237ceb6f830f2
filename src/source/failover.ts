/**
 * Uses several sources as one. The first source is preferred: while it is lost or unhealthy another one takes over,
 * until the first is back. A source that is lost again and again must give work for a while first. A source that was
 * started once stays on standby, so that the next change takes no time, unless it is to be closed after a while. A
 * source that throws is left for good. Sources can be added, removed and reordered while they are used. This file uses
 * the WorkSource interface and knows no implementation.
 */

import type { Solution } from '../chain/verify.ts';
import type { Work } from '../chain/work.ts';
import type { Listener } from '../events/events.ts';
import { onAbort, pause } from '../system/abort.ts';
import { type Clock, systemClock } from '../system/clock.ts';
import { Mailbox, type SourceUpdate, type Verdict, type WorkSource } from './source.ts';
import {
  AdoptedWorks,
  answersNow,
  isBetter,
  isInNeed,
  isUnfit,
  leave,
  newStandby,
  type Standby,
  trialLeftMs,
  trialOf,
} from './standby.ts';
import { LEFT, type SourceKind, type SourceNews } from './vocabulary.ts';

export interface FailoverOptions {
  /** The sources in order of preference; at least one. All are of the same kind. */
  readonly sources: readonly WorkSource[];
  readonly emit?: Listener;
  /** How long the active source may be without work, or out of reach, before another one is started. */
  readonly patienceMs?: number;
  /** How long the same may last when another source has work already. */
  readonly readyPatienceMs?: number;
  /** How often the active source is asked whether it still answers. */
  readonly probeMs?: number;
  /**
   * When a preferred source gives work again, the others are closed after this time: pools want no idle connections.
   * Without it they stay on standby. The `updates` of sources that are closed may be called again.
   */
  readonly standbyMs?: number;
  readonly clock?: Clock;
}

/** Longer than a node needs to accept connections again, and much shorter than the time between blocks. */
const PATIENCE_MS = 2_000;
/** Longer than the answers to the last solutions of a source that was removed usually take. */
const REMOVED_MS = 2_000;
/** Longer than the answer to a solution and the fetch of the next work usually take. */
const READY_PATIENCE_MS = 500;
/**
 * The time between probes. A frozen node gives no other sign: its streams stay open, and its work goes on being mined.
 */
const PROBE_MS = 1_000;

export class FailoverSource implements WorkSource {
  readonly kind: SourceKind;
  #standbys: readonly Standby[];
  #serials = 0;
  readonly #emit: Listener;
  readonly #patienceMs: number;
  readonly #readyPatienceMs: number;
  readonly #probeMs: number;
  readonly #clock: Clock;
  readonly #mailbox = new Mailbox();
  readonly #works = new AdoptedWorks();
  readonly #standbyMs: number | undefined;
  #active: Standby;
  #patience: NodeJS.Timeout | undefined;
  #closing: NodeJS.Timeout | undefined;
  #probing: Promise<void> | undefined;
  /** Ends when a preferred source may take over again. */
  #trial: NodeJS.Timeout | undefined;
  /** Since when the active source has been unfit, or when another one was last started because of it (monotonic). */
  #unfitSinceMs: number | undefined;
  /**
   * Set when the active source has been unfit for too long: then the first better source that gives work takes over.
   */
  #impatient = false;
  /** The sources that were removed and still wait for answers, with the timers that end them. */
  readonly #retiring = new Map<Standby, NodeJS.Timeout>();
  #stop: AbortSignal = AbortSignal.abort();

  /** @throws Error when there are no sources */
  constructor(options: FailoverOptions) {
    const { sources, emit, patienceMs, readyPatienceMs, probeMs, standbyMs, clock } = options;
    if (sources.length === 0) throw new Error('give at least one source of work');
    this.kind = sources[0].kind ?? 'node';
    this.#standbys = sources.map((source) => newStandby(source, this.#serials++));
    this.#active = this.#standbys[0];
    this.#emit = (event) => this.#guarded(() => emit?.(event));
    this.#patienceMs = patienceMs ?? PATIENCE_MS;
    this.#readyPatienceMs = readyPatienceMs ?? READY_PATIENCE_MS;
    this.#probeMs = probeMs ?? PROBE_MS;
    this.#standbyMs = standbyMs;
    this.#clock = clock ?? systemClock;
    this.#followHealth();
  }

  get name(): string {
    return this.#standbys.map(({ source }) => source.name).join(', ');
  }

  /**
   * Uses these sources from now on, in this order. One that is used already goes on. One that is no longer among them
   * ends once its last solutions are answered; while no other source gives work, it is still mined on.
   * @param sources at least one, of the same kind as those before
   */
  change(sources: readonly WorkSource[]): void {
    if (sources.length === 0) throw new Error('give at least one source of work');
    const before = this.#standbys;
    const used = sources.map(
      (source) => before.find((each) => each.source === source) ?? newStandby(source, this.#serials++),
    );
    const removed = before.filter((each) => !used.includes(each));
    for (const standby of removed) standby.removed = true;
    if (!this.#active.started) this.#active = used[0];
    this.#standbys = [...used, ...removed.filter((each) => each === this.#active)];
    for (const [rank, standby] of this.#standbys.entries()) standby.rank = rank;
    this.#followHealth();
    for (const standby of removed) if (standby !== this.#active) this.#retire(standby);
    if (this.#stop.aborted) return;
    this.#probe();
    const [first] = used;
    if (!first.started && !first.failed && first !== this.#active) this.#start(first);
    for (const standby of used) this.#considerNow(standby);
    this.#watch();
  }

  /** @throws what a listener has thrown, or the last source when all have thrown */
  async *updates(stop: AbortSignal): AsyncGenerator<SourceUpdate, void> {
    const ending = new AbortController();
    const release = onAbort(stop, () => ending.abort());
    this.#stop = ending.signal;
    this.#start(this.#standbys[0]);
    this.#watch();
    this.#probe();
    try {
      yield* this.#mailbox.updates(stop);
    } finally {
      release();
      ending.abort();
      clearTimeout(this.#patience);
      clearTimeout(this.#closing);
      clearTimeout(this.#trial);
      for (const timer of this.#retiring.values()) clearTimeout(timer);
      const standbys = [...this.#standbys, ...this.#retiring.keys()];
      await Promise.all([this.#probing, ...standbys.map(({ following }) => following)]);
    }
  }

  /** Submits the solution to the source that gave its work. */
  async submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const origin = this.#works.originOf(solution.work);
    if (!origin) return { outcome: 'unknown', reason: 'no source gave this work' };
    const { source, work } = origin;
    return { by: source.name, ...(await source.submit({ ...solution, work }, stop)) };
  }

  nameOf(work: Work): string {
    return this.#works.originOf(work)?.source.name ?? this.name;
  }

  latestTimeUs(work: Work): bigint {
    const origin = this.#works.originOf(work);
    return origin ? origin.source.latestTimeUs(origin.work) : 0n;
  }

  /**
   * Tells what others have found out about a source. The work of an unhealthy source is given only while no healthy
   * source gives any. Solutions of its work are submitted all the same.
   * @param rank the source's place in the order of preference; 0 is the first
   * @param fault what follows the source's name in a sentence; undefined when the source is healthy
   * @param news the same of a source that is healthy
   */
  judge(rank: number, fault: string | undefined, news = 'is healthy again'): void {
    this.#judge(this.#standbys[rank], fault, news);
  }

  #judge(standby: Standby, fault: string | undefined, news: string): void {
    if (standby.removed) return;
    standby.healthy = fault === undefined;
    const until =
      this.#standbys.length === 1
        ? `on all the same, because no other ${this.kind} is configured`
        : `on only while no other ${this.kind} is better`;
    if (standby.healthy) this.#report(standby, 'healthy', news);
    else this.#report(standby, 'unhealthy', `${fault}. It is mined ${until}`);
    this.#considerNow(standby);
    this.#watch();
  }

  /** Sources judge themselves only where another one could take over. */
  #followHealth(): void {
    if (this.#standbys.length === 1) return;
    for (const standby of this.#standbys) {
      if (standby.followsHealth) continue;
      standby.followsHealth = true;
      standby.source.onHealth?.((fault, news = 'is healthy again') => this.#judge(standby, fault, news));
    }
  }

  /** Ends a source that was removed, once the answers to its last solutions can have come. */
  #retire(standby: Standby): void {
    if (!standby.started) return;
    const end = () => {
      this.#retiring.delete(standby);
      this.#drop(standby);
      this.#reportClosed(standby, 'it is no longer configured');
    };
    this.#retiring.set(standby, setTimeout(end, REMOVED_MS));
  }

  #start(standby: Standby): void {
    const ending = new AbortController();
    standby.started = true;
    standby.ending = ending;
    const run = () => this.#follow(standby, ending);
    standby.following = standby.following.then(run).catch((thrown: unknown) => this.#fail(standby, thrown));
  }

  async #follow(standby: Standby, ending: AbortController): Promise<void> {
    const release = onAbort(this.#stop, () => ending.abort());
    try {
      for await (const update of standby.source.updates(ending.signal)) {
        if (!ending.signal.aborted) this.#take(standby, update);
      }
    } finally {
      release();
    }
  }

  /** Leaves a source that has thrown, though it may not. The others are used without it, as long as one is left. */
  #fail(standby: Standby, thrown: unknown): void {
    if (standby.failed) return;
    standby.failed = true;
    this.#drop(standby);
    if (!this.#standbys.includes(standby)) return;
    standby.lost = true;
    const what = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    const reason = `has failed and is ${LEFT}. Please report this fault of the program: ${what}`;
    this.#report(standby, 'lost', reason);
    if (this.#standbys.every(({ failed }) => failed)) this.#mailbox.fail(thrown);
    else if (this.#standbys.every(({ lost }) => lost)) this.#mailbox.put({ kind: 'lost', reason });
    this.#watch();
  }

  /** Calls a listener. If it throws, so do the updates. */
  #guarded(action: () => void): void {
    try {
      action();
    } catch (thrown) {
      this.#mailbox.fail(thrown);
    }
  }

  #take(standby: Standby, update: SourceUpdate): void {
    if (this.#retiring.has(standby) && update.kind !== 'stale') return;
    if (update.kind === 'work') {
      standby.lost = false;
      standby.silent = false;
      standby.given++;
      standby.givesSinceMs ??= this.#clock.monotonicMs();
      standby.work = this.#works.adopt(standby, update.work);
      if (standby === this.#active) this.#give(standby.work);
      else this.#considerNow(standby);
    } else if (update.kind === 'rest') {
      standby.work = undefined;
      if (standby === this.#active) this.#mailbox.put(update);
    } else if (update.kind === 'stale') {
      const works = this.#works.adopted(update.works);
      if (standby.work && works.includes(standby.work)) standby.work = undefined;
      const given = works.filter((work) => this.#works.isGiven(work));
      if (given.length > 0) this.#mailbox.put({ ...update, works: given });
    } else {
      standby.lost = true;
      standby.givesSinceMs = undefined;
      if (this.#standbys.every(({ lost }) => lost)) this.#mailbox.put(update);
    }
    this.#watch();
  }

  /** Begins to ask the active source, once another one could take over. */
  #probe(): void {
    if (this.#standbys.length > 1 && !this.#stop.aborted) this.#probing ??= this.#keepProbing(this.#stop);
  }

  /** Asks the active source again and again whether it answers. A frozen node is noticed in no other way. */
  async #keepProbing(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await pause(this.#probeMs, stop);
      const active = this.#active;
      const { given } = active;
      try {
        // A single question can get lost, so the source is asked twice.
        const answers = (await answersNow(active.source, stop)) || (await answersNow(active.source, stop));
        // A source that has given work meanwhile is not silent, even if it did not answer.
        if (active.given === given) active.silent = !answers;
      } catch (thrown) {
        this.#fail(active, thrown);
      }
      this.#watch();
    }
  }

  /**
   * Lets a better source take over: a healthy one that is preferred at once, or at the end of its trial; others only
   * when patience has ended.
   */
  #considerNow(standby: Standby): void {
    if (!standby.work || isInNeed(standby) || !isBetter(standby, this.#active)) return;
    const isPreferred = standby.rank < this.#active.rank && standby.healthy;
    const nowMs = this.#clock.monotonicMs();
    if ((isPreferred && trialLeftMs(standby, nowMs) <= 0) || this.#impatient) this.#activate(standby, standby.work);
    else if (isPreferred) this.#considerLater(nowMs);
  }

  /** Waits for the end of the first trial of a preferred source. */
  #considerLater(nowMs: number): void {
    clearTimeout(this.#trial);
    if (this.#stop.aborted) return;
    const preferred = this.#standbys.slice(0, this.#active.rank).filter((standby) => !isInNeed(standby));
    const leftMs = preferred.map((standby) => trialLeftMs(standby, nowMs)).filter((ms) => ms > 0);
    this.#trial = setTimeout(
      () => {
        for (const standby of preferred) this.#considerNow(standby);
      },
      Math.min(...leftMs),
    );
  }

  #activate(standby: Standby, work: Work): void {
    const left = this.#active;
    const back = standby.rank < left.rank && !left.removed;
    const { source, silent, healthy, lost, removed } = left;
    const isSlow = !lost && !silent && !this.#impatient;
    if (!back && !removed && isInNeed(left)) leave(left, this.#clock.monotonicMs(), isSlow);
    const change = back ? 'takes over again from' : 'takes over from';
    const trial = back || removed ? '' : trialOf(left);
    const why = removed
      ? ', which is no longer configured'
      : silent
        ? ', which does not answer'
        : healthy
          ? ''
          : ', which is unhealthy';
    const reason = `${change} ${source.name}${why}${trial}`;
    this.#active = standby;
    if (removed) {
      this.#standbys = this.#standbys.filter((each) => each !== left);
      this.#retire(left);
    }
    // No other source may take over until the new one has been unfit for too long.
    this.#unfitSinceMs = undefined;
    this.#impatient = false;
    this.#report(standby, 'info', reason);
    this.#give(work);
    if (back) this.#closeLater();
  }

  #give(work: Work): void {
    this.#works.give(work);
    this.#mailbox.put({ kind: 'work', work });
  }

  /** Whether a source runs that is less preferred than the active one; it need not ever have taken over. */
  get #hasIdleStandby(): boolean {
    return this.#standbys.some(({ started, rank }) => started && rank > this.#active.rank);
  }

  /** Closes the sources that are less preferred than the active one, unless they are needed again by then. */
  #closeLater(): void {
    if (this.#standbyMs === undefined) return;
    clearTimeout(this.#closing);
    this.#closing = setTimeout(() => {
      this.#closing = undefined;
      if (isUnfit(this.#active)) this.#closeLater();
      else for (const standby of this.#standbys) if (standby.rank > this.#active.rank) this.#close(standby);
    }, this.#standbyMs);
  }

  #close(standby: Standby): void {
    if (!standby.started) return;
    this.#drop(standby);
    this.#reportClosed(standby, `${this.#active.source.name} gives work again`);
  }

  /** Until the source has ended, it may have news of its own. */
  #reportClosed(standby: Standby, why: string): void {
    const reason = `its connection is closed, because ${why}`;
    standby.following = standby.following.then(() => this.#report(standby, 'standby', reason));
  }

  /** Ends a source. Its work becomes stale. */
  #drop(standby: Standby): void {
    standby.started = false;
    standby.ending.abort();
    standby.lost = false;
    standby.silent = false;
    const { work } = standby;
    standby.work = undefined;
    if (work && this.#works.isGiven(work)) this.#mailbox.put({ kind: 'stale', works: [work], reason: 'cancelled' });
  }

  #report({ source }: Standby, state: SourceNews, reason: string): void {
    this.#emit({ type: 'source', source: source.name, kind: this.kind, state, reason });
  }

  /** Starts the patience timer when the active source becomes unfit, and stops it when it is fit again. */
  #watch(): void {
    clearTimeout(this.#patience);
    if (!isUnfit(this.#active) || this.#stop.aborted) {
      this.#unfitSinceMs = undefined;
      this.#impatient = false;
      if (this.#hasIdleStandby && !this.#closing && !this.#stop.aborted) this.#closeLater();
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    this.#unfitSinceMs ??= nowMs;
    const leftMs = this.#unfitSinceMs + this.#patienceNowMs() - nowMs;
    if (leftMs <= 0) {
      this.#unfitSinceMs = nowMs;
      this.#bringIn();
    }
    if (isUnfit(this.#active)) {
      this.#patience = setTimeout(() => this.#watch(), leftMs > 0 ? leftMs : this.#patienceMs);
    }
  }

  /**
   * @returns how long the active source may be unfit. A silent source has used up its time already, and one that has
   *   failed has none
   */
  #patienceNowMs(): number {
    const { silent, failed, removed } = this.#active;
    if ((silent || failed || removed) && !this.#impatient) return 0;
    return this.#better?.healthy ? this.#readyPatienceMs : this.#patienceMs;
  }

  /** The source that should take over from the active one, if one could do so now. */
  get #better(): Standby | undefined {
    const better = this.#standbys.filter((standby) => !isInNeed(standby) && isBetter(standby, this.#active));
    return better.find(({ healthy }) => healthy) ?? better[0];
  }

  /** The source to start next. An unhealthy one is started only when the active source gives no work. */
  get #next(): Standby | undefined {
    const others = this.#standbys.filter(({ started, failed }) => !started && !failed);
    return others.find(({ healthy }) => healthy) ?? (isInNeed(this.#active) ? others[0] : undefined);
  }

  /** Lets the best source that has work take over. When none is better than the active one, starts one more source. */
  #bringIn(): void {
    const better = this.#better;
    if (better?.work) {
      this.#activate(better, better.work);
      return;
    }
    this.#impatient = true;
    const next = this.#next;
    if (next) this.#start(next);
  }
}
