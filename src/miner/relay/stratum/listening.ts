/** How the connections of clients come to the stratum server: by default, over a TCP port. */

import { type AddressInfo, createServer } from 'node:net';
import type { PeerStream } from '../../../base/net/connecting.ts';

export interface ListenEvents {
  /** Called with each connection that was accepted. */
  readonly connected: (client: PeerStream) => void;
  /** Called when a connection was refused because there are `mostConnections`. @param address the client's, if known */
  readonly refused: (address: string | undefined) => void;
  /** Called when a connection could not be accepted. @param message of the system */
  readonly failed: (message: string) => void;
}

/** What accepts connections. */
export interface Listening {
  readonly port: number;
  /** Accepts no more connections. Settles when all accepted connections have ended. */
  close(): Promise<void>;
}

/** Begins to accept connections. Throws an Error if that is not possible. */
export type Listen = (events: ListenEvents, mostConnections: number) => Promise<Listening>;

/**
 * Time without data after which the system checks whether a connection still works (TCP keep-alive). A working
 * connection is not closed for lack of data.
 */
const KEEP_ALIVE_MS = 60_000;

/** @param address the host address or name, and the port; port 0 means any free port */
export function onTcp(address: { readonly host: string; readonly port: number }): Listen {
  return async ({ connected, refused, failed }, mostConnections) => {
    const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS });
    server.maxConnections = mostConnections;
    server.on('connection', connected);
    server.on('drop', (client) => refused(client?.remoteAddress));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(address, resolve);
    });
    server.on('error', ({ message }) => failed(message));
    const { port } = server.address() as AddressInfo;
    return {
      port,
      close: () => new Promise((resolve) => server.close(() => resolve())),
    };
  };
}
