/** From `--http [HOST:]PORT` to where to listen. */

const MOST_PORT = 65_535;
/** `8080`, `localhost:8080`, `[::1]:8080`; a name's length is RFC 1035's. */
const ADDRESS = /^(?:(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9.-]{1,253})):)?(\d{1,5})$/i;
const LOOPBACK = '127.0.0.1';

export interface HttpAddress {
  /** Address or name, an IPv6 one without brackets. */
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
}

/** @throws Error that says what an address looks like */
export function httpAddress(text: string): HttpAddress {
  const [, ipv6, name, digits] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > MOST_PORT) {
    throw new Error('Give a port or a host and a port, like 8080, 127.0.0.1:8080 or [::1]:8080 (port 0: a free one).');
  }
  return { host: ipv6 ?? name ?? LOOPBACK, port };
}
