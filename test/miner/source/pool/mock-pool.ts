/**
 * A pool that plays a transcript. A line that begins with `> ` is what the miner must send, byte for byte; one with `<
 * ` is what the pool sends. `* close` ends the connection, and what follows is of the next one.
 */

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, onTestFinished } from 'vitest';
import type { Identity } from '../../../node/client/certificates.ts';
import { eventually } from '../follow.ts';

export class MockPool {
  /** What was sent and received so far, in the form of a transcript. */
  readonly log: string[] = [];
  connections = 0;
  readonly #server: Server;
  readonly #tls: boolean;
  readonly #sockets = new Set<Socket>();
  readonly #script: string[];
  #socket: Socket | undefined;
  #unread = '';

  private constructor(script: readonly string[], identity?: Identity) {
    this.#script = [...script];
    this.#tls = identity !== undefined;
    const greet = (socket: Socket) => this.#greet(socket);
    this.#server = identity ? createTlsServer(identity, greet) : createServer(greet);
    this.#server.on('tlsClientError', () => {});
    this.#server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** Starts it, and closes it after the test. @param identity for TLS */
  static async start(script: readonly string[], identity?: Identity): Promise<MockPool> {
    const pool = new MockPool(script, identity);
    pool.#server.listen(0, '127.0.0.1');
    await once(pool.#server, 'listening');
    onTestFinished(async () => {
      const closed = once(pool.#server, 'close');
      pool.#server.close();
      for (const socket of pool.#sockets) socket.destroy();
      await closed;
    });
    return pool;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `stratum+${this.#tls ? 'ssl' : 'tcp'}://127.0.0.1:${this.port}`;
  }

  /** The open connections. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Goes on with these lines. */
  play(...lines: readonly string[]): void {
    this.#script.push(...lines);
    this.#go();
  }

  /** Waits until the transcript was played, and compares. */
  async played(): Promise<void> {
    await eventually(() => expect(this.log).toEqual(this.#script));
  }

  #greet(socket: Socket): void {
    this.#socket = socket;
    this.#unread = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      this.#unread += chunk.toString();
      const lines = this.#unread.split('\n');
      this.#unread = lines.pop() as string;
      for (const line of lines) this.log.push(`> ${line}`);
      this.#go();
    });
    this.#go();
  }

  /** Sends what comes next in the transcript, until it is the miner's turn. */
  #go(): void {
    while (this.#socket && !this.#socket.destroyed) {
      const next = this.#script[this.log.length];
      if (next === '* close') {
        this.log.push(next);
        this.#socket.destroy();
        this.#socket = undefined;
      } else if (next?.startsWith('< ')) {
        this.log.push(next);
        this.#socket.write(`${next.slice(2)}\n`);
      } else {
        return;
      }
    }
  }
}
