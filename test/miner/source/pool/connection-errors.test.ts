/** What people are told of a connection to a pool that fails, and whether another one may soon work. */

import { expect, it } from 'vitest';
import { connectionError, PoolError } from '#pickaxe/miner/source/pool/pool-messages.js';

const PLAIN = 'stratum+tcp://pool.example:3333';
const TLS = 'stratum+ssl://pool.example:3333';
const HINT = ' Does this port speak TLS? If it does not, use stratum+tcp:// instead of stratum+ssl://.';
const coded = (code: string, message = 'it says so') => Object.assign(new Error(message), { code });

it.each<[what: string, cause: unknown, url: string, isNew: boolean, fault: string, message: string | RegExp]>([
  ['refused', coded('ECONNREFUSED'), PLAIN, true, 'network', /^cannot reach stratum\+tcp\S+ \(ECONNREFUSED\): nothing/],
  ['unknown name', coded('ENOTFOUND'), TLS, true, 'network', /^cannot reach stratum\+ssl\S+ \(ENOTFOUND\): /],
  [
    'no answer in time',
    new DOMException('no end within 5 ms', 'TimeoutError'),
    PLAIN,
    true,
    'network',
    `cannot reach ${PLAIN}: it does not accept the connection. Check the address, the port and firewalls.`,
  ],
  [
    'no TLS',
    coded('ERR_SSL_WRONG_VERSION_NUMBER'),
    TLS,
    true,
    'refused',
    'the pool does not speak TLS: use stratum+tcp:// instead of stratum+ssl://.',
  ],
  ['broken', coded('ECONNRESET'), PLAIN, false, 'network', `the connection to ${PLAIN} broke (ECONNRESET).`],
  ['broken at once', coded('ECONNRESET'), PLAIN, true, 'network', `the connection to ${PLAIN} broke (ECONNRESET).`],
  ['broken, with TLS', coded('ECONNRESET'), TLS, false, 'network', `the connection to ${TLS} broke (ECONNRESET).`],
  [
    'broken at once, with TLS',
    coded('ECONNRESET'),
    TLS,
    true,
    'network',
    `the connection to ${TLS} broke (ECONNRESET).${HINT}`,
  ],
  [
    'broken without a code',
    new Error('all\nis lost'),
    PLAIN,
    false,
    'network',
    `the connection to ${PLAIN} broke (all is lost).`,
  ],
])('%s', (_, cause, url, isNew, fault, message) => {
  const error = connectionError(cause, url, isNew);
  expect(error.fault).toBe(fault);
  if (typeof message === 'string') expect(error.message).toBe(message);
  else expect(error.message).toMatch(message);
});

it('an error of the pool itself is the one that is told', () => {
  const error = new PoolError('intended', 'closed.');
  expect(connectionError(error, PLAIN)).toBe(error);
});

it('a connection that is not said to be new is an old one', () => {
  expect(connectionError(coded('ECONNRESET'), TLS).message).not.toContain(HINT);
});
