/**
 * Appends lines to a file in the background. A slow or full disk stops nothing else: lines wait in a bounded memory,
 * and writing is tried again.
 */

import { settledWithin } from './abort.ts';

const PIECE_BYTES = 64 * 1024;

export interface AppendFileOptions {
  /**
   * Appends a piece: whole lines, or the rest of one of which a part was written.
   * @returns how many of its bytes were written @throws Error of the system
   */
  readonly append: (piece: Buffer) => Promise<number>;
  /** Called once with the reason when the file cannot be written, and once with undefined when it can again. */
  readonly changed: (why: string | undefined) => void;
  /** How many bytes may wait. */
  readonly waitingBytes: number;
  /** How long after a failure writing is tried again. */
  readonly againMs: number;
  /** Lines are written together up to this length; 64 KiB by default. A longer line is a piece of its own. */
  readonly pieceBytes?: number;
  /** How long lines are collected, so that each does not cost a call of the system; 0 by default. */
  readonly collectMs?: number;
}

export class AppendFile {
  readonly #options: AppendFileOptions;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #isFailing = false;
  #isClosing = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: AppendFileOptions) {
    this.#options = options;
  }

  /** Whether another line is taken. */
  get hasRoom(): boolean {
    return this.#bytes < this.#options.waitingBytes;
  }

  /** How many lines wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * @param line with its end
   * @param isForced whether it is taken where there is no room, too
   * @returns whether it is taken. Nothing is, once the file is being closed
   */
  add(line: string, isForced = false): boolean {
    if (this.#isClosing || !(this.hasRoom || isForced)) return false;
    const bytes = Buffer.from(line);
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    const { collectMs = 0 } = this.#options;
    if (collectMs > 0) this.#timer ??= setTimeout(() => this.#flush(), collectMs);
    else if (!this.#isFailing) void this.#flush();
    return true;
  }

  /** Settles when the attempt to write that is under way has ended. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /**
   * Writes what waits; nothing is added after that.
   * @param ms how long it may take
   */
  async close(ms: number): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    await settledWithin(this.#flush(), ms);
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
    if (this.#waiting.length === 0 || this.#isClosing) return;
    this.#timer ??= setTimeout(() => this.#flush(), this.#options.againMs);
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

  /** Removes what was written. The rest of a line stays, so that no line in the file is broken. */
  #remove(bytes: number): void {
    this.#bytes -= bytes;
    let left = bytes;
    let whole = 0;
    while (whole < this.#waiting.length && left >= this.#waiting[whole].length) left -= this.#waiting[whole++].length;
    this.#waiting.splice(0, whole);
    if (left > 0) this.#waiting[0] = this.#waiting[0].subarray(left);
  }
}
