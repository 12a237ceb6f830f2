/** Connections to nodes, pools and other servers: TCP options, reasons for failures, and kinds of addresses. */

import { BlockList, isIP } from 'node:net';

/**
 * Options of every TCP connection. Node.js tries a host's addresses one after the other, and by default allows each but
 * the last 250 ms. Where IPv6 does not work and a handshake over IPv4 takes longer (satellites, other continents),
 * Node.js would never connect. 2.5 s suffice for a handshake whose first packet is lost, which is sent again after 1 s
 * (RFC 6298 §2), and leave the second address half of the time that a connection may take.
 */
export const TCP_CONNECTING = { autoSelectFamilyAttemptTimeout: 2_500 } as const;

/* Reasons */

interface Words {
  readonly running: string;
  readonly url: string;
}

/** The kind of server at the other end. */
type Peer = 'node' | 'pool' | 'server';

const WORDS: Record<Peer, Words> = {
  node: { running: 'Is the node running, and is this its mining port?', url: 'node URL' },
  pool: { running: 'Is this a port of the pool, and is the pool up?', url: 'pool URL' },
  server: { running: 'Is the NATS server running, and is this its port for clients?', url: 'URL of the NATS server' },
};

const REASONS: Record<string, (words: Words) => string> = {
  ECONNREFUSED: ({ running }) => `nothing listens there. ${running}`,
  ENOTFOUND: ({ url }) => `there is no host of that name. Check the ${url}.`,
  EAI_AGAIN: () => 'its name cannot be looked up now. Check the network connection and the name server.',
  EHOSTUNREACH: () => 'there is no route to it. Check the address and the network connection.',
  ENETUNREACH: () => 'there is no route to it. Check the address and the network connection.',
  UND_ERR_CONNECT_TIMEOUT: () => 'it does not accept the connection. Check the address, the port and firewalls.',
  ETIMEDOUT: () => 'it does not accept the connection. Check the address, the port and firewalls.',
  EACCES: () => 'this machine does not allow the connection. Check its firewall.',
};

/**
 * @param code error code of the system or of undici
 * @returns one or two sentences; undefined when the code is not about connecting
 */
export function whyUnreachable(code: string, kind: Peer): string | undefined {
  return Object.hasOwn(REASONS, code) ? REASONS[code](WORDS[kind]) : undefined;
}

/** Whether OpenSSL's code means that the other side does not speak TLS. */
export function speaksNoTls(code: string): boolean {
  return code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'EPROTO' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG';
}

/** The first cause of an error. */
interface Root {
  readonly code: string;
  readonly name: string;
  readonly message: string;
}

export function rootOf(error: unknown): Root {
  const outer = error as { code?: unknown; name?: unknown; message?: unknown; errors?: unknown[] } | undefined;
  // A connection to a host with several addresses fails with one error for each.
  if (outer?.errors?.length && typeof outer.code !== 'string') return rootOf(outer.errors[0]);
  const { code, name, message } = outer ?? {};
  return { code: typeof code === 'string' ? code : '', name: String(name ?? ''), message: String(message ?? error) };
}

/* Kinds of addresses */

const THIS_MACHINE = new BlockList();
THIS_MACHINE.addSubnet('0.0.0.0', 8);
THIS_MACHINE.addSubnet('127.0.0.0', 8);
THIS_MACHINE.addAddress('::', 'ipv6');
THIS_MACHINE.addAddress('::1', 'ipv6');

/** Link-local addresses (clouds serve a machine's secrets at one of them) and multicast addresses. */
const NEAR = new BlockList();
NEAR.addSubnet('169.254.0.0', 16);
NEAR.addSubnet('224.0.0.0', 3);
NEAR.addSubnet('fe80::', 10, 'ipv6');
NEAR.addSubnet('ff00::', 8, 'ipv6');

/** Private networks (RFC 1918, 6598, 4193). */
const PRIVATE = new BlockList();
PRIVATE.addSubnet('10.0.0.0', 8);
PRIVATE.addSubnet('100.64.0.0', 10);
PRIVATE.addSubnet('172.16.0.0', 12);
PRIVATE.addSubnet('192.168.0.0', 16);
PRIVATE.addSubnet('fc00::', 7, 'ipv6');

/** @param hostname as in a URL: IPv6 addresses have brackets */
function isOnThisMachine(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname) || isIn(THIS_MACHINE, hostname);
}

/**
 * Whether the address is on this machine, link-local or multicast, so that other machines cannot use it. Addresses of
 * private networks do not count, because nodes of such a network use them for each other.
 * @param hostname as in a URL: IPv6 addresses have brackets
 */
export function isNearOnly(hostname: string): boolean {
  return isOnThisMachine(hostname) || isIn(NEAR, hostname);
}

/**
 * Whether the address is not on the Internet. The only names for which this is true are those of this machine, such as
 * `localhost`: look other names up first.
 */
export function isPrivate(hostname: string): boolean {
  return isNearOnly(hostname) || isIn(PRIVATE, hostname);
}

function isIn(list: BlockList, hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '').replace(/%.*$/s, '');
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
