/** Requests that wait until something exists, such as a result. */

/** Maximum number of waiting requests. Further requests do not wait. */
const MOST_WAITING = 1_000;

export class Waiting {
  readonly #looks = new Set<() => void>();

  /** Calls `find` again for each waiting request. */
  look(): void {
    for (const look of this.#looks) look();
  }

  /**
   * Waits until `find` returns a value.
   * @returns this value; undefined at the time limit, on abort, and if too many requests wait already
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
