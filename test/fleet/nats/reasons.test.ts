import { AuthorizationError, UserAuthenticationExpiredError } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { faultOf } from '#pickaxe/fleet/nats/reasons.js';
import { TransportError } from '#pickaxe/fleet/nats/transport.js';

const SERVER = 'nats://hub:4222';
const coded = (code: string, message = code) => Object.assign(new Error(message), { code });

it.each([
  ['no error', undefined, `${SERVER} has closed the connection, or does not answer any more.`],
  [
    'a time limit',
    new DOMException('no end within 5 ms', 'TimeoutError'),
    `${SERVER} does not answer. Check the address, the port and firewalls.`,
  ],
  ['a refused connection', coded('ECONNREFUSED'), /^nats:\/\/hub:4222 cannot be reached: nothing listens there\./],
  [
    'a server without TLS',
    new TransportError('the server offers no TLS', true),
    `${SERVER} offers no TLS, so nothing was sent to it. Either its configuration has no certificate, and its URL ` +
      'begins with nats://, or somebody is intercepting the connection.',
  ],
  [
    'a server that only asks for TLS',
    coded('ERR_SSL_WRONG_VERSION_NUMBER', 'wrong version number'),
    `${SERVER} asks for TLS, but does not speak it: wrong version number.`,
  ],
  ['a long reason', new Error('x'.repeat(201)), `${SERVER} cannot be used: ${'x'.repeat(199)}….`],
  ['a reason of two lines', new Error(`a\n${'x'.repeat(198)}`), `${SERVER} cannot be used: a ${'x'.repeat(198)}.`],
  [
    'another fault of the transport',
    new TransportError('the server’s message\nis too long'),
    `${SERVER} cannot be used: the server’s message is too long.`,
  ],
  [
    'too many connections',
    new Error("'maximum account active connections exceeded'"),
    `${SERVER} takes no further connection with this member’s key: it has too many. If this member runs once, others ` +
      'use its key, or that of a member which shares its account: let the fleet’s operator revoke it.',
  ],
  [
    'a certificate of nobody',
    coded('DEPTH_ZERO_SELF_SIGNED_CERT'),
    `the certificate of ${SERVER} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT), so nothing was sent to it. For an ` +
      'authority of your own, give its certificate (--nats-ca-file).',
  ],
  [
    'a certificate of another',
    coded('ERR_TLS_CERT_ALTNAME_INVALID'),
    /is not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
  ],
  [
    'a server that is too busy to check credentials',
    new AuthorizationError("'Authentication Timeout'"),
    `${SERVER} cannot be used: 'Authentication Timeout'.`,
  ],
])('a connection that ended with %s says so, and is tried again soon', (_, fault, reason) => {
  for (const hasCredentials of [true, false]) {
    const found = faultOf(fault, SERVER, hasCredentials);
    if (typeof reason === 'string') expect(found.reason).toBe(reason);
    else expect(found.reason).toMatch(reason);
    expect(found.isRefusal).toBe(false);
  }
});

it.each([
  ['refuses credentials', new AuthorizationError("'Authorization Violation'")],
  ['finds them expired', new UserAuthenticationExpiredError("'User Authentication Expired'")],
])('a server that %s is told from one that asks for some', (_, fault) => {
  expect(faultOf(fault, SERVER, true)).toEqual({
    reason:
      `${SERVER} refuses this member’s credentials: they are not known there, or were revoked. ` +
      'Ask the fleet’s operator for new ones (--nats-credentials).',
    isRefusal: true,
  });
  expect(faultOf(fault, SERVER, false)).toEqual({
    reason:
      `${SERVER} asks for credentials: give the file that pickaxe fleet keys has written for this member ` +
      '(--nats-credentials).',
    isRefusal: true,
  });
});
