/** Addresses of clients in one form, whoever tells them: the system, or a proxy. Pure. */

import { isIPv6, SocketAddress } from 'node:net';

const MAPPED = '::ffff:';

/**
 * @returns an IPv4 address as such, also where IPv6 stands for it (RFC 4291 §2.5.5.2) in any of its spellings, such as
 * `::ffff:192.0.2.5` and `0:0:0:0:0:ffff:c000:205`; other addresses unchanged
 */
export function plainAddress(address: string): string {
  if (!isIPv6(address)) return address;
  // The system writes an IPv4 address inside an IPv6 address with dots.
  const written = new SocketAddress({ address, family: 'ipv6' }).address;
  return written.startsWith(MAPPED) && written.includes('.') ? written.slice(MAPPED.length) : address;
}
