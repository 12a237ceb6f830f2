/** A client's connection: the proxy's header, the TLS handshake, and the client's lines within their limits. */

import { type SecureContext, TLSSocket } from 'node:tls';
import type { PeerStream } from '../../../base/net/connecting.ts';
import { TokenBucket } from '../../../base/system/bounded.ts';
import type { Clock } from '../../../base/system/clock.ts';
import { LineSplitter, parseProxyHeader } from '../../../protocol/wire/lines.ts';
import type { SharedLines } from './connection-limiter.ts';
import type { Refusal, StratumLimits } from './stratum-limits.ts';
import type { LineConnection } from './stratum-messages.ts';

export class HandshakeError extends Error {
  override readonly name = 'HandshakeError';
  /**
   * The kind of refusal to count; undefined if none is counted, because the client has closed the connection, as health
   * checks do.
   */
  readonly refusal: Refusal | undefined;

  constructor(message: string, refusal?: Refusal) {
    super(message);
    this.refusal = refusal;
  }
}

const GONE = 'it has closed the connection';

/**
 * Reads the header of the PROXY protocol, and leaves the bytes after the header unread.
 * @returns the address of the proxy's client; undefined if the header has no client's address, as when the proxy
 *   connects for its own health check
 * @throws HandshakeError if no valid header comes within `patienceMs`
 */
export function readProxyHeader(clock: Clock, stream: PeerStream, patienceMs: number): Promise<string | undefined> {
  return settle(clock, stream, patienceMs, 'the header of the proxy did not come', (done) => {
    let bytes = Buffer.alloc(0);
    const read = () => {
      for (let piece = stream.read() as Buffer | null; piece; piece = stream.read() as Buffer | null) {
        bytes = Buffer.concat([bytes, piece]);
      }
      const header = parseProxyHeader(bytes);
      if (header.kind === 'incomplete') return;
      stream.off('readable', read);
      if (header.kind === 'invalid') {
        done(new HandshakeError(`the header of the proxy is wrong: ${header.why}`, 'handshake'));
      } else {
        const rest = bytes.subarray(header.bytes);
        if (rest.length > 0) stream.unshift(rest);
        done(undefined, header.address);
      }
    };
    stream.on('readable', read);
    return () => stream.off('readable', read);
  });
}

/**
 * Makes the server's side of a TLS handshake.
 * @returns the encrypted connection
 * @throws HandshakeError if the handshake fails or does not end within `patienceMs`
 */
export function encrypted(
  clock: Clock,
  stream: PeerStream,
  secureContext: SecureContext,
  patienceMs: number,
): Promise<PeerStream> {
  const secured = new TLSSocket(stream, { isServer: true, secureContext });
  return settle<PeerStream>(clock, secured, patienceMs, 'the handshake of TLS did not come', (done) => {
    const succeed = () => done(undefined, secured);
    const fail = ({ code }: NodeJS.ErrnoException) =>
      done(isNoTls(code) ? new HandshakeError('the handshake of TLS failed', 'handshake') : new HandshakeError(GONE));
    secured.once('secure', succeed);
    // This listener stays: without one, an error before `Connection` adds its own listener would end the process.
    secured.on('error', fail);
    return () => secured.off('secure', succeed);
  });
}

/**
 * Whether an error means that the client has sent something else than valid TLS. The errors of a closed or reset
 * connection do not mean this. Neither does an alert, which a client sends if it does not trust the certificate.
 */
function isNoTls(code = ''): boolean {
  return code.startsWith('ERR_SSL_') && !code.includes('_ALERT_');
}

type Done<Value> = (fault: HandshakeError | undefined, value?: Value) => void;

/**
 * Waits until a step of a connection is done, the connection is closed, or `patienceMs` have passed.
 * @param tooLate message of the error if `patienceMs` have passed
 * @param begin starts the step, and returns a function that removes the step's listeners
 * @throws HandshakeError if the step fails, the connection is closed, or `patienceMs` have passed
 */
function settle<Value>(
  clock: Clock,
  stream: PeerStream,
  patienceMs: number,
  tooLate: string,
  begin: (done: Done<Value>) => () => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const closed = () => done(new HandshakeError(GONE));
    const timer = clock.setTimeout(() => done(new HandshakeError(tooLate, 'timeout')), patienceMs);
    const done: Done<Value> = (fault, value) => {
      timer.cancel();
      stream.off('close', closed);
      release();
      if (fault) reject(fault);
      else resolve(value as Value);
    };
    stream.on('close', closed);
    const release = begin(done);
  });
}

/* Splits what a client sends into lines, and limits the lines' length and rate. */

/**
 * Penalty points for a line that is too long, and for too many lines that are not valid shares. A flood of valid shares
 * costs no points, because its cause can be a difficulty that the server or another client has made too low.
 */
const FLOOD_POINTS = 10;
/**
 * Time from the end of the server's stream to the end of the connection. In this time the client can read the last
 * answer.
 */
const LAST_WORDS_MS = 1_000;
/**
 * After a client had to wait, or the server was held up, all unread lines come at once. For this time after that, too
 * many lines do not disconnect the client. The client only has to wait.
 */
const AFTER_WAITING_MS = 60_000;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

interface ConnectionOptions {
  readonly stream: PeerStream;
  readonly address: string;
  readonly clock: Clock;
  readonly limits: StratumLimits;
  readonly sharedLines: SharedLines;
  /** Returns the time until which the server was last held up (monotonic); −∞ if it never was. */
  readonly heldUpMs: (nowMs: number) => number;
  /**
   * Called once, when the connection ends. `points`: penalty points for the address. `refusal`: the kind of refusal to
   * count, if any.
   */
  readonly ended: (reason: string, points: number, refusal?: Refusal) => void;
}

interface ConnectionHooks {
  /**
   * Called with each line.
   * @returns whether the line was a valid share: one that was accepted, or would have been if its work were not stale
   */
  readonly receive: (line: string) => boolean;
  /** Called when a waiting client must still wait, because the token buckets have no token for its next line. */
  readonly waits: () => void;
}

/** The first byte of a TLS handshake (RFC 8446 §5.1). No stratum line begins with this byte. */
const TLS_HANDSHAKE = 0x16;

export class Connection implements LineConnection {
  readonly address: string;
  readonly #options: ConnectionOptions;
  readonly #splitter: LineSplitter;
  readonly #lines: TokenBucket;
  /**
   * Token bucket for lines that take no token of the address. Because of this bucket, other clients of the same address
   * cannot block this client completely.
   */
  readonly #reservedLines: TokenBucket;
  /** Token bucket for lines that are not valid shares. */
  readonly #worthlessLines: TokenBucket;
  #isOpen = true;
  #hooks: ConnectionHooks | undefined;
  /** Received bytes that have not been split into lines yet. */
  #bytes: Buffer = NOTHING;
  /** The next line (`#line`), and whether a token was taken for it from `#lines` (`#isWithinOwn`). */
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
    const { stream } = this.#options;
    stream.on('error', () => {}); // An 'error' is followed by 'close'.
    stream.on('close', () => this.#end('it has closed the connection', 0));
    let isFirst = true;
    stream.on('data', (bytes: Buffer) => {
      // A TLS handshake has no line end, so without this check the client would get no answer before the time limit of
      // the login.
      if (isFirst && bytes[0] === TLS_HANDSHAKE) this.close('it begins TLS, which this port has not', 0, 'handshake');
      isFirst = false;
      if (!this.#isOpen) return;
      this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
      if (!this.#isWaiting) this.#read();
    });
  }

  send(lines: string | Buffer): void {
    if (!this.#isOpen) return;
    const { stream, limits } = this.#options;
    stream.write(lines);
    if (stream.writableLength <= limits.pendingBytes) return;
    this.#end('it does not read', 0, 'unread');
    stream.destroy();
  }

  close(reason: string, points: number, refusal?: Refusal): void {
    if (!this.#isOpen) return;
    this.#end(reason, points, refusal);
    const { stream, clock } = this.#options;
    stream.end();
    clock.setTimeout(() => stream.destroy(), LAST_WORDS_MS).unref();
  }

  #read(): void {
    const { stream } = this.#options;
    // All answers to the lines of one chunk are sent together.
    stream.cork();
    while (this.#takeLine());
    stream.uncork();
    if (this.#isOpen && this.#line !== undefined) this.#wait();
  }

  /** Takes the next line if there is one and the token buckets allow it. @returns whether a line was taken */
  #takeLine(): boolean {
    if (!this.#isOpen) return false;
    this.#line ??= this.#nextLine();
    const line = this.#line;
    if (line === undefined) return false;
    const { clock, sharedLines, heldUpMs } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#isWithinOwn ||= this.#lines.take(1, nowMs);
    if (!this.#isWithinOwn) {
      const waitedMs = Math.max(this.#waitedMs, heldUpMs(nowMs));
      if (nowMs - waitedMs >= AFTER_WAITING_MS) this.close('flood', 0, 'flood');
      return false;
    }
    if (!this.#reservedLines.take(1, nowMs) && !sharedLines.take(this.#isWaiting, nowMs)) return false;
    this.#line = undefined;
    this.#isWithinOwn = false;
    const isGood = this.#hooks?.receive(line) === true;
    if (!isGood && !this.#worthlessLines.take(1, nowMs)) this.close('flood', FLOOD_POINTS, 'flood');
    return true;
  }

  /**
   * Stops reading from the stream until the lines that were received are taken. Meanwhile TCP keeps the client from
   * sending more.
   */
  #wait(): void {
    const { stream, sharedLines, clock } = this.#options;
    this.#isWaiting = true;
    this.#waitedMs = clock.monotonicMs();
    stream.pause();
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
    this.#options.stream.resume();
    return 'read';
  };

  /**
   * @returns the next line; undefined if no whole line has been received, or if the line is too long. A line that is
   *   too long ends the connection
   */
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
