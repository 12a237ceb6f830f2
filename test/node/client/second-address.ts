/** A second address of a node, which can become unreachable while the node stays. */

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SecondAddress {
  readonly url: string;
  /** Closes all connections, and refuses new ones from now on. */
  goAway(): Promise<void>;
}

/** @param upstream the node's URL */
export async function secondAddress(upstream: string): Promise<SecondAddress> {
  const { port, hostname } = new URL(upstream);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const behind = connect(Number(port), hostname);
    for (const [one, other] of [
      [socket, behind],
      [behind, socket],
    ]) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const goAway = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  onTestFinished(goAway);
  return { url, goAway };
}
