/** Makes connections to a node. An https connection is used only if the node's certificate is trusted. */

import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { authoritiesOf, distrust, JUDGED_TLS, TCP_KEEP_ALIVE_MS, type Trust } from '../net/trust.ts';
import { NodeError } from './errors.ts';

/**
 * Makes a connector for undici's pools. A connection whose certificate is not trusted is closed before any byte of HTTP is
 * sent.
 * @param origin the node's origin, for messages
 * @param onConnect called with each connection before it is used
 * @returns a connector. It fails with errors of the system or of TLS, or with a NodeError about the certificate
 */
export function connectorFor(
  origin: string,
  trust: Trust,
  timeoutMs: number,
  onConnect: (socket: Socket) => void,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    // A resumed session shows no certificate, and Node.js does not check the host's name again.
    maxCachedSessions: 0,
    ...JUDGED_TLS,
    ...authoritiesOf(trust),
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

/** @returns why the node's certificate is not trusted; undefined when it is */
function judge(socket: TLSSocket, origin: string, trust: Trust): NodeError | undefined {
  const fault = distrust(socket, { kind: 'node', origin }, trust);
  if (!fault) return undefined;
  const { message, fingerprint } = fault;
  return new NodeError('unreachable', message, fingerprint === undefined ? {} : { fingerprint });
}
