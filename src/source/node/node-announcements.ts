/** Emits the events about one node, each only when something has changed. */

import type { Listener } from '../../events/events.ts';
import { Announcements } from '../announcements.ts';
import type { PolledChain } from '../vocabulary.ts';

/** A new line about too many fetches comes only when there was none for this long. */
const CALM_MS = 60_000;

export class NodeAnnouncements extends Announcements {
  #streamProblemTold = false;
  /** When a fetch last had to wait because there were too many (monotonic). */
  #tooManyAtMs = Number.NEGATIVE_INFINITY;
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

  /** Tells that the node gives more reasons to fetch work than pickaxe follows. */
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
