/** Splits a stream of bytes into lines of text, and survives lines that are too long: they are left out. Pure. */

import { LineSplitter, LineTooLongError } from './line-splitter.ts';

const NEWLINE = 0x0a;

/** Stands for a line that was left out because it was too long. */
export const TOO_LONG = Symbol('a line that is too long');

export class LenientLines {
  readonly #mostBytes: number;
  #splitter: LineSplitter;
  /** Whether the rest of a line that is too long is still to come. */
  #skips = false;

  /** @param mostBytes the most bytes that a line may have, without its end */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#splitter = new LineSplitter(mostBytes);
  }

  /**
   * @param chunk bytes of UTF-8
   * @returns the lines that end in this chunk. One that is too long is reported as soon as it is
   */
  push(chunk: Uint8Array): (string | typeof TOO_LONG)[] {
    const lines: (string | typeof TOO_LONG)[] = [];
    let start = 0;
    while (start < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      const piece = chunk.subarray(start, end);
      start = end;
      if (this.#skips) this.#skips = newline < 0;
      else lines.push(...this.#take(piece, newline >= 0));
    }
    return lines;
  }

  /** @returns the last line, when the stream has ended without ending it */
  end(): (string | typeof TOO_LONG)[] {
    const rest = this.#skips ? [] : this.#take(Uint8Array.of(NEWLINE), true);
    return rest.filter((line) => line !== '');
  }

  #take(piece: Uint8Array, endsLine: boolean): (string | typeof TOO_LONG)[] {
    try {
      return this.#splitter.push(piece);
    } catch (fault) {
      if (!(fault instanceof LineTooLongError)) throw fault;
      this.#splitter = new LineSplitter(this.#mostBytes);
      this.#skips = !endsLine;
      return [TOO_LONG];
    }
  }
}
