/** Requests that wait until something exists, such as a result. */

/** Maximum number of waiting requests. Further requests are answered at once. */
const MOST_WAITING = 1_000;

export class Waiting {
  readonly #looks = new Set<() => void>();

  /** Checks all waiting requests again. */
  look(): void {
    for (const look of this.#looks) look();
  }

  /** @returns the first value of `find`; undefined at the time limit, on abort, and with too many waiting requests */
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
