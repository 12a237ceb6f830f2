/** Exchanges lines with a pool over one connection: requests of pickaxe, calls of the pool, and answers to both. */

import type { PeerStream } from '../../../base/net/connecting.ts';
import { onAbort } from '../../../base/system/abort.ts';
import { BoundedSet, LogBucket, TokenBucket } from '../../../base/system/bounded.ts';
import type { Clock, Timer } from '../../../base/system/clock.ts';
import { LenientLines, TOO_LONG } from '../../../protocol/wire/lines.ts';
import {
  MOST_LATE,
  MOST_LINE_BYTES,
  MOST_SENT,
  MOST_UNREADABLE,
  MOST_UNREADABLE_NOTES,
  MOST_UNSENT_BYTES,
} from './pool-limits.ts';
import {
  type Answer,
  answerLine,
  connectionError,
  type Message,
  PoolError,
  parseMessage,
  quote,
  requestLine,
  UnreadableError,
} from './pool-messages.ts';

interface DialogueOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Called for each call of the pool. @throws PoolError to end the connection, UnreadableError to skip the call */
  readonly onCall: (call: Message & { kind: 'call' }) => void;
  /** Called for an answer that belongs to no request. Some pools send complaints in this form. */
  readonly onStray: (answer: Answer) => void;
  /** Called with a sentence, including its full stop, about skipped lines. `MOST_UNREADABLE_NOTES` limits the rate. */
  readonly onSkipped: (what: string) => void;
  /** Called after all lines of a received chunk were handled, unless the connection has ended. */
  readonly onRead: () => void;
}

interface Request {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly limitMs: number;
}

/** The answer to a request; `late` if none came within the time limit; `lost` if the connection has ended. */
export type Reply = Answer | 'late' | 'lost';

export class Dialogue {
  /** Resolves with the reason when the connection has ended. Never rejects. */
  readonly ended: Promise<PoolError>;
  readonly #socket: PeerStream;
  readonly #options: DialogueOptions;
  readonly #reader = new LenientLines(MOST_LINE_BYTES);
  readonly #bytes: TokenBucket;
  readonly #lines: TokenBucket;
  readonly #unreadable: TokenBucket;
  readonly #skippedNotes: LogBucket;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  /** Ids of the requests whose time limit has passed, oldest first. Each may still be answered once. */
  readonly #late = new BoundedSet<number>(MOST_LATE);
  #resolveEnd: (why: PoolError) => void = () => {};
  #requests = 0;
  #hasReceived = false;
  #lastLineMs: number;
  #end: PoolError | undefined;

  constructor(socket: PeerStream, options: DialogueOptions) {
    this.#socket = socket;
    this.#options = options;
    const nowMs = options.clock.monotonicMs();
    this.#lastLineMs = nowMs;
    this.#bytes = new TokenBucket(MOST_SENT.bytes, MOST_SENT.bytesPerSecond, nowMs);
    this.#lines = new TokenBucket(MOST_SENT.lines, MOST_SENT.linesPerSecond, nowMs);
    this.#unreadable = new TokenBucket(MOST_UNREADABLE.lines, MOST_UNREADABLE.linesPerSecond, nowMs);
    this.#skippedNotes = new LogBucket(MOST_UNREADABLE_NOTES.lines, nowMs, MOST_UNREADABLE_NOTES.linesPerSecond);
    this.ended = new Promise((resolve) => {
      this.#resolveEnd = resolve;
    });
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (fault) => this.end(connectionError(fault, options.url)));
    socket.on('end', () => this.end(this.#closedByPool()));
    socket.on('close', () => this.end(this.#closedByPool()));
    if (socket.destroyed) this.end(this.#closedByPool());
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** Why the connection has ended; undefined while it is open. */
  get whyEnded(): PoolError | undefined {
    return this.#end;
  }

  /**
   * Time of the pool's last readable line (monotonic); before the first one, the time when the connection was opened.
   */
  get lastLineMs(): number {
    return this.#lastLineMs;
  }

  /**
   * Sends a request. `apply` is called exactly once, with the reply. If the reply is an answer, `apply` is called
   * before later lines are read.
   */
  ask({ method, params, limitMs }: Request, apply: (reply: Reply) => void): void {
    if (this.#end) {
      apply('lost');
      return;
    }
    this.#requests += 1;
    const id = this.#requests;
    const timer = this.#options.clock.setTimeout(() => this.#runOut(id), limitMs);
    this.#waiting.set(id, (reply) => {
      timer.cancel();
      apply(reply);
    });
    this.#send(requestLine(id, method, params));
  }

  /** Sends a request. @returns the reply, which is also `late` if no answer has come `afterStopMs` after `stop` */
  async askUntil(stop: AbortSignal, afterStopMs: number, request: Request): Promise<Reply> {
    let timer: Timer | undefined;
    let release = () => {};
    const reply = await new Promise<Reply>((resolve) => {
      this.ask(request, resolve);
      release = onAbort(stop, () => {
        timer = this.#options.clock.setTimeout(() => resolve('late'), afterStopMs);
      });
    });
    timer?.cancel();
    release();
    return reply;
  }

  answer(id: unknown, result: unknown, error?: unknown): void {
    this.#send(answerLine(id, result, error));
  }

  /** Closes the connection. Only the first call has an effect. */
  end(why: PoolError): void {
    if (this.#end) return;
    this.#end = why;
    this.#socket.destroy();
    for (const id of [...this.#waiting.keys()]) this.#settle(id, 'lost');
    this.#resolveEnd(why);
  }

  #send(line: string): void {
    if (this.#end) return;
    this.#socket.write(line);
    if (this.#socket.writableLength > MOST_UNSENT_BYTES) {
      this.end(new PoolError('network', 'the pool no longer reads what it is sent.'));
    }
  }

  #read(chunk: Buffer): void {
    try {
      const leftOutBefore = this.#reader.leftOutBytes;
      for (const line of this.#reader.push(chunk)) {
        if (this.#end) return;
        if (line === TOO_LONG) this.#skip(`a line of more than ${MOST_LINE_BYTES} bytes`);
        else if (line.trim() === '' || !this.#apply(line)) this.#count(1, line.length + 1);
      }
      this.#count(0, this.#reader.leftOutBytes - leftOutBefore);
      if (!this.#end) this.#options.onRead();
    } catch (fault) {
      if (!(fault instanceof PoolError)) throw fault;
      this.end(fault);
    }
  }

  /**
   * Counts the lines that answer no request, and their bytes, because reading them costs hashrate. Of lines that were
   * too long, only the bytes count.
   * @throws PoolError if the pool exceeds `MOST_SENT`
   */
  #count(lines: number, bytes: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#lines.take(lines, nowMs) && this.#bytes.take(bytes, nowMs)) return;
    const { linesPerSecond, bytesPerSecond } = MOST_SENT;
    const most = `${linesPerSecond} lines or ${bytesPerSecond / 1000} kB a second`;
    throw new PoolError('refused', `the pool sends far more than a pool needs, on average more than ${most}.`);
  }

  /** @returns whether the line is the first answer to a request */
  #apply(line: string): boolean {
    const message = parseMessage(line);
    if (!message) {
      this.#skip(`“${quote(line)}”`);
      return false;
    }
    this.#hasReceived = true;
    this.#lastLineMs = this.#options.clock.monotonicMs();
    if (message.kind === 'call') {
      this.#call(message);
      return false;
    }
    const id = typeof message.id === 'string' ? Number(message.id) : message.id;
    const isOurs = typeof id === 'number' && id >= 1 && id <= this.#requests;
    // A late answer is worthless, but it answers a request, so it does not count against the limits.
    if (isOurs) return this.#settle(id, message) || this.#late.delete(id);
    this.#options.onStray(message);
    return false;
  }

  #call(message: Message & { kind: 'call' }): void {
    try {
      this.#options.onCall(message);
    } catch (fault) {
      if (!(fault instanceof UnreadableError)) throw fault;
      this.#skip(fault.message);
    }
  }

  /**
   * Skips an unreadable line, because even a working pool sends such a line now and then.
   * @throws PoolError if no readable line has come before, or if there are too many unreadable lines: then the server
   *   is not a pool of this network
   */
  #skip(what: string): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (!this.#hasReceived || !this.#unreadable.take(1, nowMs)) throw this.#garbled(what);
    const unnoted = this.#skippedNotes.take(nowMs);
    if (unnoted === undefined) return;
    const more = unnoted === 0 ? '' : ` ${unnoted} more were skipped before.`;
    this.#options.onSkipped(`the pool sent what cannot be read, which is skipped: ${what}.${more}`);
  }

  #runOut(id: number): void {
    this.#late.add(id);
    this.#settle(id, 'late');
  }

  /** Passes a reply to the request that waits for it. @returns whether the request was still waiting */
  #settle(id: number, reply: Reply): boolean {
    const apply = this.#waiting.get(id);
    this.#waiting.delete(id);
    apply?.(reply);
    return apply !== undefined;
  }

  #garbled(what: string): PoolError {
    const hint = 'Is it a pool of this network, and is it the right port?';
    return new PoolError('refused', `the pool sent what is not stratum: ${what}. ${hint}`);
  }

  #closedByPool(): PoolError {
    if (this.#hasReceived) return new PoolError('network', 'the pool closed the connection.');
    const hint = 'It may have banned this address, be full, or expect TLS (stratum+ssl://).';
    return new PoolError('refused', `the pool closed the connection without a word. ${hint}`);
  }
}
