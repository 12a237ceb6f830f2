/**
 * Appends lines to a file in the background, so that a slow or full disk delays nothing else. The memory for lines that
 * are not written yet is bounded. Failed writes are repeated.
 */

import { settledWithin } from './abort.ts';
import { type Clock, systemClock, type Timer } from './clock.ts';

const PIECE_BYTES = 64 * 1024;

export interface AppendFileOptions {
  /**
   * Appends the piece, or at least its beginning, to the file. A piece consists of whole lines, but its first line
   * lacks the bytes that an earlier call has written.
   * @returns the number of bytes that were written, which may be less than the piece
   * @throws Error of the system
   */
  readonly append: (piece: Buffer) => Promise<number>;
  /** Called with the reason when writing begins to fail, and with undefined when writing works again. */
  readonly changed: (why: string | undefined) => void;
  /** Once this number of bytes is waiting, only forced lines are taken. */
  readonly waitingBytes: number;
  /** Time after which a failed write is repeated. */
  readonly againMs: number;
  /** Maximum number of bytes in one write; 64 KiB by default. A longer line is written in a write of its own. */
  readonly pieceBytes?: number;
  /** Time for which lines are collected before a write, which saves system calls; 0 by default. */
  readonly collectMs?: number;
  readonly clock?: Clock;
}

export class AppendFile {
  readonly #options: AppendFileOptions;
  readonly #clock: Clock;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #isFailing = false;
  #isClosing = false;
  #timer: Timer | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: AppendFileOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  get hasRoom(): boolean {
    return this.#bytes < this.#options.waitingBytes;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * @param line ends with a newline
   * @param isForced whether to take the line even when `waitingBytes` are waiting
   * @returns whether the line was taken. After a call of `close`, no line is taken
   */
  add(line: string, isForced = false): boolean {
    if (this.#isClosing || !(this.hasRoom || isForced)) return false;
    const bytes = Buffer.from(line);
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    const { collectMs = 0 } = this.#options;
    if (collectMs > 0) this.#timer ??= this.#clock.setTimeout(() => this.#flush(), collectMs);
    else if (!this.#isFailing) void this.#flush();
    return true;
  }

  /** Resolves when no write is in progress. Lines may still be waiting: for `collectMs`, or after a failed write. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /**
   * Takes no more lines, and waits at most `ms` for an attempt to write the waiting lines. Lines may be lost if the
   * attempt fails or takes longer.
   */
  async close(ms: number): Promise<void> {
    this.#isClosing = true;
    await settledWithin(this.#clock, this.#flush(), ms);
  }

  async #flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
    if (this.#waiting.length === 0 || this.#isClosing) return;
    this.#timer ??= this.#clock.setTimeout(() => this.#flush(), this.#options.againMs);
    this.#timer.unref();
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        this.#remove(await this.#options.append(this.#nextPiece()));
        if (this.#isFailing) this.#options.changed(undefined);
        this.#isFailing = false;
      }
    } catch (fault) {
      if (!this.#isFailing) this.#options.changed((fault as Error).message);
      this.#isFailing = true;
    }
  }

  #nextPiece(): Buffer {
    const { pieceBytes = PIECE_BYTES } = this.#options;
    let [{ length: bytes }] = this.#waiting;
    let count = 1;
    while (count < this.#waiting.length && bytes + this.#waiting[count].length <= pieceBytes) {
      bytes += this.#waiting[count].length;
      count++;
    }
    return Buffer.concat(this.#waiting.slice(0, count));
  }

  /** Removes written bytes from the waiting lines. If only a part of a line was written, the rest is written next. */
  #remove(bytes: number): void {
    this.#bytes -= bytes;
    let left = bytes;
    let whole = 0;
    while (whole < this.#waiting.length && left >= this.#waiting[whole].length) left -= this.#waiting[whole++].length;
    this.#waiting.splice(0, whole);
    if (left > 0) this.#waiting[0] = this.#waiting[0].subarray(left);
  }
}
