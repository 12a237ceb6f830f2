/** One connection to a parent: lines in, answers out. Jobs are left to the session. */

import { chmodSync, existsSync, lstatSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { TokenBucket } from '../../../base/system/bounded.ts';
import type { Clock } from '../../../base/system/clock.ts';
import { LenientLines, TOO_LONG } from '../../../protocol/wire/lines.ts';
import {
  type Answer,
  answerLine,
  LIMITS,
  type Refusal,
  type Request,
  readRequest,
} from '../../../protocol/wire/worker.ts';

/** Two streams; a socket is both. */
export interface ParentStreams {
  readonly input: Readable;
  readonly output: Writable;
  /** Ends both, once everything has been written. */
  readonly end: () => void;
}

interface ConnectionHooks {
  /** @param line the line's number, from 1 */
  readonly request: (request: Request, line: number) => void;
  /** Called when the parent has ended its side. It may still read. */
  readonly inputEnded: () => void;
  /** Called once, when the parent first writes faster than it is read. */
  readonly flooded: () => void;
  /** Called when nothing more can be written. */
  readonly closed: () => void;
}

/** Bytes waiting for the parent above which its requests are not read until none wait: this bounds the memory. */
const MOST_UNREAD_BYTES = 1024 * 1024;
/** Token bucket for what a parent writes: 1,000 jobs a second, 4,000 at once. Reading lines costs hashrate. */
export const MOST_READ = { bytes: 4_000_000, bytesPerSecond: 1_000_000, bytesPerLine: 100 } as const;
/** Time between two checks whether more may be read. */
const REST_MS = 100;

export class ParentConnection {
  readonly #streams: ParentStreams;
  readonly #hooks: ConnectionHooks;
  readonly #clock: Clock;
  readonly #lines = new LenientLines(LIMITS.lineBytes);
  readonly #budget: TokenBucket;
  readonly #rests = new Set<'unread' | 'flood'>();
  #resting: NodeJS.Timeout | undefined;
  #wasFlooded = false;
  #lineNumber = 0;
  #isClosed = false;
  #inputEnded = false;
  /** One function for each answer that is not written yet, called if the connection closes before. */
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

  listen(): void {
    this.#streams.input.on('data', (chunk: Buffer) => {
      const lines = this.#lines.push(chunk);
      this.#take(lines);
      this.#pay(Math.min(MOST_READ.bytes, chunk.length + MOST_READ.bytesPerLine * lines.length));
    });
  }

  /** Whether so many bytes wait for the parent that answers should be left out where possible. */
  get isBehind(): boolean {
    return this.#streams.output.writableLength > MOST_UNREAD_BYTES;
  }

  /** @returns whether the answer was written */
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

  /** @param line the number of the refused line; 0 if there is none */
  refuse({ code, message }: Refusal, line: number, id?: string): void {
    void this.send({ type: 'error', code, message, line, ...(id !== undefined && { id }) });
  }

  /** Takes no more requests, and ends the connection once everything has been written. */
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

  /** Stops reading until the budget covers what was read. */
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

/* A Unix socket that parents connect to. */

/** Only the owner may read and write (POSIX.1-2017: `connect` needs write permission). */
const MODE = 0o600;
/** Maximum length of a socket's path on every system (sun_path with its end has 104 bytes on macOS, 108 on Linux). */
const MOST_PATH_BYTES = 103;
const PREFIX = 'unix:';
/** Time in which a parent that still reads empties the system's buffer. */
const FLUSH_MS = 2_000;

/** @param address `unix:PATH` @returns the absolute path @throws Error if the address is wrong */
export function socketPath(address: string): string {
  if (process.platform === 'win32')
    throw new Error('Node.js has no Unix sockets on Windows: use stdin and stdout instead');
  if (!address.startsWith(PREFIX) || address.length === PREFIX.length) {
    throw new Error(`“${address}” is not the address of a Unix socket: write it like unix:/run/user/1000/pickaxe.sock`);
  }
  const path = resolve(address.slice(PREFIX.length));
  if (Buffer.byteLength(path) > MOST_PATH_BYTES) {
    throw new Error(
      `the path of a socket has at most ${MOST_PATH_BYTES} bytes: ${path} has ${Buffer.byteLength(path)}`,
    );
  }
  return path;
}

/**
 * Listens at a path. A socket that a killed process has left there is replaced.
 * @param path absolute
 * @returns a function that ends listening and all connections, and removes the socket
 * @throws Error if that is not possible
 */
export async function listenAt(path: string, connected: (socket: Socket) => void): Promise<() => Promise<void>> {
  const folder = dirname(path);
  if (!existsSync(folder)) throw new Error(`the folder ${folder} does not exist: make it, or give another path`);
  await removeStale(path);
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    connected(socket);
  });
  await new Promise<void>((resolve, reject) => {
    // The listener stays: an `error` event without one, such as a failed connection, would end the process.
    server.on('error', ({ code, message }: NodeJS.ErrnoException) => reject(new Error(whyNot(path, code, message))));
    // `listen` creates the socket with the umask of this moment, so that other users can never connect.
    const before = process.umask(0o777 & ~MODE);
    try {
      server.listen(path, resolve);
    } finally {
      process.umask(before);
    }
  });
  chmodSync(path, MODE);
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Parents that have not read by now will not read.
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}

/** Ends a connection once all is written, or after a time limit: a parent that does not read would stay for ever. */
export function endSoon(socket: Socket, withinMs = FLUSH_MS): void {
  const timer = setTimeout(() => socket.destroy(), withinMs);
  socket.once('close', () => clearTimeout(timer));
  socket.end(() => socket.destroy());
}

/** @throws Error if something else is there */
async function removeStale(path: string): Promise<void> {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (!facts) return;
  if (!facts.isSocket()) throw new Error(`${path} exists and is no socket: remove it, or give another path`);
  const socket = connect(path);
  const fault = await new Promise<string | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''));
  });
  socket.destroy();
  if (fault === undefined) throw new Error(`another worker listens at ${path}: stop it, or give another path`);
  if (fault === 'ECONNREFUSED') rmSync(path, { force: true });
  else throw new Error(`the socket ${path} cannot be replaced (${fault}): remove it, or give another path`);
}

function whyNot(path: string, code: string | undefined, message: string): string {
  if (code === 'EACCES') return `this user may not make a socket at ${path}: give another path`;
  return `no socket can be made at ${path}: ${message}`;
}
