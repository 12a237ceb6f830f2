/** Parses and formats the address to serve HTTP at, which people write as `[HOST:]PORT`. */

import { isIP } from 'node:net';

const MAX_PORT = 65_535;
/** `8080`, `:8080`, `localhost:8080`, `[::1]:8080`. RFC 1035 §2.3.4 limits the length of a name. */
const ADDRESS = /^(?:(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9.-]{1,253}))?:)?(\d{1,5})$/i;
const LOOPBACK = '127.0.0.1';

export interface HttpAddress {
  /** An address or a name. An IPv6 address has no brackets here. */
  readonly host: string;
  /** 0 stands for any free port. */
  readonly port: number;
}

/** @returns the address, with the loopback interface when the text has no host; undefined when the text is not valid */
export function parseHttpAddress(text: string): HttpAddress | undefined {
  const [, ipv6, name, digits] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  return digits === undefined || port > MAX_PORT ? undefined : { host: ipv6 ?? name ?? LOOPBACK, port };
}

/** @returns `127.0.0.1:8080`, `[::1]:8080` */
export function formatHttpAddress({ host, port }: HttpAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether no other machine reaches this host: it is a loopback address (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3) or its name. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
