/** A client's connection: the proxy's header, the TLS handshake, and lines, with bounds on what the client costs. */

import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import { TokenBucket } from '../../../base/system/bounded.ts';
import type { Clock } from '../../../base/system/clock.ts';
import { LineSplitter, parseProxyHeader } from '../../../protocol/wire/lines.ts';
import type { SharedLines } from './connection-limiter.ts';
import type { Client } from './session.ts';
import type { Refusal, StratumLimits } from './stratum-limits.ts';

export class HandshakeError extends Error {
  override readonly name = 'HandshakeError';
  /** Undefined if the client has left by itself, as health checks do. */
  readonly refusal: Refusal | undefined;

  constructor(message: string, refusal?: Refusal) {
    super(message);
    this.refusal = refusal;
  }
}

const GONE = 'it has closed the connection';

/**
 * Reads a proxy's header, and leaves what follows unread.
 * @returns the address of the proxy's client; undefined if the connection is the proxy's own
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
 * Whether the client's data was not usable TLS. A client that hangs up, resets the connection or sends an alert because
 * it does not trust the certificate has done nothing wrong.
 */
function isNoTls(code = ''): boolean {
  return code.startsWith('ERR_SSL_') && !code.includes('_ALERT_');
}

type Done<Value> = (fault: HandshakeError | undefined, value?: Value) => void;

/** @param begin begins the work, and returns a function that removes its listeners */
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

/* A connection to a client: splits it into lines, and bounds what the client costs. */

/**
 * Penalty points for lines longer than any miner's, or for too many that are no good shares. A flood of good shares
 * costs none: the difficulty may be too low by a fault of the server, or of another client.
 */
const FLOOD_POINTS = 10;
/** Time in which a disconnected client can read the reason. */
const LAST_WORDS_MS = 1_000;
/** What came while a client was not read counts later. So for this time, too many lines only make it wait again. */
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
  /** Called with each line. @returns whether it was a share that met its target */
  readonly receive: (line: string) => boolean;
  /** Called when the client is no longer read, until its address has lines again. */
  readonly waits: () => void;
}

/** The first byte of TLS (RFC 8446 §5.1). No line begins with it. */
const TLS_HANDSHAKE = 0x16;

export class Connection implements Client {
  readonly address: string;
  readonly #options: ConnectionOptions;
  readonly #splitter: LineSplitter;
  readonly #lines: TokenBucket;
  /** Lines that do not count for the address: a few, so that others from the address cannot starve a miner. */
  readonly #reservedLines: TokenBucket;
  /** Lines that are not good shares. */
  readonly #worthlessLines: TokenBucket;
  #isOpen = true;
  #hooks: ConnectionHooks | undefined;
  /** Received bytes that are not split into lines yet. */
  #bytes: Buffer = NOTHING;
  /** The next line, and whether the client's own bucket had a token for it. */
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
      // It has no line end, so that the client would wait for an answer until its time to log in ends.
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

  /** Takes the next line. @returns whether there was one that may be taken now */
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

  /** Stops reading until the received lines are taken. The rest waits at the client. */
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

  /** Disconnects a client whose line is too long. */
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
