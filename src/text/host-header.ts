/** Parses the Host header of an HTTP request (RFC 9110 §7.2). */

import { isIP } from 'node:net';

/** `[::1]:80`, `127.0.0.1`, `rig.lan:8080` */
const HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i;
/** RFC 1035 §2.3.4. */
const MOST_CHARACTERS = 255 + ':65535'.length;

/** @returns name or address, without brackets and port, in lower case; undefined for a malformed or missing header */
export function hostOf(header: string | undefined): string | undefined {
  if (header === undefined || header.length > MOST_CHARACTERS) return undefined;
  const [, address, name] = HOST.exec(header) ?? [];
  if (address !== undefined) return isIP(address) === 6 ? address.toLowerCase() : undefined;
  return name?.toLowerCase();
}
