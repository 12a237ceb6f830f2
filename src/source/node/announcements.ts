/** Emits the events about one node, each only when something has changed. */

import type { Listener, MinerEvent } from '../../events/events.ts';
import type { PolledChain } from '../vocabulary.ts';

type SourceEvent = MinerEvent & { event: 'source' };

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
    this.#emit({ event: 'source', source: this.#source, state, reason });
  }

  reached(): void {
    if (this.#everReached && !this.isLost) return;
    this.#everReached = true;
    this.#outage = undefined;
    this.note('connected', 'the node gives work');
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
    const others = hasOtherStreams ? ' Other chains have theirs.' : '';
    this.note('info', `no update stream for now, asking for work every few seconds: ${message}${others}`);
  }

  /** Notes that a stream has opened, so that the next problem is told again. */
  streamOpened(): void {
    this.#streamProblemTold = false;
  }

  polling(chains: readonly PolledChain[]): void {
    if (JSON.stringify(chains) === JSON.stringify(this.#polled)) return;
    this.#polled = chains;
    this.#emit({ event: 'polling', source: this.#source, chains });
  }

  missedCut(chain: number): void {
    this.#emit({ event: 'missed_cut', source: this.#source, chain });
  }
}
