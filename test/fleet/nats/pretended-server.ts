/** A machine that pretends to be a NATS server. */

import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const INFO = { server_id: 'x', version: '2.9.10', proto: 1, max_payload: 1_048_576, headers: true, nonce: 'abcdefgh' };

/** The first line of a server. */
export const info = (more: object = {}) => `INFO ${JSON.stringify({ ...INFO, ...more })}\r\n`;

export interface PretendedServer {
  readonly port: number;
  readonly url: string;
  /** What was received, over all connections. */
  received(): Buffer;
  /** Number of connections so far. */
  connections(): number;
}

/** Listens until the test ends. @param act what the machine does with each connection */
export async function pretend(act: (socket: Socket) => void): Promise<PretendedServer> {
  const received: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => received.push(chunk));
    act(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    received: () => Buffer.concat(received),
    connections: () => sockets.size,
  };
}
