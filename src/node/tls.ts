/** Makes connections to a node. An https connection is used only if the node's certificate is trusted. */

import { lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { isNearOnly } from '../net/near-addresses.ts';
import { authoritiesOf, distrust, JUDGED_TLS, TCP_KEEP_ALIVE_MS, type Trust } from '../net/trust.ts';
import { NodeError } from './errors.ts';

export interface ConnectorOptions {
  readonly trust: Trust;
  readonly timeoutMs: number;
  /** Called with each connection before it is used. */
  readonly onConnect: (socket: Socket) => void;
  /** Whether only strangers have named the node: then its name may not lead to this machine or its link. */
  readonly isStranger?: boolean | undefined;
}

/**
 * Makes a connector for undici's pools. A connection whose certificate is not trusted is closed before any byte of HTTP is
 * sent.
 * @param origin the node's origin, for messages
 * @returns a connector. It fails with errors of the system or of TLS, or with a NodeError about the certificate
 */
export function connectorFor(
  origin: string,
  { trust, timeoutMs, onConnect, isStranger = false }: ConnectorOptions,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    // A resumed session shows no certificate, and Node.js does not check the host's name again.
    maxCachedSessions: 0,
    ...JUDGED_TLS,
    ...authoritiesOf(trust),
    ...(isStranger && { lookup: lookupOfStranger(origin) }),
  });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const fault = options.protocol === 'https:' ? judge(socket as TLSSocket, origin, trust) : undefined;
      if (!fault) {
        onConnect(socket);
        return callback(null, socket);
      }
      socket.destroy();
      callback(fault, null);
    });
}

/** Only the addresses to which a name leads say whether it may be followed, and they may change with each look. */
function lookupOfStranger(origin: string): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const near = addresses?.find(({ address }) => isNearOnly(address));
      const fault = near && new NodeError('unreachable', `${origin} leads to ${near.address}, which no node can have.`);
      if (error || fault) callback(error ?? (fault as NodeError), '');
      else if (options.all) callback(null, addresses);
      else callback(null, addresses[0].address, addresses[0].family);
    });
  };
}

/** @returns why the node's certificate is not trusted; undefined when it is */
function judge(socket: TLSSocket, origin: string, trust: Trust): NodeError | undefined {
  const fault = distrust(socket, { kind: 'node', origin }, trust);
  if (!fault) return undefined;
  const { message, fingerprint } = fault;
  return new NodeError('unreachable', message, fingerprint === undefined ? {} : { fingerprint });
}
