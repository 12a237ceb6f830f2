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
import { aborted, onAbort, pause } from '../system/abort.ts';
import { type Clock, systemClock } from '../system/clock.ts';
import { FailoverStrategy, isUnfit, type Patience, type Standby } from './failover-strategy.ts';
import type { SourceUpdate, UpdateListener, Verdict, WorkSource } from './source.ts';
import { LEFT, type SourceKind, type SourceNews } from './vocabulary.ts';

export interface FailoverOptions extends Partial<Patience> {
  /** The sources in order of preference; at least one. All are of the same kind. */
  readonly sources: readonly WorkSource[];
  readonly emit?: Listener;
  /** Time between two questions to the active source whether it still answers. */
  readonly probeMs?: number;
  /**
   * When a preferred source gives work again, the others are closed after this time: pools want no idle connections.
   * Without it they stay on standby. Sources that are closed may be followed again.
   */
  readonly standbyMs?: number;
  readonly clock?: Clock;
}

const PATIENCE: Patience = {
  /** Longer than a node needs to accept connections again, and much shorter than the time between blocks. */
  patienceMs: 2_000,
  /** Longer than the answer to a solution and the fetch of the next work usually take. */
  readyPatienceMs: 500,
};
/** Longer than the answers to the last solutions of a source that was removed usually take. */
const REMOVED_MS = 2_000;
/** A frozen node gives no other sign: its streams stay open, and its work goes on being mined. */
const PROBE_MS = 1_000;

export class FailoverSource implements WorkSource {
  readonly kind: SourceKind;
  readonly #strategy: FailoverStrategy;
  readonly #emit: Listener;
  readonly #probeMs: number;
  readonly #standbyMs: number | undefined;
  readonly #clock: Clock;
  /** The sources of the works that were given. */
  readonly #origins = new WeakMap<Work, WorkSource>();
  /** The sources that were removed and still wait for answers. */
  readonly #retiring = new Set<Standby>();
  readonly #ending = new AbortController();
  #isRunning = false;
  #listener: UpdateListener = () => {};
  /** What the listener of events has thrown, or the last source when all have thrown. */
  #fault: { readonly thrown: unknown } | undefined;
  /** Ends when patience or a trial does. */
  #timer: NodeJS.Timeout | undefined;
  #closing: NodeJS.Timeout | undefined;
  #probing: Promise<void> | undefined;

  /** @throws Error when there are no sources */
  constructor({ sources, emit, probeMs, standbyMs, clock, ...patience }: FailoverOptions) {
    this.#strategy = new FailoverStrategy(sources, { ...PATIENCE, ...patience });
    this.kind = sources[0].kind ?? 'node';
    this.#emit = (event) => {
      try {
        emit?.(event);
      } catch (thrown) {
        this.#end(thrown);
      }
    };
    this.#probeMs = probeMs ?? PROBE_MS;
    this.#standbyMs = standbyMs;
    this.#clock = clock ?? systemClock;
    this.#followHealth();
  }

  get name(): string {
    return this.#standbys.map(({ source }) => source.name).join(', ');
  }

  get #standbys(): readonly Standby[] {
    return this.#strategy.standbys;
  }

  get #active(): Standby {
    return this.#strategy.active;
  }

  /**
   * Uses these sources from now on, in this order. One that is used already goes on. One that is no longer among them
   * ends once its last solutions are answered; while no other source gives work, it is still mined on.
   * @param sources at least one, of the same kind as those before
   */
  change(sources: readonly WorkSource[]): void {
    const removed = this.#strategy.change(sources);
    this.#followHealth();
    for (const standby of removed) if (standby !== this.#active) void this.#retire(standby);
    if (!this.#isRunning) return;
    this.#probe();
    const [first] = this.#standbys;
    if (!first.started && !first.failed) this.#start(first);
    this.#choose(this.#standbys);
  }

  /** @throws what a listener of events has thrown, or the last source when all have thrown */
  async follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    this.#listener = listener;
    const release = onAbort(stop, () => this.#ending.abort());
    this.#isRunning = true;
    this.#start(this.#standbys[0]);
    this.#choose();
    this.#probe();
    await aborted(this.#ending.signal);
    release();
    this.#isRunning = false;
    clearTimeout(this.#timer);
    clearTimeout(this.#closing);
    const standbys = [...this.#standbys, ...this.#retiring];
    await Promise.all([this.#probing, ...standbys.map(({ following }) => following)]);
    if (this.#fault) throw this.#fault.thrown;
  }

  /** Submits the solution to the source that gave its work. */
  async submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const source = this.#origins.get(solution.work);
    if (!source) return { outcome: 'unknown', reason: 'no source gave this work' };
    return { by: source.name, ...(await source.submit(solution, stop)) };
  }

  nameOf(work: Work): string {
    return this.#origins.get(work)?.name ?? this.name;
  }

  latestTimeUs(work: Work): bigint {
    return this.#origins.get(work)?.latestTimeUs(work) ?? 0n;
  }

  /**
   * Takes what others have found out about a source. The work of an unhealthy source is given only while no healthy
   * source gives any. Solutions of its work are submitted all the same.
   * @param rank the source's place in the order of preference; 0 is the first
   * @param fault what follows the source's name in a sentence; undefined when the source is healthy
   * @param news the same of a source that is healthy
   */
  judge(rank: number, fault: string | undefined, news?: string): void {
    this.#judge(this.#standbys[rank], fault, news);
  }

  #judge(standby: Standby, fault: string | undefined, news = 'is healthy again'): void {
    if (standby.removed) return;
    standby.healthy = fault === undefined;
    const until =
      this.#standbys.length === 1
        ? `on all the same, because no other ${this.kind} is configured`
        : `on only while no other ${this.kind} is better`;
    if (standby.healthy) this.#report(standby, 'healthy', news);
    else this.#report(standby, 'unhealthy', `${fault}. It is mined ${until}`);
    this.#choose([standby]);
  }

  /** Sources judge themselves only where another one could take over. */
  #followHealth(): void {
    if (this.#standbys.length === 1) return;
    for (const standby of this.#standbys) {
      if (standby.followsHealth) continue;
      standby.followsHealth = true;
      standby.source.onHealth?.((fault, news) => this.#judge(standby, fault, news));
    }
  }

  #start(standby: Standby): void {
    const ending = new AbortController();
    standby.started = true;
    standby.ending = ending;
    const run = async () => {
      const release = onAbort(this.#ending.signal, () => ending.abort());
      try {
        await standby.source.follow((update) => {
          if (!ending.signal.aborted) this.#take(standby, update);
        }, ending.signal);
      } finally {
        release();
      }
    };
    standby.following = standby.following.then(run).catch((thrown: unknown) => this.#fail(standby, thrown));
  }

  #take(standby: Standby, update: SourceUpdate): void {
    if (this.#retiring.has(standby) && update.kind !== 'stale') return;
    if (update.kind === 'work') {
      standby.lost = false;
      standby.silent = false;
      standby.given++;
      standby.givesSinceMs ??= this.#clock.monotonicMs();
      standby.work = update.work;
      if (standby === this.#active) this.#give(standby, update.work);
    } else if (update.kind === 'rest') {
      standby.work = undefined;
      if (standby === this.#active) this.#listener(update);
    } else if (update.kind === 'stale') {
      if (standby.work && update.works.includes(standby.work)) standby.work = undefined;
      const works = update.works.filter((work) => this.#origins.has(work));
      if (works.length > 0) this.#listener({ ...update, works });
    } else {
      standby.lost = true;
      standby.givesSinceMs = undefined;
      if (this.#standbys.every(({ lost }) => lost)) this.#listener(update);
    }
    this.#choose(update.kind === 'work' ? [standby] : []);
  }

  #give({ source }: Standby, work: Work): void {
    this.#origins.set(work, source);
    this.#listener({ kind: 'work', work });
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
    if (this.#standbys.every(({ failed }) => failed)) this.#end(thrown);
    else if (this.#standbys.every(({ lost }) => lost)) this.#listener({ kind: 'lost', reason });
    this.#choose();
  }

  /** Ends everything with a fault. Only the first one counts. */
  #end(thrown: unknown): void {
    this.#fault ??= { thrown };
    this.#ending.abort();
  }

  /** Ends a source that was removed, once the answers to its last solutions can have come. */
  async #retire(standby: Standby): Promise<void> {
    if (!standby.started) return;
    this.#retiring.add(standby);
    await pause(REMOVED_MS, this.#ending.signal);
    if (this.#ending.signal.aborted) return;
    this.#retiring.delete(standby);
    this.#close(standby, 'it is no longer configured');
  }

  #close(standby: Standby, why: string): void {
    if (!standby.started) return;
    this.#drop(standby);
    // Until the source has ended, it may have news of its own.
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
    if (work && this.#origins.has(work)) this.#listener({ kind: 'stale', works: [work], reason: 'cancelled' });
  }

  /** Begins to ask the active source, once another one could take over. */
  #probe(): void {
    if (this.#standbys.length > 1) this.#probing ??= this.#keepProbing(this.#ending.signal);
  }

  /** Asks the active source again and again whether it answers. */
  async #keepProbing(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await pause(this.#probeMs, stop);
      const active = this.#active;
      const { given, source } = active;
      // A source that cannot find out counts as answering.
      const answers = async () => stop.aborted || !source.answers || (await source.answers(stop));
      try {
        // A single question can get lost, so the source is asked twice.
        const isThere = (await answers()) || (await answers());
        // A source that has given work meanwhile is not silent, even if it did not answer.
        if (active.given === given) active.silent = !isThere;
      } catch (thrown) {
        this.#fail(active, thrown);
      }
      this.#choose();
    }
  }

  #activate(standby: Standby, nowMs: number): void {
    const left = this.#active;
    const { reason, isBack } = this.#strategy.activate(standby, nowMs);
    if (left.removed) void this.#retire(left);
    this.#report(standby, 'info', reason);
    if (standby.work) this.#give(standby, standby.work);
    if (isBack) this.#closeLater();
  }

  /**
   * Lets another source take over, or starts one, if it is time. Then waits until time alone can change the choice.
   * @param news the sources of which there is news
   */
  #choose(news: readonly Standby[] = []): void {
    clearTimeout(this.#timer);
    if (!this.#isRunning) return;
    // The time is read once: what has no time left now need not be waited for.
    const nowMs = this.#clock.monotonicMs();
    for (const standby of news) if (this.#strategy.takesOver(standby, nowMs)) this.#activate(standby, nowMs);
    const { next, toStart } = this.#strategy.losePatience(nowMs);
    if (next) this.#activate(next, nowMs);
    else if (toStart) this.#start(toStart);
    if (!isUnfit(this.#active) && !this.#closing && this.#strategy.others.some(({ started }) => started)) {
      this.#closeLater();
    }
    const waitMs = this.#strategy.waitMs(nowMs);
    if (waitMs !== undefined) this.#timer = setTimeout(() => this.#choose(this.#strategy.preferred), waitMs);
  }

  /** Closes the sources that are less preferred than the active one, unless they are needed again by then. */
  #closeLater(): void {
    if (this.#standbyMs === undefined) return;
    clearTimeout(this.#closing);
    this.#closing = setTimeout(() => {
      this.#closing = undefined;
      if (isUnfit(this.#active)) this.#closeLater();
      else for (const each of this.#strategy.others) this.#close(each, `${this.#active.source.name} gives work again`);
    }, this.#standbyMs);
  }

  #report({ source }: Standby, state: SourceNews, reason: string): void {
    this.#emit({ type: 'source', source: source.name, kind: this.kind, state, reason });
  }
}
