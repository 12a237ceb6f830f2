/** A bounded queue for work in the background, so that hooks and webhooks never block the miner. */

interface QueueOptions<T> {
  /** How many items are processed at the same time. */
  readonly atOnce: number;
  /** How many items may wait. */
  readonly most: number;
  /** Processes an item. It must not throw, and must end soon after `stop`. */
  readonly work: (item: T, stop: AbortSignal) => Promise<void>;
  /** Called with each item that is dropped because the queue is full, or because `end` took too long. */
  readonly dropped: (item: T) => void;
}

export class Queue<T> {
  readonly #options: QueueOptions<T>;
  readonly #waiting: T[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(options: QueueOptions<T>) {
    this.#options = options;
  }

  push(item: T): void {
    const { most, dropped } = this.#options;
    if (this.#waiting.length >= most) dropped(item);
    else this.#waiting.push(item);
    this.#next();
  }

  /** Waits for all items, but not longer than `withinMs`. Then running items are stopped and waiting ones dropped. */
  async end(withinMs: number): Promise<void> {
    const timer = setTimeout(() => {
      for (const item of this.#waiting.splice(0)) this.#options.dropped(item);
      this.#stopping.abort();
    }, withinMs);
    while (this.#running.size > 0) await Promise.race(this.#running);
    clearTimeout(timer);
  }

  #next(): void {
    const { atOnce, work } = this.#options;
    if (this.#running.size >= atOnce) return;
    const item = this.#waiting.shift();
    if (item === undefined) return;
    const done = work(item, this.#stopping.signal).finally(() => {
      this.#running.delete(done);
      this.#next();
    });
    this.#running.add(done);
  }
}
