/**
 * The header with which a proxy tells the address of its client: the PROXY protocol, versions 1 and 2, as HAProxy's
 * `proxy-protocol.txt` specifies it. Pure.
 */

import { isIPv4, isIPv6 } from 'node:net';

/** §2.1: the longest header of version 1, with its line end. */
const V1_BYTES = 107;
const V1_BEGIN = Buffer.from('PROXY ');
/** §2.2: what every header of version 2 begins with. */
const V2_BEGIN = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);
const V2_FIXED_BYTES = 16;
/** Addresses take 216 bytes at most. The rest are notes for the receiver, such as names of certificates. */
const V2_MOST_BYTES = V2_FIXED_BYTES + 4_096;

type ProxyHeader =
  /** More bytes are needed. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'invalid'; readonly why: string }
  /** `bytes`: its length. Without an address, the connection is the proxy's own, or the proxy does not know. */
  | { readonly kind: 'header'; readonly bytes: number; readonly address?: string };

/** @param bytes what has come of the connection so far */
export function parseProxyHeader(bytes: Uint8Array): ProxyHeader {
  if (beginsAs(bytes, V1_BEGIN)) return bytes.length < V1_BEGIN.length ? INCOMPLETE : parseText(bytes);
  if (beginsAs(bytes, V2_BEGIN)) return bytes.length < V2_FIXED_BYTES ? INCOMPLETE : parseBinary(bytes);
  return invalid('it does not begin like one');
}

const INCOMPLETE: ProxyHeader = { kind: 'incomplete' };

function invalid(why: string): ProxyHeader {
  return { kind: 'invalid', why };
}

/** Whether the bytes agree, as far as there are any. */
function beginsAs(bytes: Uint8Array, begin: Uint8Array): boolean {
  return begin.subarray(0, bytes.length).every((byte, i) => byte === bytes[i]);
}

/** §2.1: `PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n` */
function parseText(bytes: Uint8Array): ProxyHeader {
  const text = Buffer.from(bytes.subarray(0, V1_BYTES)).toString('latin1');
  const end = text.indexOf('\r\n');
  if (end < 0) return bytes.length < V1_BYTES ? INCOMPLETE : invalid('its line is too long');
  const length = end + 2;
  const [, family, ...parts] = text.slice(0, end).split(' ');
  if (family === 'UNKNOWN') return { kind: 'header', bytes: length };
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : undefined;
  if (!isAddress) return invalid('its protocol is none of TCP4, TCP6 and UNKNOWN');
  const [source, destination, ...ports] = parts;
  if (parts.length !== 4 || !isAddress(source) || !isAddress(destination) || !ports.every(isPort)) {
    return invalid('its addresses and ports are wrong');
  }
  return { kind: 'header', bytes: length, address: source };
}

function isPort(text: string): boolean {
  return /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 0xffff;
}

/** §2.2: version and command, family and protocol, the length of what follows, addresses and ports. */
function parseBinary(bytes: Uint8Array): ProxyHeader {
  const [versionAndCommand, familyAndProtocol, high, low] = bytes.subarray(V2_BEGIN.length);
  const length = V2_FIXED_BYTES + (high << 8) + low;
  if (versionAndCommand >> 4 !== 2) return invalid('its version is not 2');
  const command = versionAndCommand & 0x0f;
  if (command > 1) return invalid('its command is neither LOCAL nor PROXY');
  if (length > V2_MOST_BYTES) return invalid('it is too long');
  if (bytes.length < length) return INCOMPLETE;
  if (command === 0) return { kind: 'header', bytes: length };
  const address = bytes.subarray(V2_FIXED_BYTES, length);
  switch (familyAndProtocol) {
    case 0x11:
      return address.length < 12
        ? invalid('its IPv4 addresses are cut off')
        : header(length, address.subarray(0, 4).join('.'));
    case 0x21:
      return address.length < 36
        ? invalid('its IPv6 addresses are cut off')
        : header(length, ipv6(address.subarray(0, 16)));
    case 0x00: // Unspecified.
    case 0x31: // A socket in the file system.
      return { kind: 'header', bytes: length };
    default:
      return invalid('its protocol is not TCP');
  }
}

function header(bytes: number, address: string): ProxyHeader {
  return { kind: 'header', bytes, address };
}

function ipv6(bytes: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] << 8) | bytes[2 * i + 1]).toString(16));
  return groups.join(':');
}
