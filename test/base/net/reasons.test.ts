import { describe, expect, it } from 'vitest';
import { rootOf, speaksNoTls, whyUnreachable } from '#pickaxe/base/net/connecting.js';

describe('the error of a connection', () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const away = Object.assign(new Error('away'), { code: 'EHOSTUNREACH' });
  const combined = (code?: string) => Object.assign(new AggregateError([refused, away], 'all failed'), { code });

  it.each([
    ['one cause', refused, { code: 'ECONNREFUSED', name: 'Error', message: 'refused' }],
    ['several causes: the first counts', combined(), { code: 'ECONNREFUSED', name: 'Error', message: 'refused' }],
    ['a code of its own', combined('ETIMEDOUT'), { code: 'ETIMEDOUT', name: 'AggregateError', message: 'all failed' }],
    [
      'causes that are nested',
      new AggregateError([combined()]),
      { code: 'ECONNREFUSED', name: 'Error', message: 'refused' },
    ],
    ['no causes', new AggregateError([], 'none'), { code: '', name: 'AggregateError', message: 'none' }],
    ['a code that is a number', Object.assign(new Error('x'), { code: 7 }), { code: '', name: 'Error', message: 'x' }],
    ['nothing but a text', 'it broke', { code: '', name: '', message: 'it broke' }],
    ['nothing at all', undefined, { code: '', name: '', message: 'undefined' }],
  ])('with %s', (_, error, root) => {
    expect(rootOf(error)).toEqual(root);
  });
});

it.each([
  ['ECONNREFUSED', 'node', 'nothing listens there. Is the node running, and is this its mining port?'],
  ['ECONNREFUSED', 'pool', 'nothing listens there. Is this a port of the pool, and is the pool up?'],
  ['ECONNREFUSED', 'server', 'nothing listens there. Is the NATS server running, and is this its port for clients?'],
  ['ENOTFOUND', 'node', 'there is no host of that name. Check the node URL.'],
  ['ENOTFOUND', 'pool', 'there is no host of that name. Check the pool URL.'],
  ['ETIMEDOUT', 'pool', 'it does not accept the connection. Check the address, the port and firewalls.'],
  ['EPIPE', 'node', undefined],
  // A name that every object has.
  ['constructor', 'node', undefined],
] as const)('%s of a %s has its reason', (code, kind, why) => {
  expect(whyUnreachable(code, kind)).toBe(why);
});

it.each([
  ['ERR_SSL_WRONG_VERSION_NUMBER', true],
  ['EPROTO', true],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', true],
  ['CERT_HAS_EXPIRED', false],
  ['', false],
])('%s: whether the port has no TLS is %s', (code, answer) => {
  expect(speaksNoTls(code)).toBe(answer);
});
