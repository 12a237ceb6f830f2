/**
 * Makes connections to a node. An https connection is used only if the node's certificate is trusted, and what is read
 * of a connection is bounded.
 */

import { lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { isNearOnly } from '../net/connecting.ts';
import { authoritiesOf, distrust, JUDGED_TLS, TCP_KEEP_ALIVE_MS, type Trust } from '../net/trust.ts';
import { TokenBucket } from '../system/bounded.ts';
import { NodeError } from './errors.ts';

/**
 * What a node may send over a connection, counted in bytes of the socket. HTTP allows much that is neither a header nor
 * a part of the body, such as interim answers (103) and chunk extensions, and the parser drops these without a word.
 * Reading them takes processor time from the search.
 */
export interface ReadingBound {
  /** Number of bytes that may come at once, for each request. */
  readonly bytes: number;
  /** Number of bytes that may come each second after that. */
  readonly bytesPerSecond: number;
  /** For people: what is wrong when there are more. */
  readonly fault: string;
}

interface ConnectorOptions {
  readonly trust: Trust;
  readonly timeoutMs: number;
  readonly bound: ReadingBound;
  /** A monotonic clock. */
  readonly nowMs: () => number;
  /** Whether only strangers have named the node: then its name may not lead to this machine or its link. */
  readonly isStranger?: boolean | undefined;
}

/**
 * Makes a connector for undici's pools. A connection whose certificate is not trusted is closed before any byte of HTTP
 * is sent.
 * @param origin the node's origin, for messages
 * @returns a connector. It fails with errors of the system or of TLS, or with a NodeError about the certificate
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
  return new NodeError('unreachable', message, { fingerprint });
}

/**
 * Destroys the socket with a NodeError when more is read than the bound allows. Each request on the socket begins anew;
 * no more than one may be under way.
 * @param nowMs a monotonic clock
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
