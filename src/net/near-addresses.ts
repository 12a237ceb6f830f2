/** Addresses that mean something else on every machine or network link, such as 127.0.0.1. Pure. */

import { BlockList, isIP } from 'node:net';

const THIS_MACHINE = new BlockList();
THIS_MACHINE.addSubnet('0.0.0.0', 8);
THIS_MACHINE.addSubnet('127.0.0.0', 8);
THIS_MACHINE.addAddress('::', 'ipv6');
THIS_MACHINE.addAddress('::1', 'ipv6');

/** Link-local addresses, among them the one at which clouds give machines their secrets, and multicast addresses. */
const NEAR = new BlockList();
NEAR.addSubnet('169.254.0.0', 16);
NEAR.addSubnet('224.0.0.0', 3);
NEAR.addSubnet('fe80::', 10, 'ipv6');
NEAR.addSubnet('ff00::', 8, 'ipv6');

/** Addresses of networks that are not the Internet (RFC 1918, 6598, 4193). */
const PRIVATE = new BlockList();
PRIVATE.addSubnet('10.0.0.0', 8);
PRIVATE.addSubnet('100.64.0.0', 10);
PRIVATE.addSubnet('172.16.0.0', 12);
PRIVATE.addSubnet('192.168.0.0', 16);
PRIVATE.addSubnet('fc00::', 7, 'ipv6');

/** @param hostname that of a URL: IPv6 addresses have brackets */
function isOnThisMachine(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname) || isIn(THIS_MACHINE, hostname);
}

/**
 * Whether an address is one of this machine, link-local or multicast, so that it means nothing to others. Addresses of
 * private networks do not count: the nodes of such a network know each other by them.
 * @param hostname that of a URL: IPv6 addresses have brackets
 */
export function isNearOnly(hostname: string): boolean {
  return isOnThisMachine(hostname) || isIn(NEAR, hostname);
}

/**
 * Whether an address is not one of the Internet. A name, other than one of this machine, may lead anywhere: look it up
 * first.
 */
export function isPrivate(hostname: string): boolean {
  return isNearOnly(hostname) || isIn(PRIVATE, hostname);
}

function isIn(list: BlockList, hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
