/** Where a server is reached. Pure, but for asking the system for its addresses. */

import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** @returns `http://192.168.1.5:8080`, `http://[::1]:8080` */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * @param host the address that is listened on
 * @returns an address by which other machines reach the server; undefined if there is none, or if `host` is a single address
 */
export function reachableHost(
  host: string,
  interfaces: NodeJS.Dict<Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>[]> = networkInterfaces(),
): string | undefined {
  if (host !== '0.0.0.0' && host !== '::') return undefined;
  const outside = Object.values(interfaces).flatMap((each) => each?.filter(({ internal }) => !internal) ?? []);
  const ipv4 = outside.find(({ family }) => family === 'IPv4');
  if (ipv4 || host === '0.0.0.0') return ipv4?.address;
  // A link-local address (RFC 4291 §2.5.6) means nothing without the name of an interface.
  return outside.find(({ address }) => !/^fe[89ab]/i.test(address))?.address;
}
