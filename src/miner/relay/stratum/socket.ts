/** A client's connection: the proxy's header, the TLS handshake, and lines, with bounds on the client's costs. */

import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import { TokenBucket } from '../../../base/system/bounded.ts';
import type { Clock } from '../../../base/system/clock.ts';
import { LineSplitter, parseProxyHeader } from '../../../protocol/wire/lines.ts';
import type { SharedLines } from './connection-limiter.ts';
import type { Refusal, StratumLimits } from './stratum-limits.ts';
import type { LineConnection } from './stratum-messages.ts';

export class HandshakeError extends Error {
  override readonly name = 'HandshakeError';
  /** Undefined if the client has closed the connection, as health checks do. */
  readonly refusal: Refusal | undefined;

  constructor(message: string, refusal?: Refusal) {
    super(message);
    this.refusal = refusal;
  }
}

const GONE = 'it has closed the connection';

/**
 * Reads a proxy's header, and leaves the bytes after it unread.
 * @returns the address of the proxy's client; undefined if the proxy has opened the connection for itself
 * @throws HandshakeError if no valid header comes in time
 */
export function readProxyHeader(socket: Socket, patienceMs: number): Promise<string | undefined> {
  return settle(socket, patienceMs, 'the header of the proxy did not come', (done) => {
    let bytes = Buffer.alloc(0);
    const read = () => {
      for (let piece = socket.read() as Buffer | null; piece; piece = socket.read() as Buffer | null) {
        bytes = Buffer.concat([bytes, piece]);
      }
      const header = parseProxyHeader(bytes);
      if (header.kind === 'incomplete') return;
      socket.off('readable', read);
      if (header.kind === 'invalid') {
        done(new HandshakeError(`the header of the proxy is wrong: ${header.why}`, 'handshake'));
      } else {
        const rest = bytes.subarray(header.bytes);
        if (rest.length > 0) socket.unshift(rest);
        done(undefined, header.address);
      }
    };
    socket.on('readable', read);
    return () => socket.off('readable', read);
  });
}

/** @returns the encrypted connection @throws HandshakeError if the handshake fails or does not end in time */
export function encrypted(socket: Socket, secureContext: SecureContext, patienceMs: number): Promise<Socket> {
  const secured = new TLSSocket(socket, { isServer: true, secureContext });
  return settle<Socket>(secured, patienceMs, 'the handshake of TLS did not come', (done) => {
    const succeed = () => done(undefined, secured);
    const fail = ({ code }: NodeJS.ErrnoException) =>
      done(isNoTls(code) ? new HandshakeError('the handshake of TLS failed', 'handshake') : new HandshakeError(GONE));
    secured.once('secure', succeed);
    // The connection listens for later errors itself.
    secured.on('error', fail);
    return () => secured.off('secure', succeed);
  });
}

/**
 * Whether the client has sent something else than valid TLS. Closing or resetting the connection is no such fault, nor
 * is an alert of a client that does not trust the certificate.
 */
function isNoTls(code = ''): boolean {
  return code.startsWith('ERR_SSL_') && !code.includes('_ALERT_');
}

type Done<Value> = (fault: HandshakeError | undefined, value?: Value) => void;

/** Waits for a step of the connection. @param begin starts it, and returns a function that removes its listeners */
function settle<Value>(
  socket: Socket,
  patienceMs: number,
  tooLate: string,
  begin: (done: Done<Value>) => () => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const closed = () => done(new HandshakeError(GONE));
    const timer = setTimeout(() => done(new HandshakeError(tooLate, 'timeout')), patienceMs);
    const done: Done<Value> = (fault, value) => {
      clearTimeout(timer);
      socket.off('close', closed);
      release();
      if (fault) reject(fault);
      else resolve(value as Value);
    };
    socket.on('close', closed);
    const release = begin(done);
  });
}

/* A connection to a client, split into lines, with bounds on the client's costs. */

/**
 * Penalty points for too long lines, and for too many lines that are not shares which meet their target. A flood of
 * such shares costs no points: a fault of the server or of another client may have made the difficulty too low.
 */
const FLOOD_POINTS = 10;
/** Time between the end of the stream and the end of the connection: the client can still read the last answer. */
const LAST_WORDS_MS = 1_000;
/** After a client was not read, its lines come all at once. For this time, too many only make it wait again. */
const AFTER_WAITING_MS = 60_000;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

interface ConnectionOptions {
  readonly socket: Socket;
  readonly address: string;
  readonly clock: Clock;
  readonly limits: StratumLimits;
  readonly sharedLines: SharedLines;
  /** Called once, at the end of the connection. */
  readonly ended: (reason: string, points: number, refusal?: Refusal) => void;
}

interface ConnectionHooks {
  /** Called with each line. @returns whether the line was a share that met its target */
  readonly receive: (line: string) => boolean;
  /** Called when the client must wait because its address has used up its lines. */
  readonly waits: () => void;
}

/** The first byte of a TLS handshake (RFC 8446 §5.1). No stratum line begins with it. */
const TLS_HANDSHAKE = 0x16;

export class Connection implements LineConnection {
  readonly address: string;
  readonly #options: ConnectionOptions;
  readonly #splitter: LineSplitter;
  readonly #lines: TokenBucket;
  /** A few lines that do not count for the address, so that its other clients cannot starve this one. */
  readonly #reservedLines: TokenBucket;
  /** Lines that are not good shares. */
  readonly #worthlessLines: TokenBucket;
  #isOpen = true;
  #hooks: ConnectionHooks | undefined;
  /** Received bytes that are not split into lines yet. */
  #bytes: Buffer = NOTHING;
  /** The next line, and whether it has taken a token from the client's own bucket. */
  #line: string | undefined;
  #isWithinOwn = false;
  #isWaiting = false;
  #waitedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionOptions) {
    const { clock, limits, address } = options;
    this.address = address;
    this.#options = options;
    this.#splitter = new LineSplitter(limits.lineBytes);
    const nowMs = clock.monotonicMs();
    const { lineBurst, linesPerSecond, reservedLineBurst, reservedLinesPerSecond } = limits;
    this.#lines = new TokenBucket(lineBurst, linesPerSecond, nowMs);
    this.#reservedLines = new TokenBucket(reservedLineBurst, reservedLinesPerSecond, nowMs);
    this.#worthlessLines = new TokenBucket(lineBurst / 2, linesPerSecond / 2, nowMs);
  }

  start(hooks: ConnectionHooks): void {
    this.#hooks = hooks;
    const { socket } = this.#options;
    socket.on('error', () => {}); // It is followed by 'close'.
    socket.on('close', () => this.#end('it has closed the connection', 0));
    let isFirst = true;
    socket.on('data', (bytes: Buffer) => {
      // A handshake has no line end: without this check, the client would wait until its time to log in ends.
      if (isFirst && bytes[0] === TLS_HANDSHAKE) this.close('it begins TLS, which this port has not', 0, 'handshake');
      isFirst = false;
      if (!this.#isOpen) return;
      this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
      if (!this.#isWaiting) this.#read();
    });
  }

  send(lines: string | Buffer): void {
    if (!this.#isOpen) return;
    const { socket, limits } = this.#options;
    socket.write(lines);
    if (socket.writableLength <= limits.pendingBytes) return;
    this.#end('it does not read', 0, 'unread');
    socket.destroy();
  }

  close(reason: string, points: number, refusal?: Refusal): void {
    if (!this.#isOpen) return;
    this.#end(reason, points, refusal);
    const { socket } = this.#options;
    socket.end();
    setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref();
  }

  #read(): void {
    const { socket } = this.#options;
    // All answers to one chunk are sent together.
    socket.cork();
    while (this.#takeLine());
    socket.uncork();
    if (this.#isOpen && this.#line !== undefined) this.#wait();
  }

  /** Takes the next line, if there is one and the limits allow it. @returns whether a line was taken */
  #takeLine(): boolean {
    if (!this.#isOpen) return false;
    this.#line ??= this.#nextLine();
    const line = this.#line;
    if (line === undefined) return false;
    const { clock, sharedLines } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#isWithinOwn ||= this.#lines.take(1, nowMs);
    if (!this.#isWithinOwn) {
      if (nowMs - this.#waitedMs >= AFTER_WAITING_MS) this.close('flood', 0, 'flood');
      return false;
    }
    if (!this.#reservedLines.take(1, nowMs) && !sharedLines.take(this.#isWaiting, nowMs)) return false;
    this.#line = undefined;
    this.#isWithinOwn = false;
    const isGood = this.#hooks?.receive(line) === true;
    if (!isGood && !this.#worthlessLines.take(1, nowMs)) this.close('flood', FLOOD_POINTS, 'flood');
    return true;
  }

  /** Stops reading until the received lines are taken. TCP makes the client keep the rest. */
  #wait(): void {
    const { socket, sharedLines, clock } = this.#options;
    this.#isWaiting = true;
    this.#waitedMs = clock.monotonicMs();
    socket.pause();
    sharedLines.wait(this.#goOn);
  }

  readonly #goOn = (): 'waits' | 'taken' | 'read' => {
    const hasTaken = this.#takeLine();
    this.#waitedMs = this.#options.clock.monotonicMs();
    if (!this.#isOpen) return 'read';
    this.#line ??= this.#nextLine();
    if (hasTaken && this.#line !== undefined) return 'taken';
    if (this.#line !== undefined) {
      this.#hooks?.waits();
      return 'waits';
    }
    this.#isWaiting = false;
    this.#options.socket.resume();
    return 'read';
  };

  /** @returns undefined if no whole line was received, or the line is too long, which ends the connection */
  #nextLine(): string | undefined {
    try {
      while (this.#bytes.length > 0) {
        const end = this.#bytes.indexOf(NEWLINE) + 1 || this.#bytes.length;
        const [line] = this.#splitter.push(this.#bytes.subarray(0, end));
        this.#bytes = end === this.#bytes.length ? NOTHING : this.#bytes.subarray(end);
        if (line !== undefined) return line;
      }
    } catch (fault) {
      this.close((fault as Error).message, FLOOD_POINTS, 'flood');
    }
    return undefined;
  }

  #end(reason: string, points: number, refusal?: Refusal): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#bytes = NOTHING;
    this.#options.sharedLines.leave(this.#goOn);
    this.#options.ended(reason, points, refusal);
  }
}
