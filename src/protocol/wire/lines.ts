/** Splits streams of bytes into lines of text, and parses headers of the PROXY protocol. Pure. */

import { isIPv4, isIPv6 } from 'node:net';

const NEWLINE = 0x0a;
const NOTHING = new Uint8Array(0);

/** Thrown if a line has more bytes than the splitter accepts. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

export class LineSplitter {
  readonly #mostBytes: number;
  readonly #decoder = new TextDecoder();
  /**
   * A buffer whose first `#bytes` bytes are the unfinished line. The bytes are copied, because a view of them would
   * keep the whole chunk in memory.
   */
  #begun = NOTHING;
  #bytes = 0;

  /** @param mostBytes maximum length of a line, in bytes, without `\n` */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /**
   * @param chunk UTF-8; invalid bytes become U+FFFD
   * @returns the lines that end in this chunk, without `\n` or `\r\n`
   * @throws LineTooLongError if a line is too long. The splitter must not be used after this error
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

/* A splitter that skips lines that are too long, and goes on with the next line. */

/** Takes the place of a line that was too long. */
export const TOO_LONG = Symbol('a line that is too long');

export class LenientLines {
  readonly #mostBytes: number;
  #splitter: LineSplitter;
  #leftOutBytes = 0;
  /** Whether the bytes up to the next line end are skipped, because they belong to a line that is too long. */
  #skips = false;

  /** @param mostBytes maximum length of a line, in bytes, without `\n` */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#splitter = new LineSplitter(mostBytes);
  }

  /** Upper bound of the total length of all skipped lines, in bytes. Each line counts as at least `mostBytes`. */
  get leftOutBytes(): number {
    return this.#leftOutBytes;
  }

  /**
   * @param chunk UTF-8
   * @returns the lines that end in this chunk. A line that is too long is replaced by `TOO_LONG` as soon as it exceeds
   *   the maximum, before its end
   */
  push(chunk: Uint8Array): (string | typeof TOO_LONG)[] {
    const lines: (string | typeof TOO_LONG)[] = [];
    let start = 0;
    while (start < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      const piece = chunk.subarray(start, end);
      start = end;
      if (this.#skips) {
        this.#skips = newline < 0;
        this.#leftOutBytes += piece.length;
      } else lines.push(...this.#take(piece, newline >= 0));
    }
    return lines;
  }

  /** @returns the last line if the stream ended without a line end, and no line otherwise */
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
      this.#leftOutBytes += this.#mostBytes + piece.length;
      return [TOO_LONG];
    }
  }
}

/*
 * The PROXY protocol, versions 1 and 2 (HAProxy's `proxy-protocol.txt`). Before all other bytes of a connection, a
 * proxy sends a header with the address of its client.
 */

/** §2.1: maximum length of a version 1 header, in bytes, with its line end. */
const V1_BYTES = 107;
const V1_BEGIN = Buffer.from('PROXY ');
/** §2.2: the signature of version 2. */
const V2_BEGIN = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);
const V2_FIXED_BYTES = 16;
/**
 * Maximum accepted length of a version 2 header, in bytes. After the fixed part, addresses take at most 216 bytes.
 * Metadata for the receiver may follow, such as names of certificates.
 */
const V2_MOST_BYTES = V2_FIXED_BYTES + 4_096;

type ProxyHeader =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'invalid'; readonly why: string }
  /**
   * `bytes` is the header's length. `address` is absent if the client is the proxy itself, or if the header has no IP
   * address of the client.
   */
  | { readonly kind: 'header'; readonly bytes: number; readonly address?: string };

/** @param bytes all bytes that the connection has received so far */
export function parseProxyHeader(bytes: Uint8Array): ProxyHeader {
  if (beginsAs(bytes, V1_BEGIN)) return parseText(bytes);
  if (beginsAs(bytes, V2_BEGIN)) return bytes.length < V2_FIXED_BYTES ? INCOMPLETE : parseBinary(bytes);
  return invalid('it does not begin like one');
}

const INCOMPLETE: ProxyHeader = { kind: 'incomplete' };

function invalid(why: string): ProxyHeader {
  return { kind: 'invalid', why };
}

/** @returns whether `bytes` and `begin` are equal up to the end of the shorter one */
function beginsAs(bytes: Uint8Array, begin: Uint8Array): boolean {
  return begin.subarray(0, bytes.length).every((byte, i) => byte === bytes[i]);
}

/** §2.1: a line of text, such as `PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n`. */
function parseText(bytes: Uint8Array): ProxyHeader {
  const text = Buffer.from(bytes.subarray(0, V1_BYTES)).toString('latin1');
  const end = text.indexOf('\r\n');
  if (end < 0) return bytes.length < V1_BYTES ? INCOMPLETE : invalid('its line is too long');
  const length = end + 2;
  const [, family, ...parts] = text.slice(0, end).split(' ');
  if (family === 'UNKNOWN') return { kind: 'header', bytes: length };
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : undefined;
  if (!isAddress) return invalid('its protocol is none of TCP4, TCP6 and UNKNOWN');
  const [source, destination, ...ports] = parts;
  if (parts.length !== 4 || !isAddress(source) || !isAddress(destination) || !ports.every(isPort)) {
    return invalid('its addresses and ports are wrong');
  }
  return { kind: 'header', bytes: length, address: source };
}

function isPort(text: string): boolean {
  return /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 0xffff;
}

/**
 * §2.2: the signature (12 bytes), version and command (1), family and protocol (1), the length of the rest (2),
 * addresses and ports. Integers are big-endian.
 */
function parseBinary(bytes: Uint8Array): ProxyHeader {
  const [versionAndCommand, familyAndProtocol, high, low] = bytes.subarray(V2_BEGIN.length);
  const length = V2_FIXED_BYTES + (high << 8) + low;
  if (versionAndCommand >> 4 !== 2) return invalid('its version is not 2');
  const command = versionAndCommand & 0x0f;
  if (command > 1) return invalid('its command is neither LOCAL nor PROXY');
  if (length > V2_MOST_BYTES) return invalid('it is too long');
  if (bytes.length < length) return INCOMPLETE;
  if (command === 0) return { kind: 'header', bytes: length };
  const address = bytes.subarray(V2_FIXED_BYTES, length);
  switch (familyAndProtocol) {
    case 0x11:
      return address.length < 12
        ? invalid('its IPv4 addresses are cut off')
        : header(length, address.subarray(0, 4).join('.'));
    case 0x21:
      return address.length < 36
        ? invalid('its IPv6 addresses are cut off')
        : header(length, ipv6(address.subarray(0, 16)));
    case 0x00: // An unspecified protocol.
    case 0x31: // A stream over a UNIX socket.
      return { kind: 'header', bytes: length };
    default:
      return invalid('its protocol is not TCP');
  }
}

function header(bytes: number, address: string): ProxyHeader {
  return { kind: 'header', bytes, address };
}

function ipv6(bytes: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] << 8) | bytes[2 * i + 1]).toString(16));
  return groups.join(':');
}
