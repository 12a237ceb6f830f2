/** The open update streams: `event:New Cut` and an empty line, and never a `data:` line (document 1, "Events"). */

import type { ServerResponse } from 'node:http';
import type { Random } from './random.ts';

export interface StreamOptions {
  readonly streamMs: number;
  readonly streamLimit: number;
  readonly cutBurst: number;
}

/** Between the events of one block. */
const BURST_GAP_MS = 15;
/** Streams end at `streamMs` ± this part, so that they do not all end at once. */
const JITTER = 0.1;

export class UpdateStreams {
  readonly #options: StreamOptions;
  readonly #random: Random;
  readonly #streams = new Map<ServerResponse, number>();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(options: StreamOptions, random: Random) {
    this.#options = options;
    this.#random = random;
  }

  get open(): number {
    return this.#streams.size;
  }

  /** The streams open for one chain. */
  openFor(chain: number): number {
    return [...this.#streams.values()].filter((c) => c === chain).length;
  }

  get full(): boolean {
    return this.#streams.size >= this.#options.streamLimit;
  }

  /** Takes over a response whose head has been written. */
  add(chain: number, response: ServerResponse): void {
    this.#streams.set(response, chain);
    const timer = this.#later(this.#options.streamMs * (1 + JITTER * (2 * this.#random() - 1)), () => response.end());
    response.on('close', () => {
      this.#streams.delete(response);
      clearTimeout(timer);
      this.#timers.delete(timer);
    });
  }

  newCut(chain: number): void {
    this.#send(chain, 'New Cut');
    for (let i = 1; i < this.#options.cutBurst; i++) {
      this.#later(i * BURST_GAP_MS, () => this.#send(chain, 'New Cut'));
    }
  }

  refreshed(chain: number): void {
    this.#send(chain, 'Refreshed Block');
  }

  /** Ends every stream, as a node does that restarts its service. */
  endAll(): void {
    for (const response of this.#streams.keys()) response.end();
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    for (const response of this.#streams.keys()) response.destroy();
  }

  #send(chain: number, event: 'New Cut' | 'Refreshed Block'): void {
    for (const [response, c] of this.#streams) {
      if (c === chain) response.write(`event:${event}\n\n`);
    }
  }

  #later(ms: number, action: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }
}
