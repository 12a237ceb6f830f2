/** A connection to a client: cuts what comes into lines, and bounds what the client costs. */

import type { Socket } from 'node:net';
import type { Clock } from '../../system/clock.ts';
import { TokenBucket } from '../../system/token-bucket.ts';
import { LineSplitter } from '../../wire/line-splitter.ts';
import type { StratumLimits } from './limits.ts';
import type { Client } from './session.ts';

/** How bad it is for a client to be disconnected for more, or longer, lines than any miner sends. */
const FLOOD_POINTS = 10;
/** How long a client that is disconnected has for reading why. */
const LAST_WORDS_MS = 1_000;

export interface ConnectionOptions {
  readonly socket: Socket;
  readonly address: string;
  readonly clock: Clock;
  readonly limits: StratumLimits;
  /** Called once, when the connection is at its end. */
  readonly ended: (reason: string, points: number) => void;
}

export class Connection implements Client {
  readonly address: string;
  readonly #options: ConnectionOptions;
  readonly #splitter: LineSplitter;
  readonly #bucket: TokenBucket;
  #isOpen = true;

  constructor(options: ConnectionOptions) {
    const { clock, limits, address } = options;
    this.address = address;
    this.#options = options;
    this.#splitter = new LineSplitter(limits.lineBytes);
    this.#bucket = new TokenBucket(limits.lineBurst, limits.linesPerSecond, clock.monotonicMs());
  }

  /** Begins to read. @param receive takes each line */
  start(receive: (line: string) => void): void {
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
    this.#end('it does not read', 0);
    socket.destroy();
  }

  close(reason: string, points: number): void {
    if (!this.#isOpen) return;
    this.#end(reason, points);
    const { socket } = this.#options;
    socket.end();
    setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref();
  }

  #read(bytes: Buffer, receive: (line: string) => void): void {
    if (!this.#isOpen) return;
    const { clock, socket } = this.#options;
    // All answers to what came at once are sent at once.
    socket.cork();
    for (const line of this.#split(bytes)) {
      if (!this.#bucket.take(1, clock.monotonicMs())) this.close('flood', FLOOD_POINTS);
      if (!this.#isOpen) break;
      receive(line);
    }
    socket.uncork();
  }

  /** A client with a line that is too long is disconnected. */
  #split(bytes: Buffer): readonly string[] {
    try {
      return this.#splitter.push(bytes);
    } catch (fault) {
      this.close((fault as Error).message, FLOOD_POINTS);
      return [];
    }
  }

  #end(reason: string, points: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#options.ended(reason, points);
  }
}
