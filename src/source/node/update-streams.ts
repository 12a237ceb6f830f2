/** Keeps an update stream for each chain that work has come from, as far as the node allows. */

import type { NodeError } from '../../node/errors.ts';
import { UpdateStream, type UpdateStreamOptions } from './update-stream.ts';

export interface UpdateStreamsOptions extends Pick<UpdateStreamOptions, 'url' | 'clock' | 'random' | 'limits'> {
  readonly open: (chain: number, stop: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  readonly onOpen: (chain: number) => void;
  readonly onNewCut: (chain: number) => void;
  readonly onEnd: (chain: number) => void;
  /** Called when a stream could not be opened. It will be tried again. */
  readonly onProblem: (chain: number, error: NodeError) => void;
}

/** Networks have 20 chains, and nodes limit the number of streams. A chain without a stream is polled. */
const MOST_STREAMS = 20;

export class UpdateStreams {
  readonly #options: UpdateStreamsOptions;
  /** The streams by chain. The chain that work came from last is at the end. */
  readonly #streams = new Map<number, UpdateStream>();
  /** How many streams the node allows, and when it last refused one (monotonic). */
  #most = MOST_STREAMS;
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  /** When a stream was last closed to make room for another (monotonic). */
  #leftAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: UpdateStreamsOptions) {
    this.#options = options;
  }

  /** Makes sure that a chain has a stream, because work has come from it. */
  follow(chain: number): void {
    const known = this.#streams.get(chain);
    if (known) {
      this.#streams.delete(chain);
      this.#streams.set(chain, known);
      return;
    }
    if (this.#streams.size >= MOST_STREAMS) return;
    const { noStreamsPauseMs } = this.#options.limits;
    if (this.#options.clock.monotonicMs() - this.#refusedAtMs > 2 * noStreamsPauseMs) this.#most = MOST_STREAMS;
    if (this.#streams.size >= this.#most) this.#leftAtMs = this.#options.clock.monotonicMs();
    while (this.#streams.size >= this.#most) this.#leave(this.#longestUnused());
    const { url, clock, random, limits, open, onOpen, onNewCut, onEnd, onProblem } = this.#options;
    const stream = new UpdateStream({
      url,
      clock,
      random,
      limits,
      open: (stop) => open(chain, stop),
      onOpen: () => onOpen(chain),
      onNewCut: () => onNewCut(chain),
      onEnd: () => onEnd(chain),
      onProblem: (error) => {
        if (error.fault === 'busy') this.#makeDo();
        onProblem(chain, error);
      },
    });
    this.#streams.set(chain, stream);
  }

  /** How many streams are open. */
  get open(): number {
    return [...this.#streams.values()].filter(({ isOpen }) => isOpen).length;
  }

  /** Opens the streams of these chains again; by default, of all chains. */
  reopen(chains: Iterable<number> = this.#streams.keys()): void {
    for (const chain of chains) this.#streams.get(chain)?.reopen();
  }

  /** Ends the pauses of streams that are waiting, because the node answers again. */
  hurry(): void {
    for (const stream of this.#streams.values()) stream.hurry();
  }

  close(): void {
    for (const stream of this.#streams.values()) stream.close();
    this.#streams.clear();
  }

  /** Called when the node has no more streams to give. The chains that work came from last keep theirs. */
  #makeDo(): void {
    const nowMs = this.#options.clock.monotonicMs();
    // The node may not have noticed yet that one of its streams has become free.
    const free = nowMs - this.#leftAtMs < this.#options.limits.noStreamsPauseMs ? 1 : 0;
    this.#most = Math.max(1, this.open + free);
    this.#refusedAtMs = nowMs;
    const waiting = [...this.#streams].filter(([, { isOpen }]) => !isOpen).slice(0, -1);
    for (const [chain] of waiting) this.#leave(chain);
  }

  #leave(chain: number): void {
    this.#streams.get(chain)?.close();
    this.#streams.delete(chain);
    this.#options.onEnd(chain);
  }

  #longestUnused(): number {
    return this.#streams.keys().next().value as number;
  }
}
