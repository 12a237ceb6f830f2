/** Why there is no connection to a NATS server, in sentences for people. */

import { AuthorizationError, UserAuthenticationExpiredError } from '@nats-io/transport-node';
import { rootOf, speaksNoTls, whyUnreachable } from '../../base/net/connecting.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { TransportError } from './transport.ts';

export interface Fault {
  readonly reason: string;
  /** Whether the server refuses this member's credentials, so that another attempt would hardly succeed soon. */
  readonly isRefusal: boolean;
}

/** Matches the codes of OpenSSL and Node.js for a certificate that is not trusted, or is for another name. */
const CERTIFICATE = /CERT|SIGNATURE|ISSUER|^ERR_TLS/;

/** The server's message if the account of the member's key already has its maximum number of connections. */
const TOO_MANY_CONNECTIONS = /maximum account active connections exceeded/i;

/**
 * @param server the server's URL
 * @param fault what the client library or the system has thrown; undefined if the connection has ended without an error
 */
export function faultOf(fault: unknown, server: string, hasCredentials: boolean): Fault {
  if (isRefusal(fault)) return { reason: refusal(server, hasCredentials), isRefusal: true };
  return { reason: ordinary(fault, server), isRefusal: false };
}

function isRefusal(fault: unknown): boolean {
  if (fault instanceof UserAuthenticationExpiredError) return true;
  // A server that is too busy to check credentials in time reports the same error, but its message is about a timeout.
  return fault instanceof AuthorizationError && !/timeout/i.test(fault.message);
}

function refusal(server: string, hasCredentials: boolean): string {
  return hasCredentials
    ? `${server} refuses this member’s credentials: they are not known there, or were revoked. Ask the fleet’s operator for new ones (--nats-credentials).`
    : `${server} asks for credentials: give the file that pickaxe fleet keys has written for this member (--nats-credentials).`;
}

function ordinary(fault: unknown, server: string): string {
  if (fault === undefined) return `${server} has closed the connection, or does not answer any more.`;
  const { code, name, message } = rootOf(fault);
  const unreachable = whyUnreachable(code, 'server');
  if (unreachable) return `${server} cannot be reached: ${unreachable}`;
  if (name === 'TimeoutError') return `${server} does not answer. Check the address, the port and firewalls.`;
  if (fault instanceof TransportError && fault.lacksTls) {
    return (
      `${server} offers no TLS, so nothing was sent to it. Either its configuration has no certificate, and its URL ` +
      'begins with nats://, or somebody is intercepting the connection.'
    );
  }
  if (TOO_MANY_CONNECTIONS.test(message)) {
    return (
      `${server} takes no further connection with this member’s key: it has too many. If this member runs once, others ` +
      'use its key, or that of a member which shares its account: let the fleet’s operator revoke it.'
    );
  }
  if (speaksNoTls(code)) return `${server} asks for TLS, but does not speak it: ${oneLine(message, 200)}.`;
  if (CERTIFICATE.test(code)) {
    return (
      `the certificate of ${server} is not trusted (${code}), so nothing was sent to it. For an authority of your own, ` +
      'give its certificate (--nats-ca-file).'
    );
  }
  return `${server} cannot be used: ${oneLine(message, 200)}.`;
}
