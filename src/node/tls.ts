/** Makes connections to a node. An https connection is used only if the node's certificate is trusted. */

import type { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { fingerprintOf } from './certificate.ts';
import { NodeError } from './errors.ts';

/** What makes a node's certificate trusted. */
export type Trust =
  /** An authority has signed the certificate for this host, and it is valid now. */
  | {
      readonly by: 'authority';
      /** The authorities' certificates, as PEM texts. The default is Node.js's list. */
      readonly authorities?: readonly string[];
    }
  /** The certificate has one of these fingerprints (43 characters of Base64Url each). Nothing else is checked. */
  | { readonly by: 'fingerprint'; readonly fingerprints: readonly string[] }
  /** Any certificate is trusted. */
  | { readonly by: 'nothing' };

/** The usual rule: Node.js's authorities are trusted. */
export const BY_AUTHORITY: Trust = { by: 'authority' };

/**
 * After this silence the system probes a connection (TCP keep-alive). When ten probes within ten seconds have no answer, it
 * closes the connection. So a stream whose other side is gone ends within half a minute.
 */
const TCP_KEEP_ALIVE_MS = 10_000;

/**
 * Makes a connector for undici's pools. A connection whose certificate is not trusted is closed before any byte of HTTP is
 * sent.
 * @param origin the node's origin, for messages
 * @returns a connector. It fails with errors of the system or of TLS, or with a NodeError about the certificate
 */
export function connectorFor(origin: string, trust: Trust, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    // The certificate is judged below. Node.js's own check would close the connection before the fingerprint can be read.
    rejectUnauthorized: false,
    // A resumed session shows no certificate, and Node.js does not check the host's name again.
    maxCachedSessions: 0,
    ...(trust.by === 'authority' && trust.authorities && { ca: [...trust.authorities] }),
  });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const fault = options.protocol === 'https:' ? judge(socket as TLSSocket, origin, trust) : undefined;
      if (!fault) return callback(null, socket);
      socket.destroy();
      callback(fault, null);
    });
}

/** @returns why the node's certificate is not trusted; undefined when it is */
function judge(socket: TLSSocket, origin: string, trust: Trust): NodeError | undefined {
  if (trust.by === 'nothing') return undefined;
  const { raw } = socket.getPeerCertificate();
  if (!raw) return new NodeError('unreachable', `${origin} has shown no certificate, so no request was sent to it.`);
  const fingerprint = fingerprintOf(raw);
  if (trust.by === 'fingerprint') {
    return trust.fingerprints.includes(fingerprint) ? undefined : anotherCertificate(origin, trust, fingerprint);
  }
  return socket.authorized ? undefined : untrusted(origin, `${socket.authorizationError}`, fingerprint);
}

function anotherCertificate(
  origin: string,
  { fingerprints }: { readonly fingerprints: readonly string[] },
  fingerprint: string,
): NodeError {
  const message =
    `${origin} has shown another certificate than the trusted one, so no request was sent to it: expected ` +
    `${fingerprints.join(' or ')}, presented ${fingerprint}. Ask the node’s operator whether it has a new certificate. If so, change ` +
    '--node-fingerprint (node.fingerprints); if not, somebody is intercepting the connection.';
  return new NodeError('unreachable', message, { fingerprint });
}

/** @param code OpenSSL's or Node.js's code for the reason */
function untrusted(origin: string, code: string, fingerprint: string): NodeError {
  const message =
    `the certificate of ${origin} is not trusted (${code}), so no request was sent to it. Its fingerprint is ` +
    `${fingerprint}. Nodes often sign their own certificates: ask the node’s operator for the fingerprint, and if it is ` +
    `the same, give --node-fingerprint ${origin}=${fingerprint} (node.fingerprints). For an authority of your own, use ` +
    '--node-ca-file. --insecure-tls accepts every certificate, even that of an attacker.';
  return new NodeError('unreachable', message, { fingerprint });
}
