/** Emits the events about one node, each only when something has changed. */

import type { Listener, MinerEvent } from '../../events/events.ts';
import type { PolledChain } from '../vocabulary.ts';

type SourceEvent = MinerEvent & { type: 'source' };

export class Announcements {
  readonly #source: string;
  readonly #emit: Listener;
  /** Whether the node has ever given work. */
  #everReached = false;
  /** Why the node is out of reach; undefined while it is within reach. */
  #outage: string | undefined;
  #streamProblemTold = false;
  #polled: readonly PolledChain[] = [];

  /** @param source the node's name */
  constructor(source: string, emit: Listener) {
    this.#source = source;
    this.#emit = emit;
  }

  /** Whether people have been told that the node is out of reach. */
  get isLost(): boolean {
    return this.#outage !== undefined;
  }

  /** The polled chains, as last emitted. */
  get polled(): readonly PolledChain[] {
    return this.#polled;
  }

  note(state: SourceEvent['state'], reason: string): void {
    this.#emit({ type: 'source', source: this.#source, state, reason });
  }

  reached(): void {
    if (this.#everReached && !this.isLost) return;
    this.#everReached = true;
    this.#outage = undefined;
    this.note('connected', 'the node gives work');
  }

  /** @param latencyMs the time from asking for work to having it */
  gaveWork(latencyMs: number): void {
    this.#emit({ type: 'fetch', source: this.#source, latencySeconds: latencyMs / 1000 });
  }

  lost(reason: string): void {
    if (this.#outage === reason) return;
    this.#outage = reason;
    this.note('lost', reason);
  }

  /** Tells that a stream could not be opened, unless the node is out of reach anyway. */
  streamProblem(message: string, hasOtherStreams: boolean): void {
    if (this.#streamProblemTold || this.isLost) return;
    this.#streamProblemTold = true;
    const others = hasOtherStreams ? ' Other chains have one.' : '';
    this.note('info', `a chain has no update stream for now, so it is polled for work: ${message}${others}`);
  }

  /** Notes that a stream has opened, so that the next problem is told again. */
  streamOpened(): void {
    this.#streamProblemTold = false;
  }

  polling(chains: readonly PolledChain[]): void {
    if (JSON.stringify(chains) === JSON.stringify(this.#polled)) return;
    this.#polled = chains;
    this.#emit({ type: 'polling', source: this.#source, chains });
  }

  missedCut(chain: number): void {
    this.#emit({ type: 'missed-cut', source: this.#source, chain });
  }
}
