/**
 * The transport of the NATS client library: one connection to a server. It replaces the library's own transport, for
 * two reasons. The library begins TLS only if the server's first message, which is not encrypted, asks for TLS in the
 * expected form. And if the server's host is a bare IP address, the library checks the certificate against the name
 * `localhost`.
 */

import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type ConnectionOptions, Kind, Parser, type ParserEvent, State, type Transport } from '@nats-io/transport-node';
import { z } from 'zod';
import { TCP_CONNECTING } from '../../base/net/connecting.ts';
import { onAbort } from '../../base/system/abort.ts';

/** Maximum length of a line, in bytes, because the client library reads long lines slowly. */
const MOST_LINE_BYTES = 65_536;
/** Maximum length of a message's payload, in bytes: twice the default limit of NATS servers. */
const MOST_PAYLOAD_BYTES = 2 ** 21;
/** Maximum number of bytes that wait to be sent. If more bytes wait, the connection is ended. */
const MOST_UNSENT_BYTES = 2 ** 20;

/** The options of the client library, and those of this transport. */
export interface TransportOptions extends ConnectionOptions {
  readonly pickaxe: {
    readonly host: string;
    readonly port: number;
    /** Whether nothing may be sent before TLS has begun. */
    readonly requiresTls: boolean;
    /** Certificates of the trusted authorities, as PEM texts; undefined for the authorities that Node.js trusts. */
    readonly authorities: readonly string[] | undefined;
    /** Ends the connection, even while it is still being made. */
    readonly stop: AbortSignal;
  };
}

export class TransportError extends Error {
  override readonly name = 'TransportError';
  /** Whether the cause is that TLS is required, but the server does not offer it. */
  readonly lacksTls: boolean;

  constructor(message: string, lacksTls = false) {
    super(message);
    this.lacksTls = lacksTls;
  }
}

const Info = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+/),
  max_payload: z.number(),
  nonce: z.string().exactOptional(),
  headers: z.boolean().exactOptional(),
  tls_required: z.boolean().default(false),
  tls_available: z.boolean().default(false),
});

export class LinkTransport implements Transport {
  readonly lang = 'pickaxe';
  readonly version = '1';
  closeError?: Error;
  readonly #chunks: Uint8Array[] = [];
  readonly #check = new Parser({ push: (event) => this.#onMessage(event as ParserEvent) });
  /** Number of bytes received after the chunk in which the last complete message ended. */
  #unendedBytes = 0;
  #wake = () => {};
  #socket: Socket | undefined;
  #isConnected = false;
  #isEncrypted = false;
  #isClosed = false;
  #release = () => {};
  #announce: () => void = () => {};
  readonly #closed = new Promise<void>((resolve) => {
    this.#announce = resolve;
  });

  async connect(_: unknown, options: ConnectionOptions): Promise<void> {
    const { host, port, requiresTls, authorities, stop } = (options as TransportOptions).pickaxe;
    this.#release = onAbort(stop, () => this.#end());
    if (this.#isClosed) throw new TransportError('the connection was stopped');
    const socket = connectTcp({ host, port, noDelay: true, ...TCP_CONNECTING });
    this.#socket = socket;
    try {
      const first = await firstMessage(socket);
      const info = infoIn(first.message);
      if (info.tls_required || requiresTls) {
        if (!info.tls_required && !info.tls_available) throw new TransportError('the server offers no TLS', true);
        // Unencrypted bytes after the first message would be treated as if they had come over TLS.
        if (first.rest.length > 0) throw new TransportError('the server speaks before TLS has begun');
        this.#socket = await encrypted(socket, host, authorities);
        this.#isEncrypted = true;
      }
      // `stop` may have fired while TLS began.
      if (this.#isClosed) throw new TransportError('the connection was stopped');
      this.#isConnected = true;
      this.#listen(this.#socket);
      this.#receive(first.message);
      if (first.rest.length > 0) this.#receive(first.rest);
    } catch (fault) {
      this.discard();
      throw fault;
    }
  }

  #listen(socket: Socket): void {
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (fault) => this.#end(fault));
    socket.on('close', () => this.#end());
    socket.resume();
  }

  /**
   * Checks received bytes before the client library gets them. If the library itself met an error in them, it would
   * print the error, and leave the connection open.
   */
  #receive(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    // Receivers of messages need a plain Uint8Array, whose `slice` makes a copy. The `slice` of a Buffer shares memory.
    const chunk = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#unendedBytes += chunk.length;
    try {
      this.#check.parse(chunk);
    } catch {
      this.#end(new TransportError('the server does not speak the protocol of NATS'));
    }
    const most = this.#check.state === State.MSG_PAYLOAD ? MOST_PAYLOAD_BYTES : MOST_LINE_BYTES;
    if (this.#unendedBytes > most) this.#end(new TransportError('the server’s message is too long'));
    if (this.#isClosed) return;
    this.#chunks.push(chunk);
    this.#wake();
  }

  #onMessage({ kind, data }: ParserEvent): void {
    this.#unendedBytes = 0;
    if (kind === Kind.INFO && data) Info.parse(JSON.parse(new TextDecoder().decode(data)));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    while (true) {
      const chunk = this.#chunks.shift();
      if (chunk) yield chunk;
      else if (this.#isClosed) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  isEncrypted(): boolean {
    return this.#isEncrypted;
  }

  send(frame: Uint8Array): void {
    if (this.#isClosed || !this.#socket) return;
    this.#socket.write(frame);
    if (this.#socket.writableLength > MOST_UNSENT_BYTES)
      this.#end(new TransportError('the server takes no more messages'));
  }

  async close(fault?: Error): Promise<void> {
    this.#end(fault);
  }

  disconnect(): void {
    this.#end();
  }

  closed(): Promise<void> {
    return this.#closed;
  }

  discard(): void {
    this.#isClosed = true;
    this.#release();
    this.#socket?.destroy();
    // Errors of the socket after the end have no meaning. Without a listener, they would end the process.
    this.#socket?.on('error', () => {});
    this.#wake();
  }

  /**
   * @param fault why the connection ends; undefined if the client library has the reason (a message of the server, or
   *   unanswered pings), or if there is no error
   */
  #end(fault?: Error): void {
    if (this.#isClosed) return;
    if (fault) this.closeError = fault;
    this.discard();
    if (this.#isConnected) this.#announce();
  }
}

function infoIn(message: Uint8Array): z.infer<typeof Info> {
  const [, json] = /^INFO\s+(.+)\r\n$/i.exec(new TextDecoder().decode(message)) ?? [];
  try {
    return Info.parse(JSON.parse(json));
  } catch {
    throw new TransportError('what listens there is no NATS server');
  }
}

/**
 * @returns `message`: the bytes up to the end of the first CRLF; `rest`: the bytes after it
 * @throws errors of the system; TransportError if the server closes the connection, or the first line is too long
 */
function firstMessage(socket: Socket): Promise<{ message: Uint8Array; rest: Uint8Array }> {
  let received = Buffer.alloc(0);
  return untilEnded(socket, (resolve, reject) => {
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf('\r\n') + 2;
      if (end > MOST_LINE_BYTES || (end < 2 && received.length > MOST_LINE_BYTES)) {
        reject(new TransportError('what listens there is no NATS server'));
      } else if (end >= 2) {
        // While the socket is paused, it keeps further bytes until the next listener is added.
        socket.pause();
        resolve({ message: received.subarray(0, end), rest: received.subarray(end) });
      }
    };
    socket.on('data', onData);
    return () => socket.off('data', onData);
  });
}

/**
 * Begins TLS, and verifies the server's certificate.
 * @throws errors of the system, and of OpenSSL and Node.js if the certificate is not trusted; TransportError if the
 *   server closes the connection
 */
async function encrypted(socket: Socket, host: string, authorities: readonly string[] | undefined): Promise<Socket> {
  const secure = connectTls({
    socket,
    host,
    servername: isIP(host) ? '' : host,
    rejectUnauthorized: true,
    ...(authorities && { ca: [...authorities] }),
  });
  return untilEnded(secure, (resolve) => {
    const onSecure = () => resolve(secure);
    secure.once('secureConnect', onSecure);
    return () => secure.off('secureConnect', onSecure);
  });
}

/**
 * Waits for events of a socket. If the socket fails or is closed before these events, the promise is rejected.
 * @param wait adds listeners, and returns a function that removes them
 */
function untilEnded<T>(
  socket: Socket,
  wait: (resolve: (result: T) => void, reject: (fault: Error) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onClose = () => fail(new TransportError('the server has closed the connection'));
    const release = () => {
      unwait();
      socket.off('error', fail);
      socket.off('close', onClose);
    };
    const fail = (fault: Error) => {
      release();
      // The socket is about to be destroyed, so its further errors are ignored.
      socket.on('error', () => {});
      reject(fault);
    };
    socket.on('error', fail);
    socket.on('close', onClose);
    const unwait = wait((result) => {
      release();
      resolve(result);
    }, fail);
  });
}
