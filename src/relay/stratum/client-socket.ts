/** What comes before the first line of a client: the header of a proxy, and the handshake of TLS. */

import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import { parseProxyHeader } from '../../wire/proxy-protocol.ts';
import type { Refusal } from './limits.ts';

/** A client whose connection cannot be used. */
export class HandshakeError extends Error {
  override readonly name = 'HandshakeError';
  /** What it counts as; undefined when the client has gone by itself, as health checks do. */
  readonly refusal: Refusal | undefined;

  constructor(message: string, refusal?: Refusal) {
    super(message);
    this.refusal = refusal;
  }
}

const GONE = 'it has closed the connection';

/**
 * Reads the header of a proxy, and leaves what follows unread.
 * @returns the address of the proxy's client; undefined when the connection is the proxy's own
 * @throws HandshakeError when there is no valid header within the time
 */
export function readProxyHeader(socket: Socket, patienceMs: number): Promise<string | undefined> {
  return settle(socket, patienceMs, 'the header of the proxy did not come', (done) => {
    let bytes = Buffer.alloc(0);
    const read = () => {
      for (let piece = socket.read() as Buffer | null; piece; piece = socket.read() as Buffer | null) {
        bytes = Buffer.concat([bytes, piece]);
      }
      const header = parseProxyHeader(bytes);
      if (header.kind === 'incomplete') return;
      socket.off('readable', read);
      if (header.kind === 'invalid') {
        done(new HandshakeError(`the header of the proxy is wrong: ${header.why}`, 'handshake'));
      } else {
        const rest = bytes.subarray(header.bytes);
        if (rest.length > 0) socket.unshift(rest);
        done(undefined, header.address);
      }
    };
    socket.on('readable', read);
    return () => socket.off('readable', read);
  });
}

/**
 * @returns the encrypted connection
 * @throws HandshakeError when there is none within the time
 */
export function encrypted(socket: Socket, secureContext: SecureContext, patienceMs: number): Promise<Socket> {
  const secured = new TLSSocket(socket, { isServer: true, secureContext });
  return settle<Socket>(secured, patienceMs, 'the handshake of TLS did not come', (done) => {
    const succeed = () => done(undefined, secured);
    const fail = ({ code }: NodeJS.ErrnoException) =>
      done(isNoTls(code) ? new HandshakeError('the handshake of TLS failed', 'handshake') : new HandshakeError(GONE));
    secured.once('secure', succeed);
    // Errors of later times are heard by the connection.
    secured.on('error', fail);
    return () => secured.off('secure', succeed);
  });
}

/**
 * Whether what the client sent is no TLS, or none that can be spoken here. A client that hangs up, resets the connection or says by
 * an alert that it does not trust the certificate has done nothing wrong.
 */
function isNoTls(code = ''): boolean {
  return code.startsWith('ERR_SSL_') && !code.includes('_ALERT_');
}

type Done<Value> = (fault: HandshakeError | undefined, value?: Value) => void;

/** @param begin begins the work, and returns what undoes its listeners */
function settle<Value>(
  socket: Socket,
  patienceMs: number,
  tooLate: string,
  begin: (done: Done<Value>) => () => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const closed = () => done(new HandshakeError(GONE));
    const timer = setTimeout(() => done(new HandshakeError(tooLate, 'timeout')), patienceMs);
    const done: Done<Value> = (fault, value) => {
      clearTimeout(timer);
      socket.off('close', closed);
      release();
      if (fault) reject(fault);
      else resolve(value as Value);
    };
    socket.on('close', closed);
    const release = begin(done);
  });
}
