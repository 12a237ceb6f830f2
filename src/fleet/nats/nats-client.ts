/** The parts of the NATS client library that a link needs. This file is loaded when the first link is opened. */

import {
  type Authenticator,
  jwtAuthenticator,
  type NatsConnection,
  NatsConnectionImpl,
  nkeyAuthenticator,
  PermissionViolationError,
  type Status,
  setTransportFactory,
} from '@nats-io/transport-node';
import type { Credentials, LinkSettings } from './link.ts';
import { LinkTransport, type TransportOptions } from './transport.ts';

export { faultOf } from './reasons.ts';

const CONNECT_MS = 5_000;
/** A connection ends when a third ping is due while two pings have no answer. This takes nine seconds at most. */
const PING_MS = 3_000;
const MOST_PINGS = 2;

/** @param server its URL @throws errors of the client library, of the transport or of the system */
export function connectTo(
  server: string,
  { credentials, authorities, name, inbox }: LinkSettings,
  stop: AbortSignal,
): Promise<NatsConnection> {
  const { protocol, hostname, port } = new URL(server);
  const options: TransportOptions = {
    servers: [server],
    name,
    inboxPrefix: inbox,
    ...(credentials && { authenticator: authenticatorOf(credentials) }),
    timeout: CONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: MOST_PINGS,
    reconnect: false,
    // A server announces the other servers of its cluster, but these addresses are not used. Otherwise, a server could
    // make a member send its credentials to any machine, because only configured URLs can require TLS.
    ignoreClusterUpdates: true,
    noAsyncTraces: true,
    pickaxe: {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port),
      requiresTls: protocol === 'tls:',
      authorities,
      stop,
    },
  };
  setTransportFactory({ factory: () => new LinkTransport() });
  return NatsConnectionImpl.connect(options);
}

function authenticatorOf(credentials: Credentials): Authenticator {
  const seed = new TextEncoder().encode(credentials.seed);
  return credentials.token === undefined ? nkeyAuthenticator(seed) : jwtAuthenticator(credentials.token, seed);
}

/** @returns the subject to which the server has not let this member publish; undefined for any other status */
export function deniedPublication(status: Status): string | undefined {
  if (status.type !== 'error' || !(status.error instanceof PermissionViolationError)) return undefined;
  const { operation, subject } = status.error;
  return operation === 'publish' ? subject : undefined;
}
