/** Connections to a node, whose certificate must be trusted, with a bound on the bytes that are read. */

import { lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { isNearOnly, TCP_CONNECTING } from '../../base/net/connecting.ts';
import { authoritiesOf, distrust, JUDGED_TLS, TCP_KEEP_ALIVE_MS, type Trust } from '../../base/net/tls-trust.ts';
import { TokenBucket } from '../../base/system/bounded.ts';
import { NodeError } from './node-error.ts';

/**
 * Bounds all bytes from a connection. HTTP allows much besides headers and bodies, such as interim answers (103) and
 * chunk extensions, which the parser drops silently although reading them takes processor time from the search.
 */
export interface ReadingBound {
  /** Maximum burst for each request. */
  readonly bytes: number;
  /** Maximum average rate after that burst. */
  readonly bytesPerSecond: number;
  readonly fault: string;
}

interface ConnectorOptions {
  readonly trust: Trust;
  readonly timeoutMs: number;
  readonly bound: ReadingBound;
  /** Time on the monotonic clock. */
  readonly nowMs: () => number;
  /**
   * Whether only untrusted peers have named the node. If so, its name must not resolve to this machine or its link.
   */
  readonly isStranger?: boolean | undefined;
}

/**
 * A connection whose certificate is not trusted is closed before any byte of HTTP is sent.
 * @returns a connector for undici's pools, which fails with a system or TLS error, or a NodeError
 */
export function connectorFor(
  origin: string,
  { trust, timeoutMs, bound, nowMs, isStranger = false }: ConnectorOptions,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    // A resumed session shows no certificate, and Node.js does not check the host's name again.
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

/** Checks the addresses of each lookup, since the addresses of a name may change. */
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

function judge(socket: TLSSocket, origin: string, trust: Trust): NodeError | undefined {
  const fault = distrust(socket, { kind: 'node', origin }, trust);
  if (!fault) return undefined;
  const { message, fingerprint } = fault;
  return new NodeError('unreachable', message, { fingerprint });
}

/** Destroys the socket if more is read than allowed. Each request renews the bound, so only one may be in progress. */
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
