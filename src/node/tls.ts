/** Connections to a node. An https connection is made only if the node's certificate is trusted. */

import type { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { fingerprintOf } from './certificate.ts';
import { NodeError } from './errors.ts';

/** What makes a node's certificate trusted. */
export type Trust =
  /** An authority has signed it for this host, and it is valid now. */
  | {
      readonly by: 'authority';
      /** Certificates of the authorities, PEM. By default those that Node.js brings. */
      readonly authorities?: readonly string[];
    }
  /** It has one of these fingerprints (43 characters of Base64Url each), whoever signed it and whatever it says. */
  | { readonly by: 'fingerprint'; readonly fingerprints: readonly string[] }
  /** Any certificate is trusted. */
  | { readonly by: 'nothing' };

/** The rule of the web. */
export const BY_AUTHORITY: Trust = { by: 'authority' };

/**
 * After this silence the system probes a connection (TCP keep-alive), and gives it up when ten probes in ten seconds have
 * no answer. So a stream whose other end is gone ends within half a minute.
 */
const TCP_KEEP_ALIVE_MS = 10_000;

/**
 * Makes a connector for undici's pools. A connection whose certificate is not trusted ends before any byte of HTTP is
 * sent.
 * @param origin the node's, for messages
 * @returns a connector whose errors are those of the system, those of TLS, or a NodeError about the certificate
 */
export function connectorFor(origin: string, trust: Trust, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    // The certificate is judged below: Node.js would end the connection before its fingerprint can be read.
    rejectUnauthorized: false,
    // A resumed session shows no certificate, and the host's name is not checked again.
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

/** @returns why the certificate of the other side is not trusted; undefined when it is */
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

/** @param code the reason, as OpenSSL and Node.js call it */
function untrusted(origin: string, code: string, fingerprint: string): NodeError {
  const message =
    `the certificate of ${origin} is not trusted (${code}), so no request was sent to it. Its fingerprint is ` +
    `${fingerprint}. Nodes often sign their own certificates: ask the node’s operator for the fingerprint, and if it is ` +
    `the same, give --node-fingerprint ${origin}=${fingerprint} (node.fingerprints). For an authority of your own, use ` +
    '--node-ca-file. --insecure-tls accepts every certificate, even that of an attacker.';
  return new NodeError('unreachable', message, { fingerprint });
}
