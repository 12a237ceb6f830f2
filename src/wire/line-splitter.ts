/** Splits a stream of bytes into lines of text. Pure. */

const NEWLINE = 0x0a;

/** A line has more bytes than its reader accepts. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

export class LineSplitter {
  readonly #mostBytes: number;
  readonly #decoder = new TextDecoder();
  /** The pieces of the line that has not ended yet. */
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  /** @param mostBytes the most bytes that a line may have, without its end */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /**
   * @param chunk bytes of UTF-8; what is none becomes U+FFFD. It is kept until its line ends, so it must not change
   * @returns the lines that end in this chunk, without `\n` or `\r\n`
   * @throws LineTooLongError when the unfinished line has become too long. Nothing can be read after that
   */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      lines.push(this.#endLine());
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return lines;
  }

  #keep(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#mostBytes) {
      throw new LineTooLongError(`a line is longer than ${this.#mostBytes} bytes`);
    }
    this.#pieces.push(piece);
  }

  #endLine(): string {
    const line = this.#pieces.length === 1 ? this.#pieces[0] : joined(this.#pieces, this.#bytes);
    this.#pieces = [];
    this.#bytes = 0;
    return this.#decoder.decode(line).replace(/\r$/, '');
  }
}

function joined(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
