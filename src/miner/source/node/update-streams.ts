/** Keeps an update stream for each chain that the node has given work of, as far as the node allows. */

import { EventSource, type FetchLike } from 'eventsource';
import { Backoff } from '../../../base/net/backoff.ts';
import type { Clock, Timer } from '../../../base/system/clock.ts';
import { NodeError } from '../../../node/http/node-error.ts';
import type { NodeLimits } from '../../../node/http/request-limits.ts';

interface UpdateStreamsOptions extends Pick<UpdateStreamOptions, 'url' | 'mayOpen' | 'clock' | 'random' | 'limits'> {
  readonly open: (chain: number, stop: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  readonly onOpen: (chain: number) => void;
  readonly onNewCut: (chain: number) => void;
  readonly onEnd: (chain: number) => void;
  readonly onProblem: (chain: number, error: NodeError) => void;
}

/**
 * Maximum number of streams. Networks have 20 chains, and a node may allow fewer streams. Chains without a stream are
 * polled.
 */
const MOST_STREAMS = 20;

interface Followed {
  readonly stream: UpdateStream;
  /** When the node last gave work of the chain (monotonic). */
  usedAtMs: number;
}

export class UpdateStreams {
  readonly #options: UpdateStreamsOptions;
  /** The streams by chain. The chain of the latest work is at the end. */
  readonly #streams = new Map<number, Followed>();
  /** Number of streams that the node allows, as far as it is known. */
  #most = MOST_STREAMS;
  /** When the node last refused a stream because it had no free one (monotonic). */
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  /** When a stream was last closed to make room for another stream (monotonic). */
  #leftAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: UpdateStreamsOptions) {
    this.#options = options;
  }

  /**
   * Called with the chain of each fetched work. Opens a stream for a chain that has none, if the node allows another
   * stream. Otherwise the chain is polled. No stream of a chain in use is closed to make room. If it were, and a node
   * gave work of many chains in turn, each work would cause a request for a stream and a further request for work.
   */
  follow(chain: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#streams.get(chain);
    if (known) {
      known.usedAtMs = nowMs;
      this.#streams.delete(chain);
      this.#streams.set(chain, known);
      return;
    }
    if (nowMs - this.#refusedAtMs > 2 * this.#options.limits.noStreamsPauseMs) this.#most = MOST_STREAMS;
    this.#makeRoom(nowMs);
    if (this.#streams.size < this.#most) this.#streams.set(chain, { stream: this.#streamOf(chain), usedAtMs: nowMs });
  }

  get open(): number {
    return [...this.#streams.values()].filter(({ stream }) => stream.isOpen).length;
  }

  /** Closes the streams of these chains and opens them again; by default, the streams of all chains. */
  reopen(chains: Iterable<number> = this.#streams.keys()): void {
    for (const chain of chains) this.#streams.get(chain)?.stream.reopen();
  }

  /** Ends the pauses of waiting streams, because the node answers again. */
  hurry(): void {
    // The chain of the latest work comes first, because the node may not allow all streams.
    for (const { stream } of [...this.#streams.values()].reverse()) stream.hurry();
  }

  close(): void {
    for (const { stream } of this.#streams.values()) stream.close();
    this.#streams.clear();
  }

  #streamOf(chain: number): UpdateStream {
    const { url, mayOpen, clock, random, limits, open, onOpen, onNewCut, onEnd, onProblem } = this.#options;
    return new UpdateStream({
      url,
      mayOpen,
      clock,
      random,
      limits,
      open: (stop) => open(chain, stop),
      onOpen: () => onOpen(chain),
      onNewCut: () => onNewCut(chain),
      onEnd: () => onEnd(chain),
      onProblem: (error) => {
        if (error.isBusy) this.#makeDo();
        onProblem(chain, error);
      },
    });
  }

  /** Closes streams of chains without work for `expiryMs`, oldest first, until there is room for another stream. */
  #makeRoom(nowMs: number): void {
    for (const [chain, { usedAtMs }] of this.#streams) {
      if (this.#streams.size < this.#most || nowMs - usedAtMs < this.#options.limits.expiryMs) return;
      this.#leave(chain);
      this.#leftAtMs = nowMs;
    }
  }

  /**
   * Called when the node refuses a stream because it has no free one. The number of streams that do not wait becomes
   * the limit (at least one, and one more if a stream was closed lately to make room). Of the waiting streams, only the
   * one whose chain had work last is kept.
   */
  #makeDo(): void {
    const nowMs = this.#options.clock.monotonicMs();
    // The node may not have noticed yet that a stream was closed to make room. So one more stream counts as allowed.
    const free = nowMs - this.#leftAtMs < this.#options.limits.noStreamsPauseMs ? 1 : 0;
    const waiting = [...this.#streams].filter(([, { stream }]) => stream.isWaiting).map(([chain]) => chain);
    this.#most = Math.max(1, this.#streams.size - waiting.length + free);
    this.#refusedAtMs = nowMs;
    for (const chain of waiting.slice(0, -1)) this.#leave(chain);
  }

  #leave(chain: number): void {
    this.#streams.get(chain)?.stream.close();
    this.#streams.delete(chain);
    this.#options.onEnd(chain);
  }
}

/*
 * The update stream of one chain. A stream that has ended is opened again. This happens at once if the stream was open
 * for `steadyStreamMs` and did not end with a lasting problem (`isLasting`); otherwise after a pause.
 */

interface UpdateStreamOptions {
  /** EventSource requires a URL, but does not use it: `open` sends the request. */
  readonly url: string;
  /** Sends the request for the stream. @throws NodeError */
  readonly open: (stop: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  /** Whether a stream may be requested now. If not, the request is made later. */
  readonly mayOpen: () => boolean;
  readonly onOpen: () => void;
  readonly onNewCut: () => void;
  /** Called when the stream was open and has ended. It will be opened again. */
  readonly onEnd: () => void;
  /**
   * Called when the stream could not be opened or has failed. It will be requested again. Also called when a request
   * has had no answer for `streamAnswerMs`; the request goes on.
   */
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
  /** Ends the current connection when it is too old, or begins the next connection after a pause. */
  #timer: Timer | undefined;
  #noAnswer: Timer | undefined;
  #openedAtMs: number | undefined;
  #problem: NodeError | undefined;

  constructor(options: UpdateStreamOptions) {
    this.#options = options;
    const { noStreamsPauseMs, streamPauses } = options.limits;
    this.#pauses = new Backoff(streamPauses, options.random);
    this.#longPauses = new Backoff({ firstMs: noStreamsPauseMs, mostMs: 2 * noStreamsPauseMs }, options.random);
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#openedAtMs !== undefined;
  }

  /** Whether the stream is neither open nor requested now, because it has ended or the request must wait. */
  get isWaiting(): boolean {
    return this.#eventSource === undefined;
  }

  close(): void {
    this.#timer?.cancel();
    this.#noAnswer?.cancel();
    this.#openedAtMs = undefined;
    this.#eventSource?.close();
    this.#eventSource = undefined;
  }

  reopen(): void {
    const wasOpen = this.isOpen;
    this.close();
    if (wasOpen) this.#options.onEnd();
    this.#connect();
  }

  /** Ends a pause because the node answers again, unless the stream's last problem is a lasting one. */
  hurry(): void {
    if (this.isWaiting && !isLasting(this.#problem)) this.reopen();
  }

  #connect(): void {
    const { limits, url, random, mayOpen } = this.#options;
    if (!mayOpen()) {
      this.#timer = this.#options.clock.setTimeout(
        () => this.#connect(),
        limits.streamPauses.mostMs * (0.5 + random() / 2),
      );
      return;
    }
    this.#problem = undefined;
    // An EventSource cannot reconnect at once, or after growing pauses. So it is used for one connection only.
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
    // The event `Refreshed Block` is ignored: the work stays valid, and the next work has the newer transactions.
    listen('error', () => this.#ended());
    this.#timer = this.#options.clock.setTimeout(() => this.#ended(), limits.maxStreamMs);
    // The request is not canceled, because its answer may come with the first New Cut.
    this.#noAnswer = this.#options.clock.setTimeout(() => {
      this.#options.onProblem(new NodeError('timed out', 'the node has not answered the request for it yet.'));
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

  /** Keeps the NodeError of a failed action in `#problem`, because EventSource does not pass it on. */
  async #noting<T>(action: Promise<T>): Promise<T> {
    try {
      return await action;
    } catch (error) {
      if (error instanceof NodeError) this.#problem = error;
      throw error;
    }
  }

  #opened(): void {
    this.#noAnswer?.cancel();
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
    this.#timer = this.#options.clock.setTimeout(() => this.#connect(), waitMs);
    if (this.#problem) this.#options.onProblem(this.#problem);
  }
}

/** Whether a problem will probably last: the node has no free stream, refuses streams, or sends no event stream. */
function isLasting(problem: NodeError | undefined): boolean {
  return problem?.isBusy === true || problem?.kind === 'refused' || problem?.kind === 'not understood';
}

/*
 * The node sends `event:New Cut` and an empty line, but no `data:` line, and the standard (WHATWG HTML, "Server-sent
 * events") drops events without data. So each event's name is passed on with an empty data line. Comments, `retry:` and
 * `id:` are dropped: pickaxe reconnects by its own rules. `node/http/exchange.ts` bounds how much a stream may send.
 */

/** Maximum length of a line. A node's lines are far shorter, so a longer line is not part of an event stream. */
const MAX_LINE_CHARACTERS = 4_096;

/**
 * Reads lines that end in LF, CRLF or CR. A line may be spread over several chunks.
 * @returns for each event with a name: `event:NAME`, an empty `data:` line and an empty line, in UTF-8
 * @throws NodeError when a line is too long
 */
export async function* withData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let line = '';
  let name: string | undefined;
  let afterCarriageReturn = false;
  for await (const chunk of chunks) {
    let ready = '';
    for (const character of decoder.decode(chunk, { stream: true })) {
      const endOfCrLf = character === '\n' && afterCarriageReturn;
      afterCarriageReturn = character === '\r';
      if (endOfCrLf) continue;
      if (character !== '\n' && character !== '\r') {
        line += character;
      } else if (line !== '') {
        if (line.startsWith('event:')) name = line;
        line = '';
      } else {
        if (name !== undefined) ready += `${name}\ndata:\n\n`;
        name = undefined;
      }
    }
    if (line.length > MAX_LINE_CHARACTERS) {
      throw new NodeError('not understood', 'the update stream sends no events: is this the right path of the node?');
    }
    if (ready !== '') yield encoder.encode(ready);
  }
}
