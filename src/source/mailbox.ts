/**
 * Between a source's own pace and its listener's: what has been overtaken before it was taken is dropped, so that at
 * most one update about the work and one about the source wait here.
 */

import type { SourceUpdate } from './source.ts';

export class Mailbox {
  /** The last `work` or `stale`. */
  #work: SourceUpdate | undefined;
  #lost: SourceUpdate | undefined;
  #wake: () => void = () => {};

  put(update: SourceUpdate): void {
    if (update.kind === 'lost') {
      this.#lost = update;
    } else {
      this.#work = update;
      // Work has come since, so the source is within reach again.
      if (update.kind === 'work') this.#lost = undefined;
    }
    this.#wake();
  }

  /** Yields what is put in, until `stop`. For one listener. */
  async *updates(stop: AbortSignal): AsyncGenerator<SourceUpdate, void> {
    const onStop = () => this.#wake();
    stop.addEventListener('abort', onStop, { once: true });
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
      stop.removeEventListener('abort', onStop);
    }
  }

  #take(): SourceUpdate | undefined {
    const update = this.#work ?? this.#lost;
    if (update === this.#work) this.#work = undefined;
    else this.#lost = undefined;
    return update;
  }
}
