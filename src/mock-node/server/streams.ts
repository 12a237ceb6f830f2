/** The open update streams. An event is `event:New Cut` and an empty line, without a `data:` line (document 1, "Events"). */

import type { ServerResponse } from 'node:http';
import type { Update } from '../ledger/ledger.ts';
import type { ServerSettings } from '../options.ts';
import type { Random } from '../random.ts';
import type { Fault } from './faults.ts';
import { sendNoise } from './noise.ts';

type StreamSettings = Pick<ServerSettings, 'streamMs' | 'streamLimit' | 'cutBurst'>;

/** The time between the events of one New Cut. */
const BURST_GAP_MS = 15;
/** The lifetime of a stream is `streamMs` ± this fraction, so that streams do not all end at the same time. */
const JITTER = 0.1;

interface Stream {
  readonly chain: number;
  readonly end: NodeJS.Timeout;
  silent: boolean;
  /** What a buffered stream will send at its end; undefined for a stream that is not buffered. */
  held: string | undefined;
}

export class UpdateStreams {
  readonly #settings: StreamSettings;
  readonly #random: Random;
  readonly #streams = new Map<ServerResponse, Stream>();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(settings: StreamSettings, random: Random) {
    this.#settings = settings;
    this.#random = random;
  }

  /** How many streams are open. */
  get open(): number {
    return this.#streams.size;
  }

  /** @returns how many streams are open for one chain */
  openFor(chain: number): number {
    return [...this.#streams.values()].filter((stream) => stream.chain === chain).length;
  }

  /** Whether no more streams may be opened. */
  get full(): boolean {
    return this.#streams.size >= this.#settings.streamLimit;
  }

  /**
   * Adds a stream.
   * @param response a response whose head has been sent
   * @param fault the stream's fault, if any
   */
  add(chain: number, response: ServerResponse, fault?: Fault): void {
    const lifetimeMs = this.#settings.streamMs * (1 + JITTER * (2 * this.#random() - 1));
    const stream: Stream = {
      chain,
      end: this.#later(lifetimeMs, () => response.end(stream.held)),
      silent: fault?.kind === 'silent-stream',
      held: fault?.kind === 'buffered-stream' ? '' : undefined,
    };
    this.#streams.set(response, stream);
    if (fault?.kind === 'noisy-stream') sendNoise(response, fault.noise, fault.noiseBytesPerS);
    response.on('close', () => this.#forget(response));
  }

  /** Sends an update to the streams of one chain: a New Cut `cutBurst` times, others once. */
  tell(update: Update, chain: number): void {
    this.#send(update, chain);
    const repeats = update === 'New Cut' ? this.#settings.cutBurst - 1 : 0;
    for (let i = 1; i <= repeats; i++) this.#later(i * BURST_GAP_MS, () => this.#send(update, chain));
  }

  /** Ends all streams, as a node does when its service restarts. */
  endAll(): void {
    for (const [response, { held }] of this.#streams) response.end(held);
  }

  /** Makes the open streams send no more events. They end as usual. */
  silenceAll(): void {
    for (const stream of this.#streams.values()) stream.silent = true;
  }

  /** Makes the open streams send nothing more, not even their end, so that their readers do not notice that they are gone. */
  loseAll(): void {
    for (const response of this.#streams.keys()) this.#forget(response);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    for (const response of this.#streams.keys()) response.destroy();
  }

  #send(update: Update, chain: number): void {
    const text = `event:${update}\n\n`;
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
