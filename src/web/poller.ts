/** Asks again and again while somebody can see the page; after failures with growing waits. */

const INTERVAL_MS = 2_000;
/** Soon enough for somebody who watches the miner come back. */
const LONGEST_MS = 10_000;

export class Poller {
  readonly #ask: () => Promise<void>;
  readonly #failed: (fault: unknown) => void;
  #again = false;
  #wake: () => void = () => {};

  /** @param failed is called for every failure of `ask` */
  constructor(ask: () => Promise<void>, failed: (fault: unknown) => void) {
    this.#ask = ask;
    this.#failed = failed;
    document.addEventListener('visibilitychange', () => this.now());
    window.addEventListener('online', () => this.now());
  }

  /** Asks at once, or once more if it is asking. */
  now(): void {
    this.#again = true;
    this.#wake();
  }

  /** Does not return. */
  async run(): Promise<void> {
    let waitMs = INTERVAL_MS;
    for (;;) {
      this.#again = false;
      try {
        if (!document.hidden) await this.#ask();
        waitMs = INTERVAL_MS;
      } catch (fault) {
        this.#failed(fault);
        waitMs = Math.min(LONGEST_MS, waitMs * 1.5);
      }
      if (!this.#again) await this.#sleep(document.hidden ? undefined : waitMs);
    }
  }

  /** @param ms how long; absent, until `now` is called */
  #sleep(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
