/** Opens connections to a pool. One with TLS is used only if the pool's certificate is trusted. */

import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { isPrivate } from '../../net/near-addresses.ts';
import { authoritiesOf, distrust, JUDGED_TLS, TCP_KEEP_ALIVE_MS, type Trust } from '../../net/trust.ts';
import { onAbort, within } from '../../system/abort.ts';
import type { PoolAddress } from '../../text/pool-url.ts';
import { connectionError, PoolError } from './errors.ts';

export interface ConnectionOptions {
  readonly trust: Trust;
  readonly timeoutMs: number;
  /** Whether the host must have an address of the Internet. */
  readonly mustBePublic: boolean;
}

/**
 * @returns a connection on which nothing was sent yet
 * @throws PoolError
 */
export async function openConnection(
  { host, port, tls, url }: PoolAddress,
  { trust, timeoutMs, mustBePublic }: ConnectionOptions,
  stop: AbortSignal,
): Promise<Socket> {
  const options = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS };
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket = tls
    ? connectTls({ ...options, ...servername, ...JUDGED_TLS, ...authoritiesOf(trust) })
    : connect(options);
  // `once` no longer listens after the connection was made, and an error that nobody hears ends the process.
  socket.on('error', () => {});
  try {
    await within(timeoutMs, stop, async (signal) => {
      const release = onAbort(signal, () => socket.destroy(signal.reason));
      try {
        await once(socket, tls ? 'secureConnect' : 'connect');
      } finally {
        release();
      }
    });
  } catch (fault) {
    socket.destroy();
    throw connectionError(fault, url);
  }
  // A name can lead anywhere, which is known only now.
  if (mustBePublic && isPrivate(socket.remoteAddress ?? '')) {
    socket.destroy();
    throw new PoolError('refused', `${url} is in a private network, and a pool of the Internet cannot lead there.`);
  }
  const fault = tls ? distrust(socket as TLSSocket, { kind: 'pool', origin: url }, trust) : undefined;
  if (!fault) return socket;
  socket.destroy();
  throw new PoolError('refused', fault.message, { fingerprint: fault.fingerprint });
}
