/**
 * Holds the updates of a source until its listener takes them. Work that later work or a rest replaces is dropped, and
 * so is a rest that work replaces. So at most one of these, the works that have become stale, and one update about the
 * source wait here.
 */

import { onAbort } from '../system/abort.ts';
import type { SourceUpdate } from './source.ts';

type StaleUpdate = Extract<SourceUpdate, { kind: 'stale' }>;

export class Mailbox {
  #stale: StaleUpdate | undefined;
  #work: SourceUpdate | undefined;
  #lost: SourceUpdate | undefined;
  #fault: { readonly thrown: unknown } | undefined;
  #wake: () => void = () => {};

  put(update: SourceUpdate): void {
    if (update.kind === 'work') {
      this.#work = update;
      // A source that gives work is within reach again.
      this.#lost = undefined;
    } else if (update.kind === 'rest') {
      this.#work = update;
    } else if (update.kind === 'stale') {
      this.#condemn(update);
    } else {
      this.#lost = update;
    }
    this.#wake();
  }

  /** Passes on what the source has thrown, which ends its updates. Only the first fault counts. */
  fail(thrown: unknown): void {
    this.#fault ??= { thrown };
    this.#wake();
  }

  /**
   * Yields the updates, until `stop`: first what is stale, then the work. Only one listener may use it.
   * @throws what the source has thrown, once the updates before it are taken
   */
  async *updates(stop: AbortSignal): AsyncGenerator<SourceUpdate, void> {
    const release = onAbort(stop, () => this.#wake());
    try {
      while (!stop.aborted) {
        const update = this.#take();
        if (update) yield update;
        else if (this.#fault) throw this.#fault.thrown;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      release();
    }
  }

  #condemn({ works, reason }: StaleUpdate): void {
    const waiting = this.#stale?.works ?? [];
    this.#stale = { kind: 'stale', works: [...waiting, ...works], reason };
    if (this.#work?.kind === 'work' && works.includes(this.#work.work)) this.#work = undefined;
  }

  #take(): SourceUpdate | undefined {
    const update = this.#stale ?? this.#work ?? this.#lost;
    if (update === this.#stale) this.#stale = undefined;
    else if (update === this.#work) this.#work = undefined;
    else this.#lost = undefined;
    return update;
  }
}
