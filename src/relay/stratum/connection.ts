/** A connection to a client: cuts what comes into lines, and bounds what the client costs. */

import type { Socket } from 'node:net';
import type { Clock } from '../../system/clock.ts';
import { TokenBucket } from '../../system/token-bucket.ts';
import { LineSplitter } from '../../wire/line-splitter.ts';
import type { SharedLines } from './doorkeeper.ts';
import type { Refusal, StratumLimits } from './limits.ts';
import type { Client } from './session.ts';

/**
 * How bad it is for a client to be disconnected for longer lines than any miner sends, or for too many that are no good shares. Good
 * shares come in a flood where a miner's difficulty is far too low, which can be the server's fault, or that of another client.
 */
const FLOOD_POINTS = 10;
/** How long a client that is disconnected has for reading why. */
const LAST_WORDS_MS = 1_000;
/**
 * What a client has sent while it was not read comes at once later. So for so long after it was last not read, it is not disconnected
 * for too many lines, but waits again.
 */
const AFTER_WAITING_MS = 60_000;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

export interface ConnectionOptions {
  readonly socket: Socket;
  readonly address: string;
  readonly clock: Clock;
  readonly limits: StratumLimits;
  /** The budget of lines that it shares with the others from its address. */
  readonly sharedLines: SharedLines;
  /** Called once, when the connection is at its end. */
  readonly ended: (reason: string, points: number, refusal?: Refusal) => void;
}

/** What a connection does with what comes. */
export interface ConnectionHooks {
  /** Takes a line. @returns whether it was a share that met its target */
  readonly receive: (line: string) => boolean;
  /** The client is not read from now on, until its address has lines again. */
  readonly waits: () => void;
}

export class Connection implements Client {
  readonly address: string;
  readonly #options: ConnectionOptions;
  readonly #splitter: LineSplitter;
  readonly #lines: TokenBucket;
  /** Those of them that need nothing of the shared budget: a few, so that others from its address cannot take all from a miner. */
  readonly #reservedLines: TokenBucket;
  /** Those of them that are no good shares. */
  readonly #worthlessLines: TokenBucket;
  #isOpen = true;
  #hooks: ConnectionHooks | undefined;
  /** What has come and is not split into lines yet. */
  #bytes: Buffer = NOTHING;
  /** The next line, and whether the client's own budget had place for it. */
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

  /** Begins to read. */
  start(hooks: ConnectionHooks): void {
    this.#hooks = hooks;
    const { socket } = this.#options;
    socket.on('error', () => {}); // It is followed by 'close'.
    socket.on('close', () => this.#end('it has closed the connection', 0));
    socket.on('data', (bytes: Buffer) => {
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
    // All answers to what came at once are sent at once.
    socket.cork();
    while (this.#takeLine());
    socket.uncork();
    if (this.#isOpen && this.#line !== undefined) this.#wait();
  }

  /** Takes the next line. @returns whether there was one, and it may be taken now */
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

  /** Reads nothing more until the lines that have come are taken. The rest waits where the client sends it. */
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

  /** A client with a line that is too long is disconnected. */
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
