/** A connection to a client: cuts what comes into lines, and bounds what the client costs. */

import type { Socket } from 'node:net';
import type { Clock } from '../../system/clock.ts';
import { TokenBucket } from '../../system/token-bucket.ts';
import { LineSplitter } from '../../wire/line-splitter.ts';
import type { StratumLimits } from './limits.ts';
import type { Refusal } from './refusals.ts';
import type { Client } from './session.ts';

/**
 * How bad it is for a client to be disconnected for longer lines than any miner sends, or for too many that are no good shares. Good
 * shares come in a flood where a miner's difficulty is far too low, which can be the server's fault, or that of another client.
 */
const FLOOD_POINTS = 10;
/** How long a client that is disconnected has for reading why. */
const LAST_WORDS_MS = 1_000;

export interface ConnectionOptions {
  readonly socket: Socket;
  readonly address: string;
  readonly clock: Clock;
  readonly limits: StratumLimits;
  /** The budget of lines that it shares with the others from its address. */
  readonly sharedLines: TokenBucket;
  /** Called once, when the connection is at its end. */
  readonly ended: (reason: string, points: number, refusal?: Refusal) => void;
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

  /** Begins to read. @param receive takes each line, and returns whether it was a share that met its target */
  start(receive: (line: string) => boolean): void {
    const { socket } = this.#options;
    socket.on('error', () => {}); // It is followed by 'close'.
    socket.on('close', () => this.#end('it has closed the connection', 0));
    socket.on('data', (bytes: Buffer) => this.#read(bytes, receive));
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

  #read(bytes: Buffer, receive: (line: string) => boolean): void {
    if (!this.#isOpen) return;
    const { clock, socket } = this.#options;
    // All answers to what came at once are sent at once.
    socket.cork();
    for (const line of this.#split(bytes)) {
      if (!this.#isOpen) break;
      const nowMs = clock.monotonicMs();
      if (!this.#mayReceive(nowMs)) this.close('flood', 0, 'flood');
      else if (!receive(line) && !this.#worthlessLines.take(1, nowMs)) this.close('flood', FLOOD_POINTS, 'flood');
    }
    socket.uncork();
  }

  #mayReceive(nowMs: number): boolean {
    if (!this.#lines.take(1, nowMs)) return false;
    return this.#reservedLines.take(1, nowMs) || this.#options.sharedLines.take(1, nowMs);
  }

  /** A client with a line that is too long is disconnected. */
  #split(bytes: Buffer): readonly string[] {
    try {
      return this.#splitter.push(bytes);
    } catch (fault) {
      this.close((fault as Error).message, FLOOD_POINTS, 'flood');
      return [];
    }
  }

  #end(reason: string, points: number, refusal?: Refusal): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#options.ended(reason, points, refusal);
  }
}
