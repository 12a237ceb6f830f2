/** The update stream of one chain, kept open: reopened at once when the node ends it, with pauses when that goes wrong. */

import { EventSource, type FetchLike } from 'eventsource';
import type { Clock } from '../../clock.ts';
import { Backoff } from './backoff.ts';
import { NodeError } from './errors.ts';
import { withData } from './event-lines.ts';
import type { NodeLimits } from './limits.ts';

export interface UpdateStreamOptions {
  /** For the EventSource's books only: `open` knows where to go. */
  readonly url: string;
  /** Sends the request. @throws NodeError */
  readonly open: (stop: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  readonly onOpen: () => void;
  readonly onNewCut: () => void;
  /** An open stream has ended; it will be opened again. */
  readonly onEnd: () => void;
  /** The stream could not be opened; it will be tried again. */
  readonly onProblem: (error: NodeError) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: NodeLimits;
}

export class UpdateStream {
  readonly #options: UpdateStreamOptions;
  readonly #pauses: Backoff;
  readonly #noStreamsPauses: Backoff;
  #eventSource: EventSource | undefined;
  #timer: NodeJS.Timeout | undefined;
  #openedAtMs: number | undefined;
  #problem: NodeError | undefined;

  constructor(options: UpdateStreamOptions) {
    this.#options = options;
    const { noStreamsPauseMs, streamPauses } = options.limits;
    this.#pauses = new Backoff(streamPauses, options.random);
    this.#noStreamsPauses = new Backoff({ firstMs: noStreamsPauseMs, mostMs: 2 * noStreamsPauseMs }, options.random);
    this.#connect();
  }

  /** Whether New Cuts arrive now. */
  get isOpen(): boolean {
    return this.#openedAtMs !== undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#openedAtMs = undefined;
    this.#eventSource?.close();
    this.#eventSource = undefined;
  }

  #connect(): void {
    this.#problem = undefined;
    // The package reconnects by itself, but neither at once nor with growing pauses: each one serves one connection.
    const eventSource = new EventSource(this.#options.url, { fetch: this.#fetch });
    this.#eventSource = eventSource;
    const listen = (event: string, action: () => void) => {
      eventSource.addEventListener(event, () => {
        // One that was given up can still have something in its pipe.
        if (this.#eventSource === eventSource) action();
      });
    };
    listen('open', () => this.#opened());
    listen('New Cut', () => this.#options.onNewCut());
    // `Refreshed Block` is ignored: the work stays valid, and newer transactions come with the next work.
    listen('error', () => this.#ended());
    this.#timer = setTimeout(() => this.#ended(), this.#options.limits.maxStreamMs);
  }

  readonly #fetch: FetchLike = async (url, { signal }) => {
    try {
      const events = withData(await this.#options.open(signal));
      return {
        url: String(url),
        status: 200,
        redirected: false,
        headers: new Headers({ 'content-type': 'text/event-stream' }),
        body: { getReader: () => ({ read: () => events.next(), cancel: async () => void (await events.return()) }) },
      };
    } catch (error) {
      if (error instanceof NodeError) this.#problem = error;
      throw error;
    }
  };

  #opened(): void {
    this.#openedAtMs = this.#options.clock.monotonicMs();
    this.#noStreamsPauses.reset();
    this.#options.onOpen();
  }

  #ended(): void {
    const steady =
      this.#openedAtMs !== undefined &&
      this.#options.clock.monotonicMs() - this.#openedAtMs >= this.#options.limits.steadyStreamMs;
    const wasOpen = this.isOpen;
    this.close();
    if (wasOpen) this.#options.onEnd();
    if (this.#problem) this.#options.onProblem(this.#problem);
    if (steady) this.#pauses.reset();
    const pauses = this.#problem?.fault === 'busy' ? this.#noStreamsPauses : this.#pauses;
    const waitMs = steady ? 0 : pauses.nextMs(this.#problem?.retryAfterMs);
    this.#timer = setTimeout(() => this.#connect(), waitMs);
  }
}
