import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { commandPath, httpAddress, nodeUrl } from '#pickaxe/config/setting-types/addresses.js';
import { printed } from '#pickaxe/config/setting-types/setting-type.js';

describe('a node URL', () => {
  const schema = nodeUrl.schema(z);

  it.each([
    ['a user', 'http://me@host:1'],
    ['a password alone', 'http://:hunter2@host:1'],
    ['a query', 'http://host:1?key=hunter2'],
    ['a fragment', 'http://host:1/#top'],
    ['a space', 'http://host:1/a b'],
    ['no host', 'http://'],
    ['no port and no scheme', 'host.example'],
    ['a path and no scheme', 'host.example:1848/chainweb/0.0/mainnet01'],
    ['a port that is not a number', 'host.example:99999'],
    ['an IPv6 address without brackets', '::1:1848'],
  ])('is not valid with %s', (_, url) => {
    expect(schema.safeParse('http://host:1/chainweb/0.0/mainnet01').success).toBe(true);
    expect(schema.safeParse(url).success).toBe(false);
  });

  it.each(['localhost:1848', '203.0.113.7:1848', 'node.example:1848', '[::1]:1848'])(
    'gets http:// before %s',
    (text) => {
      expect(schema.parse(text)).toBe(`http://${text}`);
    },
  );
});

test.each([
  ['chain/<chain>/pact/api/v1', true],
  ['/api/v1', true],
  ['', false],
  ['/', false],
  ['chain//v1', false],
  ['../x?y', false],
  ['chain/<other>', false],
  ['http://host:1/api', false],
])('the command path %s is valid: %s', (text, isValid) => {
  expect(commandPath.schema(z).safeParse(text).success).toBe(isValid);
});

test.each([
  ['8080', '127.0.0.1:8080'],
  [':8080', '127.0.0.1:8080'],
  ['rig.example:0', 'rig.example:0'],
  ['[::1]:8080', '[::1]:8080'],
])('HTTP at %s is served at %s', (text, address) => {
  expect(printed(httpAddress, httpAddress.schema(z).parse(text))).toBe(address);
});
