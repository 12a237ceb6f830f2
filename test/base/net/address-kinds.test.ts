/** Which addresses a stranger may send a rig to: the first and the last of each range, and their neighbours. */

import { describe, expect, it } from 'vitest';
import { isNearOnly, isPrivate } from '#pickaxe/base/net/connecting.js';

const kindOf = (host: string) => (isNearOnly(host) ? 'near' : isPrivate(host) ? 'private' : 'public');

/** By kind, the ends of ranges. Ranges that follow one another have no neighbours between them. */
const ENDS: Record<ReturnType<typeof kindOf>, readonly string[]> = {
  near: [
    ...['0.0.0.0', '0.255.255.255', '127.0.0.0', '127.255.255.255', '169.254.0.0', '169.254.255.255'],
    ...['224.0.0.0', '239.255.255.255', '240.0.0.0', '255.255.255.255'],
    ...['::', '::1', 'fe80::', 'febf:ffff::', 'ff00::', 'ffff:ffff::'],
    ...['localhost', 'localhost.', 'a.localhost', 'a.b.localhost.'],
    ...['[::1]', '[fe80::1%eth0]', 'fe80::1%eth0'],
  ],
  private: [
    ...['10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255', '172.16.0.0', '172.31.255.255'],
    ...['192.168.0.0', '192.168.255.255', 'fc00::', 'fdff:ffff::', '[fd00::1]'],
  ],
  public: [
    ...['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'],
    ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0'],
    ...['223.255.255.255', '::2', 'fbff:ffff::', 'fe00::', 'fe7f:ffff::', 'fec0::', 'feff:ffff::', '[2001:db8::1]'],
    ...['node.example', 'notlocalhost', 'localhost.example', '10.0.0', ''],
  ],
};

describe.each(Object.entries(ENDS))('%s', (kind, hosts) => {
  it.each(hosts)('%s', (host) => {
    expect(kindOf(host)).toBe(kind);
  });
});
