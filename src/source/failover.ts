/**
 * Several sources as one. The first is preferred: while it is lost the next one takes over, and the first takes back when
 * it gives work again. A source that was started once stays on as a standby, so that changing over takes no time. This
 * knows the WorkSource interface and no implementation.
 */

import type { Solution } from '../chain/verify.ts';
import type { Work } from '../chain/work.ts';
import type { Listener } from '../events/events.ts';
import { onAbort, pause } from '../system/abort.ts';
import { type Clock, systemClock } from '../system/clock.ts';
import { Mailbox } from './mailbox.ts';
import type { SourceUpdate, Verdict, WorkSource } from './source.ts';

export interface FailoverOptions {
  /** In order of preference; at least one. */
  readonly sources: readonly WorkSource[];
  readonly emit?: Listener;
  /** How long the active source may be without work, or out of reach, before another one is started. */
  readonly patienceMs?: number;
  /** How long it may be so when another source has work already. */
  readonly readyPatienceMs?: number;
  /** How often the active source is asked whether it still answers. */
  readonly probeMs?: number;
  readonly clock?: Clock;
}

/** Longer than a node's restart of its connections, much shorter than a block. */
const PATIENCE_MS = 2_000;
/** Longer than it usually takes to get the answer to a solution, and the next work. */
const READY_PATIENCE_MS = 500;
/** A node that is frozen says nothing: its streams stay open, and its work is mined on. */
const PROBE_MS = 1_000;

interface Standby {
  readonly source: WorkSource;
  readonly rank: number;
  started: boolean;
  /** Out of reach since it last gave work. */
  lost: boolean;
  /** It did not answer the last probe. */
  silent: boolean;
  /** How often it has given work. */
  works: number;
  /** What it wants mined, with an id that is unique here. */
  work: Work | undefined;
}

export class FailoverSource implements WorkSource {
  readonly name: string;
  readonly #standbys: readonly Standby[];
  readonly #emit: Listener;
  readonly #patienceMs: number;
  readonly #readyPatienceMs: number;
  readonly #probeMs: number;
  readonly #clock: Clock;
  readonly #mailbox = new Mailbox();
  /** The source of each work handed out, and the work as that source knows it. */
  readonly #origins = new WeakMap<Work, { readonly source: WorkSource; readonly work: Work }>();
  readonly #running: Promise<void>[] = [];
  #active: Standby;
  #patience: NodeJS.Timeout | undefined;
  /** When the active source came into need, or when another source was last started because of that (monotonic). */
  #needySinceMs: number | undefined;
  /** The active source has been in need for too long, so whichever source gives work first takes over. */
  #impatient = false;
  #stop: AbortSignal = AbortSignal.abort();

  /** @throws Error without a source */
  constructor({ sources, emit, patienceMs, readyPatienceMs, probeMs, clock }: FailoverOptions) {
    if (sources.length === 0) throw new Error('give at least one source of work');
    this.name = sources.map(({ name }) => name).join(', ');
    this.#standbys = sources.map((source, rank) => ({
      source,
      rank,
      started: false,
      lost: false,
      silent: false,
      works: 0,
      work: undefined,
    }));
    this.#active = this.#standbys[0];
    this.#emit = emit ?? (() => {});
    this.#patienceMs = patienceMs ?? PATIENCE_MS;
    this.#readyPatienceMs = readyPatienceMs ?? READY_PATIENCE_MS;
    this.#probeMs = probeMs ?? PROBE_MS;
    this.#clock = clock ?? systemClock;
  }

  async *works(stop: AbortSignal): AsyncGenerator<SourceUpdate, void> {
    const ending = new AbortController();
    const release = onAbort(stop, () => ending.abort());
    this.#stop = ending.signal;
    this.#start(this.#standbys[0]);
    this.#watch();
    if (this.#standbys.length > 1) this.#running.push(this.#keepProbing(ending.signal));
    try {
      yield* this.#mailbox.updates(stop);
    } finally {
      release();
      ending.abort();
      clearTimeout(this.#patience);
      await Promise.all(this.#running);
    }
  }

  /** Goes to the source that gave the work. */
  async submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const origin = this.#origins.get(solution.work);
    if (!origin) return { outcome: 'unknown', reason: 'no source gave this work' };
    return await origin.source.submit({ ...solution, work: origin.work }, stop);
  }

  latestTimeUs(work: Work): bigint {
    const origin = this.#origins.get(work);
    return origin ? origin.source.latestTimeUs(origin.work) : 0n;
  }

  #start(standby: Standby): void {
    standby.started = true;
    this.#running.push(this.#follow(standby));
  }

  async #follow(standby: Standby): Promise<void> {
    for await (const update of standby.source.works(this.#stop)) this.#take(standby, update);
  }

  #take(standby: Standby, update: SourceUpdate): void {
    if (update.kind === 'work') {
      standby.lost = false;
      standby.silent = false;
      standby.works++;
      standby.work = this.#adopt(standby, update.work);
      if (standby === this.#active) this.#mailbox.put({ kind: 'work', work: standby.work });
      else if (standby.rank < this.#active.rank || this.#impatient) this.#activate(standby, standby.work);
    } else if (update.kind === 'stale') {
      standby.work = undefined;
      if (standby === this.#active) this.#mailbox.put(update);
    } else {
      standby.lost = true;
      if (this.#standbys.every(({ lost }) => lost)) this.#mailbox.put(update);
    }
    this.#watch();
  }

  /** Ids are unique within a source only: the rank makes them unique here. The same work stays the same object. */
  #adopt({ source, rank, work: current }: Standby, work: Work): Work {
    if (current && this.#origins.get(current)?.work === work) return current;
    const own = { ...work, id: `${rank}/${work.id}` };
    this.#origins.set(own, { source, work });
    return own;
  }

  /** Asks the active source again and again whether it answers, because a frozen node does not say that it is frozen. */
  async #keepProbing(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await pause(this.#probeMs, stop);
      const active = this.#active;
      const { works } = active;
      // One question can get lost.
      const answers = (await answersNow(active.source, stop)) || (await answersNow(active.source, stop));
      // A source that has given work meanwhile does answer, even if not to this question.
      if (active.works === works) active.silent = !answers;
      this.#watch();
    }
  }

  #activate(standby: Standby, work: Work): void {
    const back = standby.rank < this.#active.rank;
    const { source, silent } = this.#active;
    const why = silent ? ', which does not answer' : '';
    const reason = `${back ? 'takes over again from' : 'takes over from'} ${source.name}${why}`;
    this.#active = standby;
    // No other source may take over until this one has been in need for long.
    this.#needySinceMs = undefined;
    this.#impatient = false;
    this.#emit({ type: 'source', source: standby.source.name, state: 'info', reason });
    this.#mailbox.put({ kind: 'work', work });
  }

  /** Keeps the clock of patience running exactly while the active source is in need. */
  #watch(): void {
    clearTimeout(this.#patience);
    if (!isInNeed(this.#active) || this.#stop.aborted) {
      this.#needySinceMs = undefined;
      this.#impatient = false;
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    this.#needySinceMs ??= nowMs;
    const leftMs = this.#needySinceMs + this.#patienceNowMs() - nowMs;
    if (leftMs <= 0) {
      this.#needySinceMs = nowMs;
      this.#bringIn();
    }
    if (isInNeed(this.#active)) {
      this.#patience = setTimeout(() => this.#watch(), leftMs > 0 ? leftMs : this.#patienceMs);
    }
  }

  /** A source that is known not to answer has had its time already. */
  #patienceNowMs(): number {
    if (this.#active.silent && !this.#impatient) return 0;
    return this.#ready ? this.#readyPatienceMs : this.#patienceMs;
  }

  /** The best source that can take over now. */
  get #ready(): Standby | undefined {
    return this.#standbys.find((standby) => !isInNeed(standby));
  }

  /** The best source that has work takes over. When none has, one more source is started. */
  #bringIn(): void {
    this.#impatient = true;
    const ready = this.#ready;
    const next = this.#standbys.find(({ started }) => !started);
    if (ready?.work) this.#activate(ready, ready.work);
    else if (next) this.#start(next);
  }
}

async function answersNow(source: WorkSource, stop: AbortSignal): Promise<boolean> {
  return stop.aborted || !source.answers || (await source.answers(stop));
}

function isInNeed({ work, lost, silent }: Standby): boolean {
  return work === undefined || lost || silent;
}
