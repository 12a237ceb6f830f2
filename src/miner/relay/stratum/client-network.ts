/** The network of a client's address, to which limits and bans apply. Pure. */

import { isIPv6, SocketAddress } from 'node:net';

/** Providers usually give a customer a /48, which contains 65,536 /64 networks. */
const SITE_BITS = 48;

/** The unit to which limits per address apply. @returns an IPv4 address unchanged, or an IPv6 address's /48 */
export function siteOf(address: string): string {
  return networkOf(address, SITE_BITS);
}

/**
 * @param bits length of an IPv6 prefix, a multiple of 16. The default is 64: one client usually controls a /64
 * @returns an IPv4 address unchanged, or an IPv6 address's network
 */
export function networkOf(address: string, bits = 64): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head, tail] = plain.replace(/%.*$/, '').split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : 8 - groups.length - last.length - (plain.includes('.') ? 1 : 0);
  const all = [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...last];
  return `${all
    .slice(0, bits / 16)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/${bits}`;
}

const MAPPED = '::ffff:';

/** @returns the IPv4 address of an IPv4-mapped one (RFC 4291 §2.5.5.2), like `::ffff:192.0.2.5`; others unchanged */
export function plainAddress(address: string): string {
  if (!isIPv6(address)) return address;
  // The system writes an IPv4 address inside an IPv6 address with dots.
  const written = new SocketAddress({ address, family: 'ipv6' }).address;
  return written.startsWith(MAPPED) && written.includes('.') ? written.slice(MAPPED.length) : address;
}
