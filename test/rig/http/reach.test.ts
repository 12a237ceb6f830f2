import { describe, expect, test } from 'vitest';
import { formatHttpAddress } from '#pickaxe/base/text/addresses.js';
import { reachableHost } from '#pickaxe/rig/http/http-server.js';

const address = (address: string, family: 'IPv4' | 'IPv6', internal = false) => ({ address, family, internal });
const LOOPBACK = [address('127.0.0.1', 'IPv4', true), address('::1', 'IPv6', true)];

test('URLs have IPv6 addresses in brackets', () => {
  const addresses = [
    { host: '127.0.0.1', port: 80 },
    { host: '::', port: 8080 },
  ];
  expect(addresses.map(formatHttpAddress)).toEqual(['127.0.0.1:80', '[::]:8080']);
});

describe('the address by which other machines reach a server', () => {
  const both = { lo: LOOPBACK, eth0: [address('fe80::1', 'IPv6'), address('192.0.2.5', 'IPv4')] };
  const ipv6 = { lo: LOOPBACK, eth0: [address('fe80::1', 'IPv6'), address('2001:db8::5', 'IPv6')] };

  test.each([
    ['0.0.0.0', both, '192.0.2.5'],
    ['::', both, '192.0.2.5'],
    ['0.0.0.0', ipv6, undefined],
    ['::', ipv6, '2001:db8::5'],
    ['0.0.0.0', { lo: LOOPBACK }, undefined],
    ['::', { lo: LOOPBACK, eth0: undefined }, undefined],
    ['127.0.0.1', both, undefined],
    ['192.0.2.5', both, undefined],
  ])('is found only if the server listens on all addresses: %s', (host, interfaces, expected) => {
    expect(reachableHost(host, interfaces)).toBe(expected);
  });
});
