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
  ['a server without TLS', new TransportError('the server offers no TLS', true), / offers no TLS, so nothing was sent/],
  [
    'another fault of the transport',
    new TransportError('the server’s message\nis too long'),
    `${SERVER} cannot be used: the server’s message is too long.`,
  ],
  [
    'too many connections',
    new Error("'maximum account active connections exceeded'"),
    / takes no further connection with this member’s key/,
  ],
  [
    'a certificate of nobody',
    coded('DEPTH_ZERO_SELF_SIGNED_CERT'),
    /^the certificate of nats:\/\/hub:4222 is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
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
    reason: expect.stringContaining('refuses this member’s credentials'),
    isRefusal: true,
  });
  expect(faultOf(fault, SERVER, false)).toEqual({
    reason: expect.stringContaining('asks for credentials: give the file'),
    isRefusal: true,
  });
});
