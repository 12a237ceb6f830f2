/** The update stream of one chain. It is opened again at once when the node ends it, and after a pause when it fails. */

import { EventSource, type FetchLike } from 'eventsource';
import { Backoff } from '../../net/backoff.ts';
import { NodeError } from '../../node/errors.ts';
import type { NodeLimits } from '../../node/limits.ts';
import type { Clock } from '../../system/clock.ts';
import { withData } from './event-lines.ts';

export interface UpdateStreamOptions {
  /** EventSource requires a URL, but does not use it: `open` sends the request. */
  readonly url: string;
  /** Sends the request. @throws NodeError */
  readonly open: (stop: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  /** Asked before each request: whether the node may be asked for a stream now. If not, the stream waits. */
  readonly mayOpen: () => boolean;
  readonly onOpen: () => void;
  readonly onNewCut: () => void;
  /** Called when an open stream has ended. It will be opened again. */
  readonly onEnd: () => void;
  /** Called when the stream could not be opened, or its content was wrong. It will be tried again. */
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
  /** Ends the present connection when it is too old, or begins the next one after a pause. */
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

  /** Whether the stream is open. */
  get isOpen(): boolean {
    return this.#openedAtMs !== undefined;
  }

  /** Whether the node is not asked for the stream at present, because that has failed or must wait. */
  get isWaiting(): boolean {
    return this.#eventSource === undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#noAnswer);
    this.#openedAtMs = undefined;
    this.#eventSource?.close();
    this.#eventSource = undefined;
  }

  /** Opens a new connection, and closes the present one if there is one. */
  reopen(): void {
    const wasOpen = this.isOpen;
    this.close();
    if (wasOpen) this.#options.onEnd();
    this.#connect();
  }

  /** Ends a pause because the node answers again, unless the problem is a lasting one. */
  hurry(): void {
    if (this.isWaiting && !isLasting(this.#problem)) this.reopen();
  }

  #connect(): void {
    const { limits, url, random, mayOpen } = this.#options;
    if (!mayOpen()) {
      this.#timer = setTimeout(() => this.#connect(), limits.streamPauses.mostMs * (0.5 + random() / 2));
      return;
    }
    this.#problem = undefined;
    // EventSource reconnects by itself, but neither at once nor with growing pauses, so each EventSource is used only once.
    const eventSource = new EventSource(url, { fetch: this.#fetch });
    this.#eventSource = eventSource;
    const listen = (event: string, action: () => void) => {
      eventSource.addEventListener(event, () => {
        // An old EventSource can still deliver events after it was closed.
        if (this.#eventSource === eventSource) action();
      });
    };
    listen('open', () => this.#opened());
    listen('New Cut', () => this.#options.onNewCut());
    // `Refreshed Block` is ignored: the work stays valid, and the newer transactions come with the next work.
    listen('error', () => this.#ended());
    this.#timer = setTimeout(() => this.#ended(), limits.maxStreamMs);
    // The request is not canceled, because its answer may come with the first New Cut.
    this.#noAnswer = setTimeout(() => {
      this.#options.onProblem(new NodeError('no answer', 'the node has not answered the request for it yet.'));
    }, limits.streamAnswerMs);
  }

  readonly #fetch: FetchLike = async (url, { signal }) => {
    const events = withData(await this.#noting(this.#options.open(signal)));
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

  /** Remembers an error, because EventSource does not pass on its reason. */
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

/** Whether a problem will probably last for a while: the node has no more streams, refuses them, or sends no event stream. */
function isLasting(problem: NodeError | undefined): boolean {
  return problem?.fault === 'busy' || problem?.fault === 'refused' || problem?.fault === 'garbled';
}
