/**
 * The open streams of events. A miner's stream has the updates of one chain: each event is a line such as
 * `event:New Cut` and an empty line, without a `data:` line (document 1, "Events"). A stream of blocks has all new
 * blocks: each of its events has a `data:` line.
 */

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Dialect } from '../../protocol/ledger/header.ts';
import type { Block } from '../ledger/block-store.ts';
import type { Update } from '../ledger/ledger.ts';
import type { ServerSettings } from '../options.ts';
import type { Random } from '../random.ts';
import { type Fault, sendNoise } from './faults.ts';

type StreamSettings = Pick<ServerSettings, 'streamMs' | 'streamLimit' | 'cutBurst'>;

/** What a stream sends: the updates of the chain with this number, or all new blocks. */
export type StreamTopic = number | BlockTopic;

export interface BlockTopic {
  /** `header`: the events have only the headers of blocks. `block`: they also have the payloads. */
  readonly of: 'header' | 'block';
  readonly dialect: Dialect;
}

/**
 * Maximum number of bytes that a stream has not sent yet, including those that it holds back. Above it, the reader is
 * disconnected.
 */
const MOST_UNREAD_BYTES = 1024 * 1024;
/** Time between the events of one new block. */
const BURST_GAP_MS = 15;
/**
 * Maximum deviation of a stream's lifetime from `streamMs`, as a fraction. Lifetimes differ, so that not all streams
 * end at the same time.
 */
const JITTER = 0.1;

interface Stream {
  readonly topic: StreamTopic;
  /** The timer of the stream's end; undefined for streams of blocks, which have no maximum lifetime. */
  readonly end: NodeJS.Timeout | undefined;
  silent: boolean;
  /** The events that a buffered stream will send at its end; undefined for all other streams. */
  held: string | undefined;
}

export class UpdateStreams {
  readonly #settings: StreamSettings;
  readonly #random: Random;
  readonly #streams = new Map<ServerResponse, Stream>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Number of requests that wait for a chain that is not there. Each takes the place of a stream. */
  #waiting = 0;

  constructor(settings: StreamSettings, random: Random) {
    this.#settings = settings;
    this.#random = random;
  }

  get open(): number {
    return this.#streams.size;
  }

  openFor(chain: number): number {
    return [...this.#streams.values()].filter(({ topic }) => topic === chain).length;
  }

  get full(): boolean {
    return this.#streams.size + this.#waiting >= this.#settings.streamLimit;
  }

  /** Takes the place of a stream until the signal is aborted, which happens when the client has left. */
  async wait(signal: AbortSignal): Promise<void> {
    this.#waiting += 1;
    if (!signal.aborted) await once(signal, 'abort');
    this.#waiting -= 1;
  }

  /**
   * Adds an open stream.
   * @param response the answer, whose head has been sent
   * @param fault the stream's fault, if any
   */
  add(topic: StreamTopic, response: ServerResponse, fault?: Fault): void {
    const lifetimeMs = this.#settings.streamMs * (1 + JITTER * (2 * this.#random() - 1));
    const stream: Stream = {
      topic,
      end: typeof topic === 'number' ? this.#later(lifetimeMs, () => response.end(stream.held)) : undefined,
      silent: fault?.kind === 'silent-stream',
      held: fault?.kind === 'buffered-stream' ? '' : undefined,
    };
    this.#streams.set(response, stream);
    if (fault?.kind === 'noisy-stream') sendNoise(response, fault.noise, fault.noiseBytesPerS);
    response.on('close', () => this.#remove(response));
  }

  /** Sends an update to the streams of one chain: a New Cut `cutBurst` times, other updates once. */
  publish(update: Update, chain: number): void {
    this.#send(update, chain);
    const repeats = update === 'New Cut' ? this.#settings.cutBurst - 1 : 0;
    for (let i = 1; i <= repeats; i++) this.#later(i * BURST_GAP_MS, () => this.#send(update, chain));
  }

  /**
   * Sends a new block to the streams of blocks.
   * @param eventOf returns the text of the event. Called once for all streams with equal topics
   */
  publishBlock(block: Block, eventOf: (block: Block, topic: BlockTopic) => string): void {
    const texts = new Map<string, string>();
    for (const [response, stream] of this.#streams) {
      const { topic } = stream;
      if (typeof topic === 'number') continue;
      const kind = `${topic.of} ${topic.dialect}`;
      const text = texts.get(kind) ?? eventOf(block, topic);
      texts.set(kind, text);
      write(response, stream, text);
    }
  }

  /** Ends all streams, as if the node's service restarted. */
  endAll(): void {
    for (const [response, { held }] of this.#streams) response.end(held);
  }

  /** Makes the open streams send no more events. At the end of their lifetimes, they end as usual. */
  silenceAll(): void {
    for (const stream of this.#streams.values()) stream.silent = true;
  }

  /** Makes the open streams send nothing more and never end, so that their readers notice nothing. */
  loseAll(): void {
    for (const response of this.#streams.keys()) this.#remove(response);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    for (const response of this.#streams.keys()) response.destroy();
  }

  #send(update: Update, chain: number): void {
    const text = `event:${update}\n\n`;
    for (const [response, stream] of this.#streams) if (stream.topic === chain) write(response, stream, text);
  }

  #remove(response: ServerResponse): void {
    const stream = this.#streams.get(response);
    if (!stream) return;
    this.#streams.delete(response);
    if (!stream.end) return;
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

function write(response: ServerResponse, stream: Stream, text: string): void {
  if (stream.silent) return;
  if (response.writableLength + (stream.held?.length ?? 0) > MOST_UNREAD_BYTES) response.destroy();
  else if (stream.held !== undefined) stream.held += text;
  else response.write(text);
}
