/** TLS in front of a mock node. It counts the bytes that it receives, and its certificate can be changed. */

import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer, type Server, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Identity } from './certificates.ts';

export class TlsFront {
  connections = 0;
  /** Number of connections that resumed the TLS session of an earlier one. */
  resumed = 0;
  /** Number of received bytes of HTTP. */
  received = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(upstream: URL, options: TlsOptions) {
    this.#server = createServer(options, (socket) => {
      if (socket.isSessionReused()) this.resumed++;
      socket.on('data', (bytes) => {
        this.received += bytes.length;
      });
      const behind = connect(Number(upstream.port), upstream.hostname);
      for (const [one, other] of [
        [socket, behind],
        [behind, socket],
      ]) {
        one.on('error', () => {});
        one.on('close', () => other.destroy());
        one.pipe(other);
      }
    });
    this.#server.on('connection', (socket: Socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    // A client that does not trust it ends the connection.
    this.#server.on('tlsClientError', () => {});
  }

  /** Starts it, and closes it after the test. @param upstream the mock node's URL */
  static async start(identity: Identity, upstream: string, options: TlsOptions = {}): Promise<TlsFront> {
    const front = new TlsFront(new URL(upstream), { ...identity, ...options });
    front.#server.listen(0, '127.0.0.1');
    await once(front.#server, 'listening');
    onTestFinished(async () => {
      const closed = once(front.#server, 'close');
      front.#server.close();
      front.cut();
      await closed;
    });
    return front;
  }

  /** The open connections. */
  get open(): number {
    return this.#sockets.size;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  /** Changes the certificate, as when a node restarts with another one. */
  restart(identity: Identity): void {
    this.#server.setSecureContext(identity);
    this.cut();
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
