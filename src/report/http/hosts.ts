/**
 * Which Host headers are let in. A page of any website can have its name resolved to 127.0.0.1 (DNS rebinding) and then
 * read what is served there as if it were its own; what gives it away is its name in the Host header.
 */

import { isIP } from 'node:net';
import { isLoopback } from '../../text/http-address.ts';

/** `[::1]:80`, `127.0.0.1`, `rig.lan:8080` */
const HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i;
/** RFC 1035 §2.3.4. */
const MOST_CHARACTERS = 255 + ':65535'.length;

/** @returns name or address, without brackets and port, in lower case; undefined where the header is none */
export function hostOf(header: string | undefined): string | undefined {
  if (header === undefined || header.length > MOST_CHARACTERS) return undefined;
  const [, address, name] = HOST.exec(header) ?? [];
  if (address !== undefined) return isIP(address) === 6 ? address.toLowerCase() : undefined;
  return name?.toLowerCase();
}

interface HostRule {
  /** As listened on. */
  readonly host: string;
  /** The machine's own name. */
  readonly hostname: string;
}

/**
 * Where others may come in, with a token, any address will do: it cannot be rebound. The port is not looked at: a tunnel
 * may have another one.
 */
export function admits({ host, hostname }: HostRule, header: string | undefined): boolean {
  const asked = hostOf(header);
  if (asked === undefined) return false;
  if (isLoopback(asked) || asked === host.toLowerCase()) return true;
  if (isLoopback(host)) return false;
  const own = hostname.toLowerCase();
  return isIP(asked) > 0 || asked === own || asked === `${own}.local`;
}

interface AskedBy {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** Sec-Fetch-Site and Sec-Fetch-Mode (W3C Fetch Metadata). */
  readonly site: string | undefined;
  readonly mode: string | undefined;
}

/**
 * Requests that another website's page makes: browsers say so. Without this a page could pause a miner on its visitor's
 * machine, though it could not read the answer. Following a link to here is fine.
 */
export function isForeign({ method, host, origin, site, mode }: AskedBy): boolean {
  if (origin !== undefined) return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
  if (method === 'GET' && mode === 'navigate') return false;
  return site === 'cross-site' || site === 'same-site';
}
