/**
 * Several sources as one. The first is preferred; while it is lost the next takes over, and it takes back when it gives
 * work again. A source that was started once stays on as a standby, so that changing over takes no time. It knows the
 * WorkSource interface and no implementation.
 */

import type { Solution } from '../chain/verify.ts';
import type { Work } from '../chain/work.ts';
import type { Listener } from '../events/events.ts';
import { Mailbox } from './mailbox.ts';
import type { SourceUpdate, Verdict, WorkSource } from './source.ts';

export interface FailoverOptions {
  /** In order of preference; at least one. */
  readonly sources: readonly WorkSource[];
  readonly emit?: Listener;
  /** How long the active source may be without work or out of reach before the next one takes over. */
  readonly patienceMs?: number;
}

/** Longer than a node's restart of its connections, much shorter than a block. */
const PATIENCE_MS = 5_000;

interface Standby {
  readonly source: WorkSource;
  readonly rank: number;
  started: boolean;
  /** Out of reach since it last gave work. */
  lost: boolean;
  /** What it wants mined, with an id of ours. */
  work: Work | undefined;
}

export class FailoverSource implements WorkSource {
  readonly name: string;
  readonly #standbys: readonly Standby[];
  readonly #emit: Listener;
  readonly #patienceMs: number;
  readonly #mailbox = new Mailbox();
  /** The source of each work handed out, and the work as that source knows it. */
  readonly #origins = new WeakMap<Work, { readonly source: WorkSource; readonly work: Work }>();
  readonly #running: Promise<void>[] = [];
  #active: Standby;
  #patience: NodeJS.Timeout | undefined;
  /** The active source has been in need for too long: whoever gives work first takes over. */
  #impatient = false;
  #stop: AbortSignal = AbortSignal.abort();

  /** @throws Error without a source */
  constructor({ sources, emit, patienceMs }: FailoverOptions) {
    if (sources.length === 0) throw new Error('give at least one source of work');
    this.name = sources.map(({ name }) => name).join(', ');
    this.#standbys = sources.map((source, rank) => ({ source, rank, started: false, lost: false, work: undefined }));
    this.#active = this.#standbys[0];
    this.#emit = emit ?? (() => {});
    this.#patienceMs = patienceMs ?? PATIENCE_MS;
  }

  async *works(stop: AbortSignal): AsyncGenerator<SourceUpdate, void> {
    const ending = new AbortController();
    const end = () => ending.abort();
    if (stop.aborted) end();
    stop.addEventListener('abort', end, { once: true });
    this.#stop = ending.signal;
    this.#start(this.#standbys[0]);
    this.#watch();
    try {
      yield* this.#mailbox.updates(stop);
    } finally {
      stop.removeEventListener('abort', end);
      end();
      clearTimeout(this.#patience);
      await Promise.all(this.#running);
    }
  }

  /** Goes to the source that gave the work. */
  async submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const origin = this.#origins.get(solution.work);
    if (!origin) return { verdict: 'unknown', reason: 'no source gave this work' };
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

  #activate(standby: Standby, work: Work): void {
    const back = standby.rank < this.#active.rank;
    const reason = `${back ? 'taking work from it again instead of' : 'taking over from'} ${this.#active.source.name}`;
    this.#active = standby;
    this.#emit({ event: 'source', source: standby.source.name, state: 'info', reason });
    this.#mailbox.put({ kind: 'work', work });
  }

  /** Keeps the clock of patience running exactly while the active source is in need. */
  #watch(): void {
    if (!isInNeed(this.#active)) {
      clearTimeout(this.#patience);
      this.#patience = undefined;
      this.#impatient = false;
    } else if (!this.#patience && !this.#stop.aborted) {
      this.#patience = setTimeout(() => {
        this.#patience = undefined;
        this.#impatient = true;
        this.#bringIn();
        this.#watch();
      }, this.#patienceMs);
    }
  }

  /** The best source that has work takes over; when there is none, one more is started. */
  #bringIn(): void {
    const ready = this.#standbys.find((standby) => !isInNeed(standby));
    const next = this.#standbys.find(({ started }) => !started);
    if (ready?.work) this.#activate(ready, ready.work);
    else if (next) this.#start(next);
  }
}

function isInNeed({ work, lost }: Standby): boolean {
  return work === undefined || lost;
}
