/**
 * One connection to a parent: reads its lines as requests, and writes answers. `ParentSession` handles the requests.
 */

import { chmodSync, existsSync, lstatSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { TokenBucket } from '../../../base/system/bounded.ts';
import { type Clock, systemClock, type Timer } from '../../../base/system/clock.ts';
import { LenientLines, TOO_LONG } from '../../../protocol/wire/lines.ts';
import {
  type Answer,
  answerLine,
  LIMITS,
  type Refusal,
  type Request,
  readRequest,
} from '../../../protocol/wire/worker.ts';

/** The two streams of a connection to a parent. With a socket, both are the same object. */
export interface ParentStreams {
  readonly input: Readable;
  readonly output: Writable;
  /** Ends both streams after everything has been written. */
  readonly end: () => void;
}

interface ConnectionHooks {
  /** @param line the line's number, from 1 */
  readonly request: (request: Request, line: number) => void;
  /** Called once, when no more requests can come. The parent may still read answers. */
  readonly inputEnded: () => void;
  /** Called once, when the parent exceeds `MOST_READ` for the first time. */
  readonly flooded: () => void;
  /** Called once, when no more answers can be written. */
  readonly closed: () => void;
}

/**
 * Maximum number of bytes that wait until the parent reads them. With more, no requests are read until all bytes are
 * written, which bounds the memory.
 */
const MOST_UNREAD_BYTES = 1024 * 1024;
/**
 * Token bucket for what a parent writes, because reading lines costs hashrate. It allows about 1,000 jobs a second, and
 * 4,000 at once.
 */
export const MOST_READ = { bytes: 4_000_000, bytesPerSecond: 1_000_000, bytesPerLine: 100 } as const;
/** Pause between two checks whether reading may go on. */
const REST_MS = 100;

export class ParentConnection {
  readonly #streams: ParentStreams;
  readonly #hooks: ConnectionHooks;
  readonly #clock: Clock;
  readonly #lines = new LenientLines(LIMITS.lineBytes);
  readonly #budget: TokenBucket;
  readonly #rests = new Set<'unread' | 'flood'>();
  #resting: Timer | undefined;
  #wasFlooded = false;
  #lineNumber = 0;
  #isClosed = false;
  #inputEnded = false;
  /** For each answer that is not written yet, a function to call if the connection closes first. */
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

  /** Whether more than `MOST_UNREAD_BYTES` wait for the parent. Then answers that the parent can miss are left out. */
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

  /** @param line the number of the refused line; 0 if the refusal is about no line */
  refuse({ code, message }: Refusal, line: number, id?: string): void {
    void this.send({ type: 'error', code, message, line, ...(id !== undefined && { id }) });
  }

  /** Reads no more requests, and ends the connection after everything has been written. */
  end(): void {
    this.#inputEnded = true;
    this.#resting?.cancel();
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

  /** Takes tokens for what was read. If there are too few, reading stops until there are enough. */
  #pay(bytes: number): void {
    if (this.#isClosed || this.#inputEnded) return;
    if (this.#budget.take(bytes, this.#clock.monotonicMs())) {
      if (this.#rests.has('flood')) this.#goOn('flood');
      return;
    }
    this.#rest('flood');
    this.#resting = this.#clock.setTimeout(() => this.#pay(bytes), REST_MS);
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
    this.#resting?.cancel();
    for (const lost of this.#unwritten) lost();
    this.#unwritten.clear();
    this.#hooks.closed();
  };
}

/* A Unix socket that parents connect to. */

/** The socket's mode: only its owner may read and write (POSIX.1-2017: `connect` needs write permission). */
const MODE = 0o600;
/**
 * Maximum length of a socket's path that every system allows. With its final NUL, the path (`sun_path`) may have 104
 * bytes on macOS and 108 on Linux.
 */
const MOST_PATH_BYTES = 103;
const PREFIX = 'unix:';
/** Time limit for the parent to read what was written, before the connection is destroyed. */
const FLUSH_MS = 2_000;

/**
 * @param address `unix:PATH`
 * @returns the absolute path
 * @throws Error if the address is wrong; on Windows, for every address
 */
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
 * Listens at a path. A socket that a killed process has left at the path is replaced.
 * @param path absolute
 * @returns a function that ends listening and all connections, and removes the socket
 * @throws Error if the path cannot be used
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
    // This listener is never removed: a later `error` event without a listener would end the process.
    server.on('error', ({ code, message }: NodeJS.ErrnoException) => reject(new Error(whyNot(path, code, message))));
    // `listen` creates the socket with this umask, so other users cannot connect even before `chmodSync`.
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
    // A parent that has not read everything by now will probably never read it.
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}

/**
 * Ends a connection after everything has been written, or after a time limit. Without the limit, the connection to a
 * parent that does not read would stay open for ever.
 */
export function endSoon(socket: Socket, withinMs = FLUSH_MS): void {
  const timer = systemClock.setTimeout(() => socket.destroy(), withinMs);
  socket.once('close', () => timer.cancel());
  socket.end(() => socket.destroy());
}

/**
 * Removes a socket that no process listens at, if there is one.
 * @throws Error if something else is at the path, or the socket is in use or cannot be examined
 */
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
