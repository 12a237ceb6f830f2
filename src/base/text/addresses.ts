/** Addresses as people write them: those of HTTP servers, the Host header, and URLs of pools and NATS servers. Pure. */

import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

const MAX_PORT = 65_535;
/** Matches `8080`, `:8080`, `localhost:8080` and `[::1]:8080`. A name has at most 253 characters (RFC 1035 §2.3.4). */
const ADDRESS = /^(?:(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9.-]{1,253}))?:)?(\d{1,5})$/i;
const LOOPBACK = '127.0.0.1';

export interface HttpAddress {
  /** A name or an address. An IPv6 address has no brackets. */
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
}

/** @returns undefined when the text is not `[HOST:]PORT`. The default host is 127.0.0.1 */
export function parseHttpAddress(text: string): HttpAddress | undefined {
  const [, ipv6, name, digits] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  return digits === undefined || port > MAX_PORT ? undefined : { host: ipv6 ?? name ?? LOOPBACK, port };
}

/** @returns `127.0.0.1:8080`, `[::1]:8080` */
export function formatHttpAddress({ host, port }: HttpAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether the host is a loopback address (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3) or the name `localhost`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Matches the Host header of an HTTP request (RFC 9110 §7.2): `[::1]:80`, `127.0.0.1`, `rig.lan:8080`. */
const HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i;
/** Maximum length of a Host header: slightly more than a name of 253 characters (RFC 1035 §2.3.4) and a port need. */
const MOST_CHARACTERS = 255 + ':65535'.length;

/**
 * @returns the name or address, without brackets and port, in lower case; undefined for a malformed or missing header
 */
export function hostOf(header: string | undefined): string | undefined {
  if (header === undefined || header.length > MOST_CHARACTERS) return undefined;
  const [, address, name] = HOST.exec(header) ?? [];
  if (address !== undefined) return isIP(address) === 6 ? address.toLowerCase() : undefined;
  return name?.toLowerCase();
}

export interface PoolAddress {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** The normal form: `stratum+tcp://host:port` or `stratum+ssl://host:port`. */
  readonly url: string;
}

/** Schemes of a pool's URL. `stratum1` is accepted because other miners accept it. */
const POOL_SCHEME = String.raw`(?:(?:stratum1?\+)?(?<transport>tcp|ssl|tls):\/\/|stratum1?:\/\/)?`;
/**
 * A name in any script, an IPv4 address, or an IPv6 address in brackets. An IPv6 address may have a zone after `%`
 * (RFC 4007 §11) or `%25` (RFC 6874).
 */
const POOL_HOST = String.raw`(?<host>[\p{L}\p{M}\p{N}_.-]+|\[[\da-f:.]+(?:%(?:25)?[\w.~-]+)?\])`;
/**
 * Users of other miners append `#xnsub` to the URL of a pool that may change a session's nonce1. pickaxe always allows
 * such changes, so `#xnsub` has no effect.
 */
const POOL_URL = new RegExp(String.raw`^${POOL_SCHEME}${POOL_HOST}:(?<port>\d{1,5})\/?(?:#xnsub)?$`, 'iu');

/**
 * Whether the text is meant as the URL of a pool: it begins with a scheme of pools and at least one slash, perhaps
 * after a quote. The rest of the text is not checked.
 */
export function isPoolUrl(text: string): boolean {
  return /^["'“”‘’]?(?:stratum\d?(?:\+[a-z]+)?|tcp|ssl|tls):\//i.test(text);
}

/**
 * @param text `stratum+tcp://HOST:PORT`, or with `ssl` or `tls` instead of `tcp`. `stratum+` may be `stratum1+` or
 *   missing. `stratum://HOST:PORT`, `stratum1://HOST:PORT` and `HOST:PORT` mean TCP without TLS. `#xnsub` at the end is
 *   ignored
 * @returns undefined when the text is not the URL of a pool
 */
export function parsePoolUrl(text: string): PoolAddress | undefined {
  const { transport = 'tcp', host = '', port = '' } = POOL_URL.exec(text)?.groups ?? {};
  const reached = hostReached(host);
  if (reached === '' || Number(port) < 1 || Number(port) > MAX_PORT) return undefined;
  return poolAddress(reached, Number(port), transport.toLowerCase() !== 'tcp');
}

/** @returns the address without brackets, or the name in ASCII (RFC 5890 §2.3.2.1); empty for an invalid name */
function hostReached(host: string): string {
  const [, address, zone = ''] = /^\[([^%]*)(?:%(?:25)?(.*))?\]$/.exec(host) ?? [];
  // The zone is not put into lower case: the names of network interfaces are case-sensitive.
  if (address !== undefined) return `${address.toLowerCase()}${zone && `%${zone}`}`;
  return /^[\w.-]*$/.test(host) ? host.toLowerCase() : domainToASCII(host);
}

/** @param host without brackets */
export function poolAddress(host: string, port: number, tls: boolean): PoolAddress {
  const shown = host.includes(':') ? `[${host}]` : host;
  return { host, port, tls, url: `stratum+${tls ? 'ssl' : 'tcp'}://${shown}:${port}` };
}

const NATS_URL = /^(?:(nats|tls):\/\/)?([\w.-]+|\[[\da-f:.]+\])(?::(\d{1,5}))?\/?$/i;
/** Default port of a NATS server. */
const NATS_PORT = 4222;

/**
 * @param text `nats://HOST:PORT` or `tls://HOST:PORT`. The default scheme is nats://, the default port 4222
 * @returns the URL with its scheme and its port; undefined when the text is not the URL of a NATS server
 */
export function parseNatsUrl(text: string): string | undefined {
  const [, scheme = 'nats', host, digits = `${NATS_PORT}`] = NATS_URL.exec(text) ?? [];
  const port = Number(digits);
  if (host === undefined || port < 1 || port > MAX_PORT) return undefined;
  return `${scheme.toLowerCase()}://${host.toLowerCase()}:${port}`;
}
