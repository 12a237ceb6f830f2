/** Emits the events about one node, each only when something has changed. */

import type { Listener } from '../../events/events.ts';
import { Announcements } from '../announcements.ts';
import type { PolledChain } from '../vocabulary.ts';

export class NodeAnnouncements extends Announcements {
  #streamProblemTold = false;
  #polled: readonly PolledChain[] = [];

  /** @param source the node's name */
  constructor(source: string, emit: Listener) {
    super('node', source, emit);
  }

  /** The polled chains, as last emitted. */
  get polled(): readonly PolledChain[] {
    return this.#polled;
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
    this.emit({ type: 'polling', source: this.source, chains });
  }

  missedCut(chain: number): void {
    this.emit({ type: 'missed-cut', source: this.source, chain });
  }
}
