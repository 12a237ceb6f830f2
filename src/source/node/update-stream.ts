/** The update stream of one chain: opened again at once when the node ends it, and after pauses when that goes wrong. */

import { EventSource, type FetchLike } from 'eventsource';
import { Backoff } from '../../node/backoff.ts';
import { NodeError } from '../../node/errors.ts';
import type { NodeLimits } from '../../node/limits.ts';
import type { Clock } from '../../system/clock.ts';
import { withData } from './event-lines.ts';

export interface UpdateStreamOptions {
  /** Only because EventSource wants one: `open` knows where to go. */
  readonly url: string;
  /** Sends the request. @throws NodeError */
  readonly open: (stop: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  readonly onOpen: () => void;
  readonly onNewCut: () => void;
  /** An open stream has ended; it will be opened again. */
  readonly onEnd: () => void;
  /** The stream could not be opened, or had to be given up; it will be tried again. */
  readonly onProblem: (error: NodeError) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: NodeLimits;
}

export class UpdateStream {
  readonly #options: UpdateStreamOptions;
  readonly #pauses: Backoff;
  readonly #longPauses: Backoff;
  #eventSource: EventSource | undefined;
  /** Runs until the present connection is too old, or between two connections until the next one. */
  #timer: NodeJS.Timeout | undefined;
  #noAnswer: NodeJS.Timeout | undefined;
  #openedAtMs: number | undefined;
  #problem: NodeError | undefined;

  constructor(options: UpdateStreamOptions) {
    this.#options = options;
    const { noStreamsPauseMs, streamPauses } = options.limits;
    this.#pauses = new Backoff(streamPauses, options.random);
    this.#longPauses = new Backoff({ firstMs: noStreamsPauseMs, mostMs: 2 * noStreamsPauseMs }, options.random);
    this.#connect();
  }

  /** Whether New Cuts arrive now. */
  get isOpen(): boolean {
    return this.#openedAtMs !== undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#noAnswer);
    this.#openedAtMs = undefined;
    this.#eventSource?.close();
    this.#eventSource = undefined;
  }

  /** Replaces the present connection, if there is one, by a new one. */
  reopen(): void {
    const wasOpen = this.isOpen;
    this.close();
    if (wasOpen) this.#options.onEnd();
    this.#connect();
  }

  /** The node answers again, so a wait for it is over, unless the node has asked for patience or floods. */
  hurry(): void {
    if (!this.#eventSource && !isLasting(this.#problem)) this.reopen();
  }

  #connect(): void {
    this.#problem = undefined;
    const { limits, url } = this.#options;
    // EventSource reconnects by itself, but neither at once nor with growing pauses, so each one is used only once.
    const eventSource = new EventSource(url, { fetch: this.#fetch });
    this.#eventSource = eventSource;
    const listen = (event: string, action: () => void) => {
      eventSource.addEventListener(event, () => {
        // An EventSource that was given up can still have something in its pipe.
        if (this.#eventSource === eventSource) action();
      });
    };
    listen('open', () => this.#opened());
    listen('New Cut', () => this.#options.onNewCut());
    // `Refreshed Block` is ignored: the work stays valid, and newer transactions come with the next work.
    listen('error', () => this.#ended());
    this.#timer = setTimeout(() => this.#ended(), limits.maxStreamMs);
    // The request is not given up, since the answer may come with the first New Cut.
    this.#noAnswer = setTimeout(() => {
      this.#options.onProblem(new NodeError('no answer', 'the node has not answered the request for it yet.'));
    }, limits.streamAnswerMs);
  }

  readonly #fetch: FetchLike = async (url, { signal }) => {
    const events = withData(await this.#noting(this.#options.open(signal)), () => this.#options.clock.monotonicMs());
    return {
      url: String(url),
      status: 200,
      redirected: false,
      headers: new Headers({ 'content-type': 'text/event-stream' }),
      body: {
        getReader: () => ({
          read: () => this.#noting(events.next()),
          cancel: async () => void (await events.return()),
        }),
      },
    };
  };

  /** Remembers what goes wrong, since EventSource tells only that something did. */
  async #noting<T>(action: Promise<T>): Promise<T> {
    try {
      return await action;
    } catch (error) {
      if (error instanceof NodeError) this.#problem = error;
      throw error;
    }
  }

  #opened(): void {
    clearTimeout(this.#noAnswer);
    this.#openedAtMs = this.#options.clock.monotonicMs();
    this.#options.onOpen();
  }

  #ended(): void {
    const steady =
      this.#openedAtMs !== undefined &&
      this.#options.clock.monotonicMs() - this.#openedAtMs >= this.#options.limits.steadyStreamMs;
    const wasOpen = this.isOpen;
    this.close();
    if (wasOpen) this.#options.onEnd();
    const lasts = isLasting(this.#problem);
    if (steady) {
      this.#pauses.reset();
      if (!lasts) this.#longPauses.reset();
    }
    const waitMs = steady && !lasts ? 0 : (lasts ? this.#longPauses : this.#pauses).nextMs(this.#problem?.retryAfterMs);
    this.#timer = setTimeout(() => this.#connect(), waitMs);
    if (this.#problem) this.#options.onProblem(this.#problem);
  }
}

/** Whether the problem will hardly go away in seconds: the node has no more streams, no such path, or no event stream. */
function isLasting(problem: NodeError | undefined): boolean {
  return problem?.fault === 'busy' || problem?.fault === 'refused' || problem?.fault === 'garbled';
}
