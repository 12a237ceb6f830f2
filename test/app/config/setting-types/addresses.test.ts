import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { commandPath, httpAddress, nodeUrl, peerUrl, poolUrl } from '#pickaxe/app/config/setting-types/addresses.js';
import { printed, whyOf } from '#pickaxe/app/config/setting-types/basic.js';

describe('a node URL', () => {
  const schema = nodeUrl.schema(z);

  it.each([
    ['a user', 'http://me@host:1'],
    ['a password alone', 'http://:hunter2@host:1'],
    ['a query', 'http://host:1?key=hunter2'],
    ['a fragment', 'http://host:1/#top'],
    ['a space', 'http://host:1/a b'],
    ['no host', 'http://'],
    ['another scheme', 'ftp://host:1'],
    ['the scheme of a pool', 'stratum+tcp://host:3333'],
    ['a user and no scheme', 'me:hunter2@host'],
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

  it.each([
    ['localhost', 'http://localhost:1848'],
    ['10.0.0.5', 'http://10.0.0.5:1848'],
    ['[::1]', 'http://[::1]:1848'],
    ['host.example/KEY', 'http://host.example:1848/KEY'],
    ['host.example:1/chainweb/0.0/mainnet01', 'http://host.example:1/chainweb/0.0/mainnet01'],
    ['https://host.example', 'https://host.example'],
  ])('%s without a port is %s', (text, url) => {
    expect(schema.parse(text)).toBe(url);
    expect(new RegExp((z.toJSONSchema(schema, { io: 'input' }) as { pattern: string }).pattern).test(text)).toBe(true);
  });

  it.each([
    ['stratum+tcp://host:3333', 'this is the URL of a pool, which belongs to --pool'],
    ['ssl://host:3333', 'this is the URL of a pool, which belongs to --pool'],
    ['ftp://host', 'a node has no ftp://'],
    ['me:hunter2@host', 'it must have no user and password'],
    ['host?x', 'it must have no "?" or "#"'],
    ['::1', 'an IPv6 address is written in brackets'],
    ['host:99999', 'it is not the URL of a host'],
  ])('is refused in words that name the fault: %s', (text, why) => {
    const { issues } = schema.safeParse(text).error!;
    expect(whyOf(issues as Parameters<typeof whyOf>[0])).toContain(why);
  });

  it.each([
    ['a'.repeat(20), 'a'.repeat(20)],
    ['a'.repeat(21), `${'a'.repeat(19)}…`],
    ['a'.repeat(300), `${'a'.repeat(19)}…`],
  ])('with the scheme %s names at most 20 of its characters', (scheme, named) => {
    const { issues } = schema.safeParse(`${scheme}://host`).error!;
    expect(whyOf(issues as Parameters<typeof whyOf>[0])).toContain(`a node has no ${named}://`);
  });

  it('of a P2P port needs a port', () => {
    const peer = peerUrl.schema(z);
    expect(peer.safeParse('host.example').success).toBe(false);
    expect(peer.parse('host.example:1789')).toBe('http://host.example:1789');
  });
});

describe('a pool URL', () => {
  it.each([
    ['stratum1+ssl://host:1', 'stratum+ssl://host:1'],
    ['stratum1+tcp://host:1', 'stratum+tcp://host:1'],
    ['stratum://host:1/', 'stratum+tcp://host:1'],
    ['stratum+tcp://host:1#xnsub', 'stratum+tcp://host:1'],
    ['stratum+tcp://host:1/#xnsub', 'stratum+tcp://host:1'],
    ['stratum+tcp://[FE80::1%eth0]:1', 'stratum+tcp://[fe80::1%eth0]:1'],
    ['stratum+tcp://[fe80::1%25Wi-Fi]:1', 'stratum+tcp://[fe80::1%Wi-Fi]:1'],
    ['stratum+tcp://Bücher.example:1', 'stratum+tcp://xn--bcher-kva.example:1'],
    ['stratum+tcp://矿池.example:1', 'stratum+tcp://xn--btwv1w.example:1'],
  ])('%s is understood as %s', (text, url) => {
    expect(poolUrl.schema(z).parse(text)).toBe(url);
    expect(poolUrl.schema(z).parse(url)).toBe(url);
  });

  it.each([
    ['http://host:1848', 'this is the URL of a node, which belongs to --node'],
    ['stratum+tcp://host', 'it has no port'],
    ['stratum2+tcp://host:1', 'stratum2'],
    ['stratum+tcp:/host:1', 'two slashes'],
    ['http://stratum+tcp://host:1', 'two schemes'],
    ['stratum+tcp://http://host:1', 'two schemes'],
    ['"stratum+tcp://host:1"', 'a quote'],
    ['“stratum+tcp://host:1”', 'a quote'],
    ['stratum+tcp://host: 1', 'a space'],
    ['stratum+tcp://host:1/rig1', 'nothing belongs after the port'],
    ['stratum+tcp://host:1#rig1', 'nothing belongs after the port'],
    ['stratum+tcp://host:1?x=1', 'nothing belongs after the port'],
    ['stratum+tcp://host:1;', 'it has a ";"'],
    ['stratum+tcp://host:1,', 'it has a ","'],
    ['', 'a comma too many'],
    ['stratum+tcp://host:0', 'its port is not'],
    ['stratum+tcp://host:65536', 'its port is not'],
    ['stratum+tcp://::1:3333', 'in brackets'],
    ['bob@host:1', 'belong to --user'],
    ['stratum+udp://host:1', 'a pool has no stratum+udp://'],
    ['stratum+tcp://[host]:1', 'neither a name nor an address'],
  ])('is refused in words that name the fault: %s', (text, why) => {
    const { issues } = poolUrl.schema(z).safeParse(text).error!;
    expect(whyOf(issues as Parameters<typeof whyOf>[0])).toContain(why);
  });
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
