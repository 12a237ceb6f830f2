/** The open update streams: `event:New Cut` and an empty line, and never a `data:` line (document 1, "Events"). */

import type { ServerResponse } from 'node:http';
import type { Fault } from './faults.ts';
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
/** Noise is sent this often. */
const NOISE_MS = 10;

interface Stream {
  readonly chain: number;
  readonly end: NodeJS.Timeout;
  silent: boolean;
  /** What waits for the end of a buffered stream. */
  held: string | undefined;
}

export class UpdateStreams {
  readonly #options: StreamOptions;
  readonly #random: Random;
  readonly #streams = new Map<ServerResponse, Stream>();
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
    return [...this.#streams.values()].filter((stream) => stream.chain === chain).length;
  }

  get full(): boolean {
    return this.#streams.size >= this.#options.streamLimit;
  }

  /**
   * Takes over a response whose head has been written.
   * @param fault what is wrong with the stream, if anything
   */
  add(chain: number, response: ServerResponse, fault?: Fault): void {
    const lifetimeMs = this.#options.streamMs * (1 + JITTER * (2 * this.#random() - 1));
    const stream: Stream = {
      chain,
      end: this.#later(lifetimeMs, () => response.end(stream.held)),
      silent: fault?.kind === 'silent stream',
      held: fault?.kind === 'buffered stream' ? '' : undefined,
    };
    this.#streams.set(response, stream);
    const noise = fault?.kind === 'noisy stream' ? makeNoise(response, fault) : undefined;
    response.on('close', () => {
      clearInterval(noise);
      this.#forget(response);
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
    for (const [response, { held }] of this.#streams) response.end(held);
  }

  /** Streams open now tell nothing more. They end as others do. */
  silenceAll(): void {
    for (const stream of this.#streams.values()) stream.silent = true;
  }

  /** Streams open now are gone without a word: nothing more comes over them, not even their end. */
  loseAll(): void {
    for (const response of this.#streams.keys()) this.#forget(response);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    for (const response of this.#streams.keys()) response.destroy();
  }

  #send(chain: number, event: 'New Cut' | 'Refreshed Block'): void {
    const text = `event:${event}\n\n`;
    for (const [response, stream] of this.#streams) {
      if (stream.chain !== chain || stream.silent) continue;
      if (stream.held === undefined) response.write(text);
      else stream.held += text;
    }
  }

  #forget(response: ServerResponse): void {
    const stream = this.#streams.get(response);
    if (!stream) return;
    this.#streams.delete(response);
    clearTimeout(stream.end);
    this.#timers.delete(stream.end);
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

/** @returns what ends it */
function makeNoise(response: ServerResponse, { noise, noiseBytesPerS }: Fault): NodeJS.Timeout {
  const linesPerMs = noiseBytesPerS / 1000 / noise.length;
  const beganMs = performance.now();
  let sent = 0;
  return setInterval(() => {
    const due = Math.floor((performance.now() - beganMs) * linesPerMs);
    // A reader that is slower than the noise gets as much as it can read.
    if (!response.writableNeedDrain && due > sent) response.write(noise.repeat(due - sent));
    sent = due;
  }, NOISE_MS);
}
