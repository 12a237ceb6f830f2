/**
 * Decides which Host headers are accepted. A page of any website can have its name resolved to 127.0.0.1 (DNS rebinding) and
 * then read what is served there as if it were its own. The Host header gives it away: its own name is in it.
 */

import { isIP } from 'node:net';
import { hostOf } from '../../text/host-header.ts';
import { isLoopback } from '../../text/http-address.ts';

interface HostRule {
  /** The host that is listened on. */
  readonly host: string;
  /** The machine's own name. */
  readonly hostname: string;
}

/**
 * A server that other machines reach requires a token, and may be asked under any address, because addresses cannot be
 * rebound. The port is ignored: a tunnel may have another one.
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
 * Whether another website's page makes the request: browsers say so. Without this check a page could pause a miner on its
 * visitor's machine, though it could not read the answer. Following a link to the miner is fine.
 */
export function isForeign({ method, host, origin, site, mode }: AskedBy): boolean {
  if (origin !== undefined) return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
  if (method === 'GET' && mode === 'navigate') return false;
  return site === 'cross-site' || site === 'same-site';
}
