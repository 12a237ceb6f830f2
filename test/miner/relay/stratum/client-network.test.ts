import { expect, it } from 'vitest';
import { networkOf, siteOf } from '#pickaxe/miner/relay/stratum/client-network.js';

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:205', '192.0.2.5'],
  ['0:0:0:0:0:FFFF:c000:0205', '192.0.2.5'],
  ['::c000:205', '0:0:0:0::/64'],
  ['::ffff:0:c000:205', '0:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::5', '2001:db8:0:0::/64'],
  ['2001:0db8:0:0:0:0:0:5', '2001:db8:0:0::/64'],
  ['1::b:c:d:e:f:2', '1:0:b:c::/64'],
  ['1::b:c:d:e:192.0.2.1', '1:0:b:c::/64'],
  ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
])('bans count %s as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
])('connections, lines and the ledger’s lines of %s count as those of %s', (address, network) => {
  expect(siteOf(address)).toBe(network);
});
