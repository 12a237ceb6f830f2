/**
 * Opens connections to a node. The node's certificate must be trusted, and the number of bytes that are read is
 * bounded.
 */

import { lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { isNearOnly, TCP_CONNECTING } from '../../base/net/connecting.ts';
import { authoritiesOf, distrust, JUDGED_TLS, TCP_KEEP_ALIVE_MS, type Trust } from '../../base/net/tls-trust.ts';
import { TokenBucket } from '../../base/system/bounded.ts';
import { NodeError } from './node-error.ts';

/**
 * Bounds all bytes that are read from a connection. Besides headers and bodies, HTTP allows interim answers (103) and
 * chunk extensions. The parser drops these without notice, but reading them takes processor time from the search.
 */
export interface ReadingBound {
  /** Maximum number of bytes in a burst. Each request begins a new burst. */
  readonly bytes: number;
  /** Maximum average rate after the burst. */
  readonly bytesPerSecond: number;
  /** The message of the error for a connection that exceeds the bound. */
  readonly fault: string;
}

interface ConnectorOptions {
  readonly trust: Trust;
  readonly timeoutMs: number;
  readonly bound: ReadingBound;
  /** Returns the monotonic time. */
  readonly nowMs: () => number;
  /**
   * Whether the node is known only from untrusted peers. If so, its host name must not resolve to an address of this
   * machine, or to a link-local, multicast or reserved address.
   */
  readonly isStranger?: boolean | undefined;
}

/**
 * If the certificate is not trusted, the connection is closed before any byte of HTTP is sent.
 * @returns a connector for undici's pools. It fails with a system error, a TLS error or a NodeError
 */
export function connectorFor(
  origin: string,
  { trust, timeoutMs, bound, nowMs, isStranger = false }: ConnectorOptions,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    // TLS sessions are not resumed: in a resumed session the node presents no certificate, and Node.js does not check
    // the host's name again.
    maxCachedSessions: 0,
    ...TCP_CONNECTING,
    ...JUDGED_TLS,
    ...authoritiesOf(trust),
    ...(isStranger && { lookup: lookupOfStranger(origin) }),
  });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const fault = options.protocol === 'https:' ? judge(socket as TLSSocket, origin, trust) : undefined;
      if (!fault) {
        boundReading(socket, bound, nowMs);
        return callback(null, socket);
      }
      socket.destroy();
      callback(fault, null);
    });
}

/**
 * Looks up host names, and rejects addresses of this machine, and link-local, multicast and reserved addresses. Each
 * lookup is checked, because the addresses of a name may change.
 * @param find looks up a name without a check
 */
export function lookupOfStranger(origin: string, find: typeof lookup = lookup): LookupFunction {
  return (hostname, options, callback) => {
    find(hostname, { ...options, all: true }, (error, addresses) => {
      const near = addresses?.find(({ address }) => isNearOnly(address));
      const fault = near && new NodeError('unreachable', `${origin} leads to ${near.address}, which no node can have.`);
      if (error || fault) callback(error ?? (fault as NodeError), '');
      else if (options.all) callback(null, addresses);
      else callback(null, addresses[0].address, addresses[0].family);
    });
  };
}

function judge(socket: TLSSocket, origin: string, trust: Trust): NodeError | undefined {
  const fault = distrust(socket, { kind: 'node', origin }, trust);
  if (!fault) return undefined;
  const { message, fingerprint } = fault;
  return new NodeError('unreachable', message, { fingerprint });
}

/**
 * Destroys the socket when more bytes are read than `bound` allows. Sending a request renews the bound, so the socket
 * must have only one request in progress.
 */
function boundReading(socket: Socket, bound: ReadingBound, nowMs: () => number): void {
  let bucket: TokenBucket | undefined;
  let [read, written] = [0, 0];
  socket.on('readable', () => {
    const { bytesRead, bytesWritten } = socket;
    if (!bucket || bytesWritten !== written) bucket = new TokenBucket(bound.bytes, bound.bytesPerSecond, nowMs());
    const isAllowed = bucket.take(bytesRead - read, nowMs());
    [read, written] = [bytesRead, bytesWritten];
    if (!isAllowed) socket.destroy(new NodeError('not understood', bound.fault));
  });
}
