/** Keeps an update stream for each chain that work has come from, as far as the node allows. */

import type { NodeError } from '../../node/errors.ts';
import { UpdateStream, type UpdateStreamOptions } from './update-stream.ts';

export interface UpdateStreamsOptions
  extends Pick<UpdateStreamOptions, 'url' | 'mayOpen' | 'clock' | 'random' | 'limits'> {
  readonly open: (chain: number, stop: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  readonly onOpen: (chain: number) => void;
  readonly onNewCut: (chain: number) => void;
  readonly onEnd: (chain: number) => void;
  /** Called when a stream could not be opened. It will be tried again. */
  readonly onProblem: (chain: number, error: NodeError) => void;
}

/** Networks have 20 chains, and nodes limit the number of streams. A chain without a stream is polled. */
const MOST_STREAMS = 20;

interface Followed {
  readonly stream: UpdateStream;
  /** When work last came from the chain (monotonic). */
  usedAtMs: number;
}

export class UpdateStreams {
  readonly #options: UpdateStreamsOptions;
  /** The streams by chain. The chain that work came from last is at the end. */
  readonly #streams = new Map<number, Followed>();
  /** How many streams the node allows, and when it last refused one (monotonic). */
  #most = MOST_STREAMS;
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  /** When a stream was last closed to make room for another (monotonic). */
  #leftAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: UpdateStreamsOptions) {
    this.#options = options;
  }

  /**
   * Makes sure that a chain has a stream, because work has come from it. While the node gives no more streams, those that are open
   * stay, and the chain is polled: a node that gives work on many chains in turn would otherwise be asked for another stream, and
   * for work again, at each work.
   */
  follow(chain: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#streams.get(chain);
    if (known) {
      known.usedAtMs = nowMs;
      this.#streams.delete(chain);
      this.#streams.set(chain, known);
      return;
    }
    if (nowMs - this.#refusedAtMs > 2 * this.#options.limits.noStreamsPauseMs) this.#most = MOST_STREAMS;
    this.#makeRoom(nowMs);
    if (this.#streams.size < this.#most) this.#streams.set(chain, { stream: this.#streamOf(chain), usedAtMs: nowMs });
  }

  /** How many streams are open. */
  get open(): number {
    return [...this.#streams.values()].filter(({ stream }) => stream.isOpen).length;
  }

  /** Opens the streams of these chains again; by default, of all chains. */
  reopen(chains: Iterable<number> = this.#streams.keys()): void {
    for (const chain of chains) this.#streams.get(chain)?.stream.reopen();
  }

  /** Ends the pauses of streams that are waiting, because the node answers again. */
  hurry(): void {
    // The chain that work came from last comes first, because not all may be allowed.
    for (const { stream } of [...this.#streams.values()].reverse()) stream.hurry();
  }

  close(): void {
    for (const { stream } of this.#streams.values()) stream.close();
    this.#streams.clear();
  }

  #streamOf(chain: number): UpdateStream {
    const { url, mayOpen, clock, random, limits, open, onOpen, onNewCut, onEnd, onProblem } = this.#options;
    return new UpdateStream({
      url,
      mayOpen,
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
  }

  /** Closes streams whose chains the node seems to give no more work on, while there are too many for another one. */
  #makeRoom(nowMs: number): void {
    for (const [chain, { usedAtMs }] of this.#streams) {
      if (this.#streams.size < this.#most || nowMs - usedAtMs < this.#options.limits.expiryMs) return;
      this.#leave(chain);
      this.#leftAtMs = nowMs;
    }
  }

  /** Called when the node has no more streams to give. The chains that work came from last keep theirs. */
  #makeDo(): void {
    const nowMs = this.#options.clock.monotonicMs();
    // The node may not have noticed yet that one of its streams has become free.
    const free = nowMs - this.#leftAtMs < this.#options.limits.noStreamsPauseMs ? 1 : 0;
    const waiting = [...this.#streams].filter(([, { stream }]) => stream.isWaiting).map(([chain]) => chain);
    this.#most = Math.max(1, this.#streams.size - waiting.length + free);
    this.#refusedAtMs = nowMs;
    for (const chain of waiting.slice(0, -1)) this.#leave(chain);
  }

  #leave(chain: number): void {
    this.#streams.get(chain)?.stream.close();
    this.#streams.delete(chain);
    this.#options.onEnd(chain);
  }
}
