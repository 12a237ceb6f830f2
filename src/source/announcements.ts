/** Emits the events about one source, each only when something has changed. */

import type { Listener, MinerEvent } from '../events/events.ts';
import type { SourceKind } from './vocabulary.ts';

type SourceEvent = MinerEvent & { type: 'source' };

export class Announcements {
  protected readonly source: string;
  protected readonly emit: Listener;
  readonly #kind: SourceKind;
  /** Whether the source has given work since it was started. */
  #everReached = false;
  /** Why the source is out of reach; undefined while it is within reach. */
  #outage: string | undefined;

  /** @param source its name */
  constructor(kind: SourceKind, source: string, emit: Listener) {
    this.#kind = kind;
    this.source = source;
    this.emit = emit;
  }

  /** Whether people have been told that the source is out of reach. */
  get isLost(): boolean {
    return this.#outage !== undefined;
  }

  /** To be called when the source is started, which may be again: then people are told anew whether it is within reach. */
  started(): void {
    this.#everReached = false;
    this.#outage = undefined;
  }

  /** @param nodeConfiguration what the node's configuration must have, line by line, where that would help */
  note(state: SourceEvent['state'], reason: string, nodeConfiguration?: readonly string[]): void {
    const lines = nodeConfiguration && { nodeConfiguration };
    this.emit({ type: 'source', source: this.source, kind: this.#kind, state, reason, ...lines });
  }

  reached(): void {
    if (this.#everReached && !this.isLost) return;
    this.#everReached = true;
    this.#outage = undefined;
    this.note('connected', `the ${this.#kind} gives work`);
  }

  /** @param latencyMs the time from asking for work to having it */
  gaveWork(latencyMs: number): void {
    this.emit({ type: 'fetch', source: this.source, latencySeconds: latencyMs / 1000 });
  }

  /** @param nodeConfiguration what the node's configuration must have, line by line, where that would help */
  lost(reason: string, nodeConfiguration?: readonly string[]): void {
    if (this.#outage === reason) return;
    this.#outage = reason;
    this.note('lost', reason, nodeConfiguration);
  }
}
