/** Splits a stream of bytes into lines of text. Pure. */

const NEWLINE = 0x0a;
const NOTHING = new Uint8Array(0);

/** A line has more bytes than its reader accepts. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

export class LineSplitter {
  readonly #mostBytes: number;
  readonly #decoder = new TextDecoder();
  /**
   * The line that has not ended yet: the first `#bytes` bytes. It is a copy, so that a byte that comes alone costs no
   * more memory.
   */
  #begun = NOTHING;
  #bytes = 0;

  /** @param mostBytes the most bytes that a line may have, without its end */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /**
   * @param chunk bytes of UTF-8; what is none becomes U+FFFD
   * @returns the lines that end in this chunk, without `\n` or `\r\n`
   * @throws LineTooLongError when the unfinished line has become too long. Nothing can be read after that
   */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      lines.push(this.#endLine(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return lines;
  }

  /** @param rest of the line */
  #endLine(rest: Uint8Array): string {
    const isWhole = this.#bytes === 0;
    if (isWhole) this.#check(rest);
    else this.#keep(rest);
    const line = isWhole ? rest : this.#begun.subarray(0, this.#bytes);
    this.#begun = NOTHING;
    this.#bytes = 0;
    return this.#decoder.decode(line).replace(/\r$/, '');
  }

  #keep(piece: Uint8Array): void {
    this.#check(piece);
    const bytes = this.#bytes + piece.length;
    if (bytes > this.#begun.length) {
      const larger = new Uint8Array(Math.min(this.#mostBytes, 2 * bytes));
      larger.set(this.#begun.subarray(0, this.#bytes));
      this.#begun = larger;
    }
    this.#begun.set(piece, this.#bytes);
    this.#bytes = bytes;
  }

  #check({ length }: Uint8Array): void {
    if (this.#bytes + length <= this.#mostBytes) return;
    throw new LineTooLongError(`a line is longer than ${this.#mostBytes} bytes`);
  }
}

/* Splits a stream of bytes into lines of text, and survives lines that are too long: they are left out. Pure. */

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
