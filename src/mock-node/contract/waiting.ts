/** Those who wait until something is there, such as a result. They look again whenever something has happened. */

/** How many can wait. Whoever comes then is answered at once. */
const MOST_WAITING = 1_000;

export class Waiting {
  readonly #looks = new Set<() => void>();

  /** Lets everybody look again. */
  look(): void {
    for (const look of this.#looks) look();
  }

  /**
   * @returns what `find` finds, as soon as it does; undefined after `timeoutMs`, when the signal aborts, and when too
   *   many wait
   */
  async for<T>(find: () => T | undefined, timeoutMs: number, signal: AbortSignal): Promise<T | undefined> {
    const found = find();
    if (found !== undefined || signal.aborted || this.#looks.size >= MOST_WAITING) return found;
    return new Promise((resolve) => {
      const end = (value: T | undefined) => {
        clearTimeout(timer);
        this.#looks.delete(look);
        signal.removeEventListener('abort', stop);
        resolve(value);
      };
      const stop = () => end(undefined);
      const look = () => {
        const value = find();
        if (value !== undefined) end(value);
      };
      const timer = setTimeout(stop, timeoutMs);
      this.#looks.add(look);
      signal.addEventListener('abort', stop);
    });
  }
}
