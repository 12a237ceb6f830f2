/**
 * Holds the updates of a source until its listener takes them. An update that a later one replaces is dropped, so at most one
 * update about the work and one about the source wait here.
 */

import { onAbort } from '../system/abort.ts';
import type { SourceUpdate } from './source.ts';

export class Mailbox {
  /** The latest `work` or `stale`. */
  #work: SourceUpdate | undefined;
  #lost: SourceUpdate | undefined;
  #wake: () => void = () => {};

  put(update: SourceUpdate): void {
    if (update.kind === 'lost') {
      this.#lost = update;
    } else {
      this.#work = update;
      // A source that gives work is within reach again.
      if (update.kind === 'work') this.#lost = undefined;
    }
    this.#wake();
  }

  /** Yields the updates, until `stop`. Only one listener may use it. */
  async *updates(stop: AbortSignal): AsyncGenerator<SourceUpdate, void> {
    const release = onAbort(stop, () => this.#wake());
    try {
      while (!stop.aborted) {
        const update = this.#take();
        if (update) yield update;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      release();
    }
  }

  #take(): SourceUpdate | undefined {
    const update = this.#work ?? this.#lost;
    if (update === this.#work) this.#work = undefined;
    else this.#lost = undefined;
    return update;
  }
}
