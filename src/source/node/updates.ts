/** One update stream for each chain that work has come from. */

import { UpdateStream, type UpdateStreamOptions } from './update-stream.ts';

export interface UpdatesOptions extends Pick<UpdateStreamOptions, 'url' | 'clock' | 'random' | 'limits' | 'onProblem'> {
  readonly open: (chain: number, stop: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  readonly onOpen: (chain: number) => void;
  readonly onNewCut: (chain: number) => void;
  readonly onEnd: (chain: number) => void;
}

/** Chains are 0 to 19, and nodes count the streams they give. A chain beyond goes without, and is polled. */
const MAX_STREAMS = 20;

export class Updates {
  readonly #options: UpdatesOptions;
  readonly #streams = new Map<number, UpdateStream>();

  constructor(options: UpdatesOptions) {
    this.#options = options;
  }

  /** Sees to it that the chain has a stream. */
  follow(chain: number): void {
    if (this.#streams.has(chain) || this.#streams.size >= MAX_STREAMS) return;
    const { url, clock, random, limits, onProblem, open, onOpen, onNewCut, onEnd } = this.#options;
    const stream = new UpdateStream({
      url,
      clock,
      random,
      limits,
      onProblem,
      open: (stop) => open(chain, stop),
      onOpen: () => onOpen(chain),
      onNewCut: () => onNewCut(chain),
      onEnd: () => onEnd(chain),
    });
    this.#streams.set(chain, stream);
  }

  /** Whether New Cuts of the chain arrive now. */
  isOpen(chain: number): boolean {
    return this.#streams.get(chain)?.isOpen ?? false;
  }

  close(): void {
    for (const stream of this.#streams.values()) stream.close();
    this.#streams.clear();
  }
}
