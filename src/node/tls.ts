/** Connections to a node, https ones only to a certificate that is trusted. */

import type { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { fingerprintOf } from './certificate.ts';
import { NodeError } from './errors.ts';

/** What makes a node's certificate trusted. */
export type Trust =
  /** An authority has signed it, for this host and for now. */
  | {
      readonly by: 'authority';
      /** Certificates of the authorities, PEM: by default those that Node.js brings. */
      readonly authorities?: readonly string[];
    }
  /** It is one of these, whoever has signed it and whatever name and dates it has: 43 characters of Base64Url each. */
  | { readonly by: 'fingerprint'; readonly fingerprints: readonly string[] }
  /** Nothing: any will do. */
  | { readonly by: 'nothing' };

/** What most of the web goes by. */
export const BY_AUTHORITY: Trust = { by: 'authority' };

/**
 * The system tries a connection that is silent for so long, and gives it up when ten tries in as many seconds have no
 * answer: so a stream whose other end is gone ends within half a minute.
 */
const TCP_KEEP_ALIVE_MS = 10_000;

/**
 * For undici's pools. A connection whose certificate is not trusted ends before any byte of HTTP is sent.
 * @param origin for people
 * @returns a connector whose errors are those of the system, of TLS, or a NodeError about the certificate
 */
export function connectorFor(origin: string, trust: Trust, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    // What Node.js finds wrong is judged below: it would end the connection before the certificate can be told.
    rejectUnauthorized: false,
    // A resumed session brings no certificate, and its host's name is not checked again.
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

/** @returns why the certificate on a connection's other side is not trusted; undefined when it is */
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
    `${origin} has shown another certificate than the one that is trusted, so no request was sent to it: expected ` +
    `${fingerprints.join(' or ')}, presented ${fingerprint}. Ask whoever runs the node whether it has a new one: if so, change ` +
    '--node-fingerprint (node.fingerprints); if not, somebody is in between.';
  return new NodeError('unreachable', message, { fingerprint });
}

/** @param code why, as OpenSSL and Node.js call it */
function untrusted(origin: string, code: string, fingerprint: string): NodeError {
  const message =
    `the certificate of ${origin} is not trusted (${code}), so no request was sent to it. Its fingerprint is ` +
    `${fingerprint}. Nodes often sign their own: compare it with what whoever runs the node tells you, and if they are ` +
    `the same, give --node-fingerprint ${origin}=${fingerprint} (node.fingerprints). For an authority of your own there ` +
    'is --node-ca-file; --insecure-tls takes any certificate, also that of somebody in between.';
  return new NodeError('unreachable', message, { fingerprint });
}
