/** Finds the network of a client's address. Limits and bans apply to networks. Pure. */

import { isIPv6, SocketAddress } from 'node:net';

/**
 * Length of an IPv6 prefix that one customer may have: providers usually assign a /48, which contains 65,536 /64
 * networks.
 */
const SITE_BITS = 48;

/**
 * Limits per address apply to sites: all addresses with the same result count as one.
 * @returns an IPv4 address unchanged, or the /48 network of an IPv6 address
 */
export function siteOf(address: string): string {
  return networkOf(address, SITE_BITS);
}

/**
 * @param bits length of the IPv6 prefix, a multiple of 16. The default is 64, because one client usually controls a /64
 * @returns an IPv4 address unchanged, or the network of an IPv6 address, such as `2001:db8:0:0::/64`
 */
export function networkOf(address: string, bits = 64): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head, tail] = plain.replace(/%.*$/, '').split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail ? tail.split(':') : [];
  const zeros = 8 - groups.length - last.length - (plain.includes('.') ? 1 : 0);
  const all = [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...last];
  return `${all
    .slice(0, bits / 16)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/${bits}`;
}

const MAPPED = '::ffff:';

/**
 * @returns the IPv4 address in an IPv4-mapped IPv6 address such as `::ffff:192.0.2.5` (RFC 4291 §2.5.5.2); any other
 *   address unchanged
 */
export function plainAddress(address: string): string {
  if (!isIPv6(address)) return address;
  // `SocketAddress` writes an IPv4-mapped address with dots, whatever its form was.
  const written = new SocketAddress({ address, family: 'ipv6' }).address;
  return written.startsWith(MAPPED) && written.includes('.') ? written.slice(MAPPED.length) : address;
}
