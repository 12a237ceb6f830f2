/** The parts of the NATS client that a link needs. This file is loaded for the first connection. */

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
/** A connection ends when the third ping is due and two have no answer: after nine seconds at most. */
const PING_MS = 3_000;
const MOST_PINGS = 2;

/** @throws errors of the client, the transport or the system */
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
    // Servers that a cluster announces are not used: a server must not make a member send its credentials to a machine
    // that nobody has configured, and whose name is not checked against a tls:// URL.
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

/** @returns the subject to which the server does not let this member publish; undefined for any other status */
export function deniedPublication(status: Status): string | undefined {
  if (status.type !== 'error' || !(status.error instanceof PermissionViolationError)) return undefined;
  const { operation, subject } = status.error;
  return operation === 'publish' ? subject : undefined;
}
