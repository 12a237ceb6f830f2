/** Connections to nodes, pools and other servers: TCP options, reasons for failures, and kinds of addresses. */

import { BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * An open connection, usually a socket. Any other `Duplex` serves as well, such as an encrypted stream or one that
 * stays within the process.
 */
export interface PeerStream extends Duplex {
  /** The peer's address; undefined if it is not known, as after the end of the connection. */
  readonly remoteAddress?: string | undefined;
}

/**
 * Options of every TCP connection. Node.js tries a host's addresses one after the other, and by default allows 250 ms
 * for each address but the last. A handshake via satellite or with another continent can take longer, so only the last
 * address of a distant host could be reached. On a network without IPv6, this fails if the last address is an IPv6
 * address. 2.5 s suffice even when the first packet is lost, because the packet is sent again after 1 s (RFC 6298 §2).
 * The second address still has half of the 5 s that a connection to a node or a pool may take.
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
 * @returns the reason, as a clause, and a sentence about what to check; undefined when the code is not about connecting
 */
export function whyUnreachable(code: string, kind: Peer): string | undefined {
  return Object.hasOwn(REASONS, code) ? REASONS[code](WORDS[kind]) : undefined;
}

/** Whether the error code means that the server does not use TLS on this port. */
export function speaksNoTls(code: string): boolean {
  return code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'EPROTO' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG';
}

/** The parts of an error that name its cause. */
interface Root {
  /** Empty if the error has no code. */
  readonly code: string;
  readonly name: string;
  readonly message: string;
}

/** @returns the parts of `error`; if it combines several errors and has no code, the parts of the first of these */
export function rootOf(error: unknown): Root {
  const outer = error as { code?: unknown; name?: unknown; message?: unknown; errors?: unknown[] } | undefined;
  // A failed connection to a host with several addresses gives an AggregateError, with one error for each address.
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

/**
 * Link-local addresses, multicast addresses, and the reserved IPv4 addresses from 240.0.0.0 on, which include the
 * broadcast address. Clouds serve a machine's secrets at a link-local address.
 */
const NEAR = new BlockList();
NEAR.addSubnet('169.254.0.0', 16);
NEAR.addSubnet('224.0.0.0', 3);
NEAR.addSubnet('fe80::', 10, 'ipv6');
NEAR.addSubnet('ff00::', 8, 'ipv6');

/** Private networks (RFC 1918, RFC 4193), and addresses that a provider's customers share (RFC 6598). */
const PRIVATE = new BlockList();
PRIVATE.addSubnet('10.0.0.0', 8);
PRIVATE.addSubnet('100.64.0.0', 10);
PRIVATE.addSubnet('172.16.0.0', 12);
PRIVATE.addSubnet('192.168.0.0', 16);
PRIVATE.addSubnet('fc00::', 7, 'ipv6');

/** @param hostname a name or an address. Brackets around an IPv6 address, as in a URL, are optional */
function isOnThisMachine(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname) || isIn(THIS_MACHINE, hostname);
}

/**
 * Whether the address is this machine's, link-local, multicast or reserved, so that no node can be reached there
 * through a router. False for addresses of private networks, because nodes in such a network can reach each other.
 * @param hostname a name or an address. Brackets around an IPv6 address, as in a URL, are optional
 */
export function isNearOnly(hostname: string): boolean {
  return isOnThisMachine(hostname) || isIn(NEAR, hostname);
}

/**
 * Whether the address is not on the Internet. For names, this is true only for `localhost` and names that end with
 * `.localhost`. The caller must look up any other name, and pass the address.
 * @param hostname as for `isNearOnly`
 */
export function isPrivate(hostname: string): boolean {
  return isNearOnly(hostname) || isIn(PRIVATE, hostname);
}

function isIn(list: BlockList, hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '').replace(/%.*$/s, '');
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
