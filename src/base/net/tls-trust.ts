/** Decides whether to trust the certificate that a node or a pool presents. */

import type { TLSSocket } from 'node:tls';
import { fingerprintOf } from './certificate.ts';

export type Trust =
  /** Trusts a certificate that an authority has signed for this host, and that has not expired. */
  | {
      readonly by: 'authority';
      /** The certificates of the authorities, as PEM texts. The default is Node.js's list. */
      readonly authorities?: readonly string[];
    }
  /** Trusts a certificate with one of these fingerprints (43 characters of Base64Url). Nothing else is checked. */
  | { readonly by: 'fingerprint'; readonly fingerprints: readonly string[] }
  /** Trusts a certificate whose fingerprint is this peer's id. Nothing else is checked. */
  | { readonly by: 'peer id'; readonly id: string }
  /** Trusts every certificate. */
  | { readonly by: 'nothing' };

export const BY_AUTHORITY: Trust = { by: 'authority' };

/**
 * Time without data after which the system begins to send TCP keep-alive probes, one each second. After ten unanswered
 * probes, the system closes the connection. So a dead connection is closed within half a minute.
 */
export const TCP_KEEP_ALIVE_MS = 10_000;

/** Options of each TLS connection whose certificate `distrust` checks. */
export const JUDGED_TLS = {
  // The check of Node.js would close the connection before `distrust` could read the fingerprint.
  rejectUnauthorized: false,
} as const;

/** @returns the TLS option that sets the authorities; no option if Node.js's list applies or no authority is needed */
export function authoritiesOf(trust: Trust): { ca?: string[] } {
  return trust.by === 'authority' && trust.authorities ? { ca: [...trust.authorities] } : {};
}

interface Distrust {
  readonly message: string;
  /** The presented certificate's fingerprint; absent when no certificate was presented. */
  readonly fingerprint?: string;
}

/** The server that presents the certificate. */
interface Server {
  readonly kind: 'node' | 'pool';
  /** The origin of the server's URL. */
  readonly origin: string;
}

/** @returns why the certificate is not trusted; undefined when it is trusted */
export function distrust(socket: TLSSocket, server: Server, trust: Trust): Distrust | undefined {
  if (trust.by === 'nothing') return undefined;
  const { raw } = socket.getPeerCertificate();
  if (!raw) return { message: `${server.origin} has shown no certificate, so ${NOTHING[server.kind]} was sent to it.` };
  const fingerprint = fingerprintOf(raw);
  if (trust.by === 'fingerprint') {
    if (trust.fingerprints.includes(fingerprint)) return undefined;
    return { message: anotherCertificate(server, trust.fingerprints, fingerprint), fingerprint };
  }
  if (trust.by === 'peer id') {
    return trust.id === fingerprint ? undefined : { message: anotherPeer(server, trust.id, fingerprint), fingerprint };
  }
  if (socket.authorized) return undefined;
  return { message: untrusted(server, `${socket.authorizationError}`, fingerprint), fingerprint };
}

const NOTHING = { node: 'no request', pool: 'nothing' } as const;

function anotherCertificate({ kind, origin }: Server, expected: readonly string[], fingerprint: string): string {
  return (
    `${origin} has shown another certificate than the trusted one, so ${NOTHING[kind]} was sent to it: expected ` +
    `${expected.join(' or ')}, presented ${fingerprint}. Ask the ${kind}’s operator whether it has a new certificate. If so, change ` +
    `--${kind}-fingerprint (${kind}.fingerprints); if not, somebody is intercepting the connection.`
  );
}

function anotherPeer({ origin }: Server, id: string, fingerprint: string): string {
  return (
    `the peer at ${origin} has shown another certificate than its id says, so no request was sent to it: expected ${id}, ` +
    `presented ${fingerprint}. Either it has a new certificate, and with it a new id, or somebody is intercepting the connection.`
  );
}

/** @param code the reason, as an error code of OpenSSL or Node.js */
function untrusted({ kind, origin }: Server, code: string, fingerprint: string): string {
  const often = { node: 'Nodes often sign their own certificates', pool: 'Some pools sign their own certificates' }[
    kind
  ];
  return (
    `the certificate of ${origin} is not trusted (${code}), so ${NOTHING[kind]} was sent to it. Its fingerprint is ` +
    `${fingerprint}. ${often}: ask the ${kind}’s operator for the fingerprint, and if it is ` +
    `the same, give --${kind}-fingerprint ${origin}=${fingerprint} (${kind}.fingerprints). For an authority of your own, use ` +
    `--${kind}-ca-file. --insecure-tls accepts every certificate, even that of an attacker.`
  );
}
