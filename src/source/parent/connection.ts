/** One connection to a parent: lines in, answers out. It knows the form of both, and nothing of jobs. */

import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../system/clock.ts';
import { TokenBucket } from '../../system/token-bucket.ts';
import { LenientLines, TOO_LONG } from '../../wire/lenient-lines.ts';
import { type Answer, answerLine } from '../../wire/worker-answers.ts';
import { type Refusal, type Request, readRequest } from '../../wire/worker-requests.ts';
import { LIMITS } from '../../wire/worker-words.ts';

/** Two streams; a socket is both. */
export interface ParentStreams {
  readonly input: Readable;
  readonly output: Writable;
  /** Ends both, once everything has been written. */
  readonly end: () => void;
}

export interface ConnectionHooks {
  /** @param line the number of its line */
  readonly request: (request: Request, line: number) => void;
  /** The parent writes nothing more. It may still read. */
  readonly inputEnded: () => void;
  /** It is read more slowly than it writes from now on, the first time. */
  readonly flooded: () => void;
  /** Nothing more can be written. */
  readonly closed: () => void;
}

/**
 * With so much unread, the worker reads nothing more from this parent until it has read all of it: a parent that only writes must
 * not fill the memory with answers.
 */
const MOST_UNREAD_BYTES = 1024 * 1024;
/**
 * How much of a parent is read, at once and each second; the rest waits where the parent writes it. It is enough for 1,000 jobs a
 * second, and for 4,000 at once: what lines cost to read is paid in hashrate.
 */
export const MOST_READ = { bytes: 4_000_000, bytesPerSecond: 1_000_000, bytesPerLine: 100 } as const;
/** How often it is looked whether there may be more to read. */
const REST_MS = 100;

export class ParentConnection {
  readonly #streams: ParentStreams;
  readonly #hooks: ConnectionHooks;
  readonly #clock: Clock;
  readonly #lines = new LenientLines(LIMITS.lineBytes);
  readonly #budget: TokenBucket;
  /** Why nothing is read now. */
  readonly #rests = new Set<'unread' | 'flood'>();
  #resting: NodeJS.Timeout | undefined;
  #wasFlooded = false;
  #lineNumber = 0;
  #isClosed = false;
  #inputEnded = false;
  /** One function for each answer that is not written yet; called when the connection has closed. */
  readonly #unwritten = new Set<() => void>();

  constructor(streams: ParentStreams, hooks: ConnectionHooks, clock: Clock) {
    this.#streams = streams;
    this.#hooks = hooks;
    this.#clock = clock;
    this.#budget = new TokenBucket(MOST_READ.bytes, MOST_READ.bytesPerSecond, clock.monotonicMs());
    const { input, output } = streams;
    output.on('error', this.#close);
    output.on('close', this.#close);
    input.on('error', this.#endInput);
    input.on('end', this.#endInput);
    input.on('close', this.#endInput);
  }

  /** From now on requests are heard. */
  listen(): void {
    this.#streams.input.on('data', (chunk: Buffer) => {
      const lines = this.#lines.push(chunk);
      this.#take(lines);
      this.#pay(Math.min(MOST_READ.bytes, chunk.length + MOST_READ.bytesPerLine * lines.length));
    });
  }

  /** Whether too much is unread for what could be left out. */
  get isBehind(): boolean {
    return this.#streams.output.writableLength > MOST_UNREAD_BYTES;
  }

  /** @returns whether the answer was written; settles when that is known */
  send(answer: Answer): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    const { output } = this.#streams;
    return new Promise((resolve) => {
      const lost = () => resolve(false);
      this.#unwritten.add(lost);
      output.write(answerLine(answer), (fault) => {
        this.#unwritten.delete(lost);
        resolve(!fault);
      });
      if (!this.isBehind || this.#rests.has('unread')) return;
      this.#rest('unread');
      output.once('drain', () => this.#goOn('unread'));
    });
  }

  /** @param line the number of the line that is refused; 0 when there is none */
  refuse({ code, message }: Refusal, line: number, id?: string): void {
    void this.send({ type: 'error', code, message, line, ...(id !== undefined && { id }) });
  }

  /** Hears no more requests, and ends the connection once everything has been written. */
  end(): void {
    this.#inputEnded = true;
    clearTimeout(this.#resting);
    this.#streams.input.removeAllListeners('data');
    this.#streams.end();
  }

  #rest(why: 'unread' | 'flood'): void {
    this.#rests.add(why);
    this.#streams.input.pause();
  }

  #goOn(why: 'unread' | 'flood'): void {
    this.#rests.delete(why);
    if (this.#rests.size === 0) this.#streams.input.resume();
  }

  /** Reads nothing more until what was read fits into what may be read. */
  #pay(bytes: number): void {
    if (this.#isClosed || this.#inputEnded) return;
    if (this.#budget.take(bytes, this.#clock.monotonicMs())) {
      if (this.#rests.has('flood')) this.#goOn('flood');
      return;
    }
    this.#rest('flood');
    this.#resting = setTimeout(() => this.#pay(bytes), REST_MS);
    if (this.#wasFlooded) return;
    this.#wasFlooded = true;
    this.#hooks.flooded();
  }

  #take(lines: readonly (string | typeof TOO_LONG)[]): void {
    for (const line of lines) {
      this.#lineNumber++;
      if (line === TOO_LONG) {
        const message = `this line has more than ${LIMITS.lineBytes} bytes: write one JSON object a line, and end each with a line feed`;
        this.refuse({ code: 'line-too-long', message }, this.#lineNumber);
      } else if (line.trim() !== '') this.#read(line);
    }
  }

  #read(line: string): void {
    const request = readRequest(line);
    if ('refusal' in request) this.refuse(request.refusal, this.#lineNumber);
    else this.#hooks.request(request, this.#lineNumber);
  }

  readonly #endInput = (): void => {
    if (this.#inputEnded) return;
    this.#inputEnded = true;
    this.#take(this.#lines.end());
    this.#hooks.inputEnded();
  };

  readonly #close = (): void => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#resting);
    for (const lost of this.#unwritten) lost();
    this.#unwritten.clear();
    this.#hooks.closed();
  };
}
