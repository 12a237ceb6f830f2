/** Emits the events about one source, and leaves out reports that only repeat the last one. */

import type { Listener, MinerEvent } from '../events/events.ts';
import type { PolledChain, SourceKind } from '../events/vocabulary.ts';

type SourceEvent = MinerEvent & { type: 'source' };

/** The noun for a source of each kind, in messages. */
const OF_KIND: Record<SourceKind, string> = { node: 'node', pool: 'pool', parent: 'parent', fleet: 'coordinator' };

export class Announcements {
  protected readonly source: string;
  protected readonly emit: Listener;
  readonly #kind: SourceKind;
  /** Whether `reached` was called since the source was started. */
  #everReached = false;
  /** Why the source is out of reach; undefined while it is within reach. */
  #outage: string | undefined;

  /** @param source the source's name */
  constructor(kind: SourceKind, source: string, emit: Listener) {
    this.#kind = kind;
    this.source = source;
    this.emit = emit;
  }

  /** Whether the source is out of reach, and an event has reported this. */
  get isLost(): boolean {
    return this.#outage !== undefined;
  }

  /**
   * Called when the source is started or restarted. The next calls of `reached` and `lost` emit events, even if they
   * repeat the last events.
   */
  started(): void {
    this.#everReached = false;
    this.#outage = undefined;
  }

  /** @param nodeConfiguration lines that would remedy the problem in the node's configuration, if there are any */
  note(state: SourceEvent['state'], reason: string, nodeConfiguration?: readonly string[]): void {
    const lines = nodeConfiguration && { nodeConfiguration };
    this.emit({ type: 'source', source: this.source, kind: this.#kind, state, reason, ...lines });
  }

  reached(what = `the ${this.#kind} gives work`): void {
    if (this.#everReached && !this.isLost) return;
    this.#everReached = true;
    this.#outage = undefined;
    this.note('connected', what);
  }

  /** @param latencyMs the time until the work came: from the request to a node, or from the opening of a connection */
  gaveWork(latencyMs: number): void {
    this.emit({ type: 'fetch', source: this.source, latencySeconds: latencyMs / 1000 });
  }

  /**
   * Reports the health of the only source.
   * @param fault follows the source's name in a sentence; undefined for a healthy source
   * @param news follows the name of a healthy source
   */
  judgedAlone(fault: string | undefined, news = ''): void {
    if (fault === undefined) this.note('healthy', news);
    else this.note('unhealthy', `${fault}. It is mined on all the same: there is no other ${OF_KIND[this.#kind]}`);
  }

  lost(reason: string, nodeConfiguration?: readonly string[]): void {
    if (this.#outage === reason) return;
    this.#outage = reason;
    this.note('lost', reason, nodeConfiguration);
  }
}

/** Time without a call of `tooManyFetches` after which the next call is announced again. */
const CALM_MS = 60_000;

export class NodeAnnouncements extends Announcements {
  #streamProblemAnnounced = false;
  /** Time of the last call of `tooManyFetches` (monotonic). */
  #tooManyAtMs = Number.NEGATIVE_INFINITY;
  #polled: readonly PolledChain[] = [];

  constructor(source: string, emit: Listener) {
    super('node', source, emit);
  }

  /** The polled chains, as last emitted. */
  get polled(): readonly PolledChain[] {
    return this.#polled;
  }

  /** Announces that a stream could not be opened, unless this was announced already or the node is out of reach. */
  streamProblem(message: string, hasOtherStreams: boolean): void {
    if (this.#streamProblemAnnounced || this.isLost) return;
    this.#streamProblemAnnounced = true;
    const others = hasOtherStreams ? ' Other chains have one.' : '';
    this.note('info', `a chain has no update stream for now, so it is polled for work: ${message}${others}`);
  }

  /** Called when a stream has opened, so that the next problem is announced again. */
  streamOpened(): void {
    this.#streamProblemAnnounced = false;
  }

  /**
   * Announces that the node causes more fetches of work than pickaxe allows, unless the last call was less than
   * `CALM_MS` ago.
   * @param perSecond number of allowed fetches a second
   */
  tooManyFetches(perSecond: number, nowMs: number): void {
    const isNew = nowMs - this.#tooManyAtMs > CALM_MS;
    this.#tooManyAtMs = nowMs;
    if (!isNew) return;
    const what = `it announces, ends or refuses something more often than ${perSecond} times a second`;
    this.note('info', `makes this rig fetch work too often: ${what}. Work is fetched only so often, and may be stale`);
  }

  polling(chains: readonly PolledChain[]): void {
    if (JSON.stringify(chains) === JSON.stringify(this.#polled)) return;
    this.#polled = chains;
    this.emit({ type: 'polling', source: this.source, chains });
  }

  missedCut(chain: number): void {
    this.emit({ type: 'missed-cut', source: this.source, chain });
  }
}
