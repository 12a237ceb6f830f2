/**
 * The connection below the NATS client. It replaces the transport of the client, which begins TLS only if the server's
 * first message, sent in clear, asks for it in the expected form, and which checks the certificates of bare addresses
 * against the name `localhost`.
 */

import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type ConnectionOptions, Kind, Parser, type ParserEvent, State, type Transport } from '@nats-io/transport-node';
import { z } from 'zod';
import { TCP_CONNECTING } from '../../base/net/connecting.ts';
import { onAbort } from '../../base/system/abort.ts';

/** Maximum length of a line, in bytes: the client reads long lines slowly. The longest is the first message. */
const MOST_LINE_BYTES = 65_536;
/** Maximum length of a message's payload, in bytes. The default of servers is half as much. */
const MOST_PAYLOAD_BYTES = 2 ** 21;
/** Maximum number of bytes that wait to be sent. Beyond it, the connection ends. */
const MOST_UNSENT_BYTES = 2 ** 20;

/** The client's options, and those of this transport. */
export interface TransportOptions extends ConnectionOptions {
  readonly pickaxe: {
    readonly host: string;
    readonly port: number;
    /** Whether nothing may be sent in clear. */
    readonly requiresTls: boolean;
    /** Certificates of authorities as PEM texts; undefined for the authorities in Node.js. */
    readonly authorities: readonly string[] | undefined;
    /** Ends the connection, even while it is still being made. */
    readonly stop: AbortSignal;
  };
}

export class TransportError extends Error {
  override readonly name = 'TransportError';
  /** Whether the server offers no TLS, although it is required. */
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
  /** Upper limit of the number of bytes since the end of the last message. */
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
        // Bytes in clear behind the first message would be taken for part of the encrypted connection.
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

  /** Checks bytes before the client gets them: on an error, it would print that and leave the connection open. */
  #receive(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    // Receivers of messages expect a plain Uint8Array: the `slice` of a Buffer shares memory.
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
    // An error after the end has no meaning, but would end the process if nobody listened for it.
    this.#socket?.on('error', () => {});
    this.#wake();
  }

  /** @param fault undefined if the client has the reason: a message of the server, or unanswered pings */
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

/** @returns the bytes through the first line break, and those after it @throws errors of the system, TransportError */
function firstMessage(socket: Socket): Promise<{ message: Uint8Array; rest: Uint8Array }> {
  let received = Buffer.alloc(0);
  return untilEnded(socket, (resolve, reject) => {
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf('\r\n') + 2;
      if (end > MOST_LINE_BYTES || (end < 2 && received.length > MOST_LINE_BYTES)) {
        reject(new TransportError('what listens there is no NATS server'));
      } else if (end >= 2) {
        // A paused socket loses no bytes before its next listener.
        socket.pause();
        resolve({ message: received.subarray(0, end), rest: received.subarray(end) });
      }
    };
    socket.on('data', onData);
    return () => socket.off('data', onData);
  });
}

/** @throws errors of the system, and those of OpenSSL and Node.js for a certificate that is not trusted */
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

/** Waits for a socket, but only until its end. @param wait returns a function that removes the listeners it added */
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
