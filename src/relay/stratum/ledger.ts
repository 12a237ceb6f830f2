/**
 * Writes the share ledger: JSON lines, in order, appended to a file. A slow or full disk stops nothing else: lines wait in a
 * bounded memory, and those that find no room are counted. The file then tells how many are missing where they are missing.
 */

import { type Clock, wallMs } from '../../system/clock.ts';
import type { LedgerEntry, LedgerLine } from './ledger-line.ts';

/** The lines that wait for the disk: some 40,000 shares, which is minutes of a large farm. */
const WAITING_BYTES = 8 * 1024 ** 2;
/** The longest piece that is written at once. */
const PIECE_BYTES = 64 * 1024;
/** A disk that refuses is tried again after so long. */
const AGAIN_MS = 5_000;
/** Lines are collected for so long, so that a share does not cost a call of the system. */
const COLLECT_MS = 200;
/** How long the end may wait for a disk. */
const CLOSE_MS = 5_000;

/** The file, opened for appending. */
export interface LedgerFile {
  /** @returns how many of the bytes were written */
  write(bytes: Buffer): Promise<number>;
  close(): Promise<void>;
}

export interface LedgerOptions {
  readonly clock: Clock;
  /** Told once when the file cannot be written, and once when it can be again. */
  readonly warn: (line: string) => void;
  readonly waitingBytes?: number;
  readonly againMs?: number;
}

export class Ledger {
  readonly #file: LedgerFile;
  readonly #options: LedgerOptions;
  #lines: Buffer[] = [];
  #bytes = 0;
  #lost = 0;
  #isFailing = false;
  #isClosing = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(file: LedgerFile, options: LedgerOptions) {
    this.#file = file;
    this.#options = options;
  }

  readonly record = (entry: LedgerEntry): void => {
    const { type, ...fields } = entry;
    if (this.#hasRoom()) this.#addLost();
    if (this.#hasRoom()) this.#add({ type, timeMillis: wallMs(this.#options.clock), ...fields } as LedgerLine);
    else this.#lost++;
    this.#timer ??= setTimeout(() => this.#flush(), COLLECT_MS);
  };

  /** Writes what waits, for some seconds at most, and closes the file. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    this.#addLost();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#writeAll(), patience]);
    if (this.#bytes > 0) this.#options.warn('the last lines of the share ledger could not be written');
    // The system closes no file that it still writes.
    await Promise.race([this.#file.close().catch(() => {}), patience]);
    clearTimeout(timer);
  }

  #hasRoom(): boolean {
    return this.#bytes < (this.#options.waitingBytes ?? WAITING_BYTES);
  }

  #addLost(): void {
    if (this.#lost === 0) return;
    this.#add({ type: 'lost', timeMillis: wallMs(this.#options.clock), lines: this.#lost });
    this.#lost = 0;
  }

  #add(line: LedgerLine): void {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    this.#lines.push(bytes);
    this.#bytes += bytes.length;
  }

  async #flush(): Promise<void> {
    await this.#writeAll();
    this.#timer = undefined;
    if (this.#lines.length > 0 && !this.#isClosing) {
      this.#timer = setTimeout(() => this.#flush(), this.#options.againMs ?? AGAIN_MS);
    }
  }

  async #writeAll(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#lines.length > 0) {
      const piece = this.#nextPiece();
      let written = 0;
      try {
        written = await this.#file.write(piece);
        if (this.#isFailing) this.#options.warn('the share ledger can be written again');
        this.#isFailing = false;
      } catch (fault) {
        this.#fail((fault as Error).message);
      }
      this.#bytes -= written;
      // What was not written goes back whole, so that no line in the file is broken.
      if (written < piece.length) this.#lines.unshift(piece.subarray(written));
      if (this.#isFailing) return;
    }
  }

  #nextPiece(): Buffer {
    const pieces: Buffer[] = [];
    for (let bytes = 0; this.#lines.length > pieces.length; ) {
      const next = this.#lines[pieces.length];
      if (bytes > 0 && bytes + next.length > PIECE_BYTES) break;
      bytes += next.length;
      pieces.push(next);
    }
    this.#lines = this.#lines.slice(pieces.length);
    return Buffer.concat(pieces);
  }

  #fail(why: string): void {
    if (!this.#isFailing)
      this.#options.warn(`the share ledger cannot be written (${why}); lines are kept as far as memory allows`);
    this.#isFailing = true;
  }
}
