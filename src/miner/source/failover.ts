/**
 * Uses several WorkSources as one. The first source is preferred. While it is lost or unhealthy, another source is
 * used. Sources that were started stay open (by default), so that a change takes no time.
 */

import { aborted, onAbort, pause, sharedController } from '../../base/system/abort.ts';
import { type Clock, systemClock, type Timer } from '../../base/system/clock.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import type { Work } from '../../protocol/chain/work.ts';
import type { Listener } from '../events/events.ts';
import { LEFT, type SourceKind, type SourceNews } from '../events/vocabulary.ts';
import { BaseSource, completed } from './complete-source.ts';
import { FailoverStrategy, type Patience } from './failover-strategy.ts';
import { listeningUntil, type SourceUpdate, type UpdateListener, type Verdict, type WorkSource } from './source.ts';
import type { FoundBy, Standby } from './standby.ts';

export interface FailoverOptions extends Partial<Patience> {
  /** The sources in order of preference; at least one. All are of the same kind. */
  readonly sources: readonly WorkSource[];
  readonly emit?: Listener;
  /** Pause before each check whether the active source still answers. */
  readonly probeMs?: number;
  /**
   * When a preferred source gives work again, the less preferred sources are closed after this time, because idle
   * connections burden pools. By default the less preferred sources stay open. With this option, `follow` of a source
   * may be called again after it has settled.
   */
  readonly standbyMs?: number;
  /**
   * Whether others act on `FailoverSource.fault`, such as the rigs of a fleet. Then even a single source is probed, and
   * checks its own health.
   */
  readonly isWatched?: boolean;
  readonly clock?: Clock;
}

const PATIENCE: Patience = {
  /** Longer than a short interruption of a node's connections, and much shorter than the time between blocks. */
  patienceMs: 2_000,
  /** Longer than the answer to a solution and the fetch of the next work usually take. */
  readyPatienceMs: 500,
};
/** Time for which a removed source stays open. Its last solutions are usually answered within this time. */
const REMOVED_MS = 2_000;
/**
 * Default of `probeMs`. Only a probe shows that a node is frozen: its streams stay open, and its last work is mined on.
 */
const PROBE_MS = 1_000;

export class FailoverSource extends BaseSource {
  readonly kind: SourceKind;
  readonly #strategy: FailoverStrategy;
  readonly #emit: Listener;
  readonly #probeMs: number;
  readonly #standbyMs: number | undefined;
  readonly #isWatched: boolean;
  readonly #clock: Clock;
  /** For each work that was passed on, the source that gave it. */
  readonly #origins = new WeakMap<Work, Standby>();
  /** Removed sources that are still open, so that the answers to their last solutions can arrive. */
  readonly #retiring = new Set<Standby>();
  readonly #ending = sharedController();
  #isRunning = false;
  #listener: UpdateListener = () => {};
  /** What the listener of events has thrown; or, if all sources have thrown, what the last of them has thrown. */
  #fault: { readonly thrown: unknown } | undefined;
  /** Runs `#choose` when patience or a trial ends. */
  #timer: Timer | undefined;
  #closing: Timer | undefined;
  #probing: Promise<void> | undefined;

  /** @throws Error if there are no sources */
  constructor(options: FailoverOptions) {
    const {
      sources,
      emit,
      probeMs = PROBE_MS,
      standbyMs,
      isWatched = false,
      clock = systemClock,
      ...patience
    } = options;
    super();
    this.#strategy = new FailoverStrategy(sources.map(completed), { ...PATIENCE, ...patience });
    this.kind = this.#active.source.kind;
    this.#emit = (event) => {
      try {
        emit?.(event);
      } catch (thrown) {
        this.#end(thrown);
      }
    };
    this.#probeMs = probeMs;
    this.#standbyMs = standbyMs;
    this.#isWatched = isWatched;
    this.#clock = clock;
    this.#followHealth();
  }

  get name(): string {
    return this.#standbys.map(({ source }) => source.name).join(', ');
  }

  /** Why the work of the source in use is probably worth nothing; undefined while that source is healthy. */
  get fault(): string | undefined {
    const { source, isUnresponsive } = this.#active;
    const fault = this.#active.fault ?? (isUnresponsive ? 'does not answer' : undefined);
    return fault && `${source.name} ${fault}`;
  }

  get #standbys(): readonly Standby[] {
    return this.#strategy.standbys;
  }

  get #active(): Standby {
    return this.#strategy.active;
  }

  /**
   * Replaces the sources. A source that is also in the new list stays open. A removed source is closed after a time in
   * which its last solutions are usually answered. A removed source that is active is mined on until another source
   * takes over. Only then does the time begin.
   * @param sources in order of preference; at least one, all of the same kind as before
   */
  change(sources: readonly WorkSource[]): void {
    const removed = this.#strategy.change(sources.map(completed));
    this.#followHealth();
    for (const standby of removed) if (standby !== this.#active) void this.#retire(standby);
    if (!this.#isRunning) return;
    this.#probe();
    this.#start(this.#standbys[0]);
    this.#choose(this.#standbys);
  }

  /**
   * @throws what the listener of events has thrown; or, if all sources have thrown, what the last of them has thrown
   */
  async follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    this.#listener = listeningUntil(this.#ending.signal, listener);
    const release = onAbort(stop, () => this.#ending.abort());
    this.#isRunning = true;
    const { givenUp } = this.#active;
    if (givenUp && this.#areAllLost) this.#listener({ kind: 'lost', reason: givenUp.reason });
    this.#start(this.#standbys[0]);
    this.#choose();
    this.#probe();
    await aborted(this.#ending.signal);
    release();
    this.#isRunning = false;
    this.#timer?.cancel();
    this.#closing?.cancel();
    const standbys = [...this.#standbys, ...this.#retiring];
    await Promise.all([this.#probing, ...standbys.map(({ settled }) => settled)]);
    if (this.#fault) throw this.#fault.thrown;
  }

  async submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const origin = this.#origins.get(solution.work);
    if (!origin) return { outcome: 'unknown', reason: 'no source gave this work' };
    const { source, givenUp } = origin;
    const by = source.name;
    if (givenUp && !givenUp.fault) return { by, outcome: 'stale', reason: `not sent: ${by} ${givenUp.reason}` };
    return { by, ...(await source.submit(solution, stop)) };
  }

  override nameOf(work: Work): string {
    return this.#origins.get(work)?.source.name ?? this.name;
  }

  latestTimeUs(work: Work): bigint {
    return this.#origins.get(work)?.source.latestTimeUs(work) ?? 0n;
  }

  /**
   * Leaves a source for good: it gets no more solutions, its work is stale, and it counts as lost.
   * @param name the source's name
   * @param reason follows the name in a sentence
   */
  leave(name: string, reason: string): void {
    const standby = [...this.#standbys, ...this.#retiring].find(({ source }) => source.name === name);
    if (standby && !standby.givenUp) this.#giveUp(standby, reason);
  }

  /** Whether a configured source was left for good, or has thrown. */
  hasLeft(source: WorkSource): boolean {
    return this.#standbys.some((standby) => standby.source === completed(source) && standby.givenUp !== undefined);
  }

  /**
   * Sets the health of a source to what a check from outside has found. The work of an unhealthy source is mined only
   * while no healthy source gives work. Solutions of its earlier works are still submitted.
   * @param rank the source's place in the order of preference, from 0
   * @param fault follows the source's name in a sentence; undefined if the source is healthy
   * @param news follows the name of a healthy source in a sentence
   */
  judge(rank: number, fault: string | undefined, news?: string): void {
    this.#judge(this.#standbys[rank], 'others', fault, news);
  }

  #judge(standby: Standby, by: FoundBy, fault: string | undefined, news = 'is healthy again'): void {
    if (standby.removed || standby.givenUp) return;
    standby.judge(by, fault);
    const until =
      this.#standbys.length === 1
        ? `on all the same, because no other ${this.kind} is configured`
        : `on only while no other ${this.kind} is better`;
    if (standby.fault === undefined) this.#report(standby, 'healthy', news);
    else this.#report(standby, 'unhealthy', `${standby.fault}. It is mined ${until}`);
    this.#choose([standby]);
  }

  /**
   * Makes the sources check and report their own health, if another source could take over, here or on another
   * coordinator of a fleet.
   */
  #followHealth(): void {
    if (this.#standbys.length === 1 && !this.#isWatched) return;
    for (const standby of this.#standbys) {
      if (standby.followsHealth) continue;
      standby.followsHealth = true;
      standby.source.onHealth((fault, news) => this.#judge(standby, 'itself', fault, news));
    }
  }

  #start(standby: Standby): void {
    if (standby.isStarted || standby.givenUp) return;
    const take = (update: SourceUpdate) => this.#take(standby, update);
    standby.start(take, this.#ending.signal, (thrown) => this.#fail(standby, thrown));
  }

  /**
   * Passes on `work` and `rest` updates of the active source, `stale` updates about works that were passed on, and a
   * `lost` update if all sources are lost.
   */
  #take(standby: Standby, update: SourceUpdate): void {
    if (this.#retiring.has(standby) && update.kind !== 'stale') return;
    standby.note(update, this.#clock.monotonicMs());
    if (update.kind === 'stale') {
      const works = update.works.filter((work) => this.#origins.has(work));
      if (works.length > 0) this.#listener({ ...update, works });
    } else if (update.kind === 'lost') {
      if (this.#areAllLost) this.#listener(update);
    } else if (standby === this.#active) {
      if (update.kind === 'work') this.#give(standby, update.work);
      else this.#listener(update);
    }
    this.#choose(update.kind === 'work' ? [standby] : []);
  }

  #give(standby: Standby, work: Work): void {
    this.#origins.set(work, standby);
    this.#listener({ kind: 'work', work });
  }

  get #areAllLost(): boolean {
    return this.#standbys.every(({ isLost }) => isLost);
  }

  /** Gives up a source that has thrown, which the WorkSource interface forbids. The other sources stay in use. */
  #fail(standby: Standby, thrown: unknown): void {
    if (standby.givenUp) return;
    const what = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    const reason = `has failed (please report this fault of the program: ${what}) and is ${LEFT}`;
    this.#giveUp(standby, reason, { thrown });
  }

  /** @param fault what the source has thrown; absent if the source is given up for another reason */
  #giveUp(standby: Standby, reason: string, fault?: { readonly thrown: unknown }): void {
    this.#cancel(standby.giveUp({ reason, ...(fault && { fault }) }));
    if (!this.#standbys.includes(standby)) return;
    this.#report(standby, 'lost', reason);
    if (fault && this.#standbys.every(({ givenUp }) => givenUp?.fault)) this.#end(fault.thrown);
    else if (this.#areAllLost) this.#listener({ kind: 'lost', reason });
    this.#choose();
  }

  #end(thrown: unknown): void {
    this.#fault ??= { thrown };
    this.#ending.abort();
  }

  /** Closes a removed source after `REMOVED_MS`, so that the answers to its last solutions can arrive. */
  async #retire(standby: Standby): Promise<void> {
    if (!standby.isStarted) return;
    this.#retiring.add(standby);
    await pause(this.#clock, REMOVED_MS, this.#ending.signal);
    if (this.#ending.signal.aborted) return;
    this.#retiring.delete(standby);
    this.#close(standby, 'it is no longer configured');
  }

  #close(standby: Standby, why: string): void {
    this.#cancel(standby.end());
    const what = this.kind === 'fleet' ? 'its works are no longer received' : 'its connection is closed';
    // The source may emit events until it has ended, so this event is emitted only after that.
    standby.whenSettled(() => this.#report(standby, 'standby', `${what}, because ${why}`));
  }

  /** Reports a work as stale, if it was passed on. @param work the latest work of a source that was ended */
  #cancel(work: Work | undefined): void {
    if (work && this.#origins.has(work)) this.#listener({ kind: 'stale', works: [work], reason: 'cancelled' });
  }

  /** Begins to probe the active source, if another one could take over, here or on another coordinator of a fleet. */
  #probe(): void {
    if (this.#standbys.length > 1 || this.#isWatched) this.#probing ??= this.#keepProbing(this.#ending.signal);
  }

  async #keepProbing(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await pause(this.#clock, this.#probeMs, stop);
      const active = this.#active;
      const { worksGiven, source, givenUp } = active;
      const answers = async () => stop.aborted || givenUp || (await source.answers(stop));
      try {
        // A single request can get lost, so a second one is made before the source counts as unresponsive.
        const isThere = (await answers()) || (await answers());
        // A source that has given work during the probe can be reached, even if it did not answer the probe.
        if (active.worksGiven === worksGiven) active.isUnresponsive = !isThere;
      } catch (thrown) {
        this.#fail(active, thrown);
      }
      this.#choose();
    }
  }

  #activate(standby: Standby, nowMs: number): void {
    const before = this.#active;
    const { reason, isBack } = this.#strategy.activate(standby, nowMs);
    if (before.removed) void this.#retire(before);
    this.#report(standby, 'info', reason);
    if (standby.work) this.#give(standby, standby.work);
    if (isBack) this.#closeLater();
  }

  /**
   * Lets another source take over, or starts one, if the strategy requires it.
   * @param news the sources whose state has changed, or whose trial may have ended
   */
  #choose(news: readonly Standby[] = []): void {
    this.#timer?.cancel();
    if (!this.#isRunning) return;
    // The clock is read once, so that all checks below use the same time.
    const nowMs = this.#clock.monotonicMs();
    for (const standby of news) if (this.#strategy.takesOver(standby, nowMs)) this.#activate(standby, nowMs);
    const { next, toStart } = this.#strategy.losePatience(nowMs);
    if (next) this.#activate(next, nowMs);
    else if (toStart) this.#start(toStart);
    if (!this.#active.isUnfit && !this.#closing && this.#strategy.others.some(({ isStarted }) => isStarted)) {
      this.#closeLater();
    }
    const waitMs = this.#strategy.waitMs(nowMs);
    if (waitMs !== undefined)
      this.#timer = this.#clock.setTimeout(() => this.#choose(this.#strategy.preferred), waitMs);
  }

  /**
   * After `standbyMs`, closes the sources that are less preferred than the active one. If the active source is unfit
   * then, the wait begins again.
   */
  #closeLater(): void {
    if (this.#standbyMs === undefined) return;
    this.#closing?.cancel();
    this.#closing = this.#clock.setTimeout(() => {
      this.#closing = undefined;
      if (this.#active.isUnfit) this.#closeLater();
      else {
        const others = this.#strategy.others.filter(({ isStarted }) => isStarted);
        for (const each of others) this.#close(each, `${this.#active.source.name} gives work again`);
      }
    }, this.#standbyMs);
  }

  #report({ source }: Standby, state: SourceNews, reason: string): void {
    this.#emit({ type: 'source', source: source.name, kind: this.kind, state, reason });
  }
}
