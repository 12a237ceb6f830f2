/** Addresses at which another machine finds something else than what this one would: pure. */

import { BlockList, isIP } from 'node:net';

const THIS_MACHINE = new BlockList();
THIS_MACHINE.addSubnet('0.0.0.0', 8);
THIS_MACHINE.addSubnet('127.0.0.0', 8);
THIS_MACHINE.addAddress('::', 'ipv6');
THIS_MACHINE.addAddress('::1', 'ipv6');

/** Those of one wire, among them the one at which clouds tell machines their secrets, and those of groups. */
const NEAR = new BlockList();
NEAR.addSubnet('169.254.0.0', 16);
NEAR.addSubnet('224.0.0.0', 3);
NEAR.addSubnet('fe80::', 10, 'ipv6');
NEAR.addSubnet('ff00::', 8, 'ipv6');

/** @param hostname that of a URL: IPv6 addresses have brackets */
export function isOnThisMachine(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname) || isIn(THIS_MACHINE, hostname);
}

/**
 * Whether an address means something else, or nothing, to whoever is elsewhere. Private networks do not count: their nodes know
 * each other by such addresses.
 * @param hostname that of a URL: IPv6 addresses have brackets
 */
export function isNearOnly(hostname: string): boolean {
  return isOnThisMachine(hostname) || isIn(NEAR, hostname);
}

function isIn(list: BlockList, hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
