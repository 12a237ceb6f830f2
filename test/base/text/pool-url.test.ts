import { describe, expect, it } from 'vitest';
import { isPoolUrl, parsePoolUrl } from '#pickaxe/base/text/addresses.js';

describe('the URL of a pool', () => {
  it.each([
    ['stratum+tcp://Pool.Example:3333', 'stratum+tcp://pool.example:3333', 'pool.example', false],
    ['stratum+ssl://203.0.113.7:443/', 'stratum+ssl://203.0.113.7:443', '203.0.113.7', true],
    ['stratum+tls://a:1', 'stratum+ssl://a:1', 'a', true],
    ['ssl://a:1', 'stratum+ssl://a:1', 'a', true],
    ['tcp://[::1]:3333', 'stratum+tcp://[::1]:3333', '::1', false],
    ['stratum://a:65535', 'stratum+tcp://a:65535', 'a', false],
    ['a.example:3333', 'stratum+tcp://a.example:3333', 'a.example', false],
  ])('%s is %s', (text, url, host, tls) => {
    expect(parsePoolUrl(text)).toEqual({ url, host, tls, port: Number(url.split(':').at(-1)) });
  });

  it.each([
    'stratum+tcp://a',
    'stratum+tcp://a:0',
    'stratum+tcp://a:65536',
    'stratum+tcp://user:pass@a:1',
    'stratum+tcp://a:1/path',
    'stratum2+tcp://a:1',
    'http://a:1',
    'a b:1',
    '',
  ])('cannot be “%s”', (text) => {
    expect(parsePoolUrl(text)).toBeUndefined();
  });
});

it('the URL of a pool is told from that of a node by its scheme', () => {
  const pools = [
    'stratum+tcp://a:1',
    'STRATUM+SSL://a',
    'stratum+tls://a',
    'stratum://a',
    'tcp://a:1',
    'ssl://a',
    'tls://a',
  ];
  expect(pools.filter(isPoolUrl)).toEqual(pools);
  expect(['http://a:1', 'https://a', 'a:3333', 'stratum.example', 'ftp://a', ''].filter(isPoolUrl)).toEqual([]);
});
