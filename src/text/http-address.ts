/** Where to serve HTTP, as people write it: `[HOST:]PORT`. */

import { isIP } from 'node:net';

const MOST_PORT = 65_535;
/** `8080`, `localhost:8080`, `[::1]:8080`; a name's length is that of RFC 1035 §2.3.4. */
const ADDRESS = /^(?:(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9.-]{1,253})):)?(\d{1,5})$/i;
const LOOPBACK = '127.0.0.1';

export interface HttpAddress {
  /** Address or name, an IPv6 one without brackets. */
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
}

/** @returns undefined where the text is none */
export function parseHttpAddress(text: string): HttpAddress | undefined {
  const [, ipv6, name, digits] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  return digits === undefined || port > MOST_PORT ? undefined : { host: ipv6 ?? name ?? LOOPBACK, port };
}

/** Addresses that no other machine reaches (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3), and their name. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
