/** Peers of the ledger's network (document 1, "Peer information"). */

import { sha256 } from '@noble/hashes/sha2.js';
import { z } from 'zod';
import { encodeBase64url } from './base64url.ts';
import { type ExactJson, type ExactJsonObject, jsonInteger } from './exact-json.ts';
import { checked, natural, opaqueId } from './fields.ts';

export interface Peer {
  /**
   * The fingerprint of its certificate, 43 characters, see `peerIdOf`. Null only if an authority has signed the
   * certificate.
   */
  readonly id: string | null;
  readonly address: {
    /** A domain name, an IPv4 address, or an IPv6 address without brackets. */
    readonly hostname: string;
    /** 1 … 65535 */
    readonly port: number;
  };
}

/** What a host can be, so that the text is safe in a URL. */
const Hostname = z.union([z.ipv4(), z.ipv6(), z.string().regex(/^[a-z\d_](?:[a-z\d_.-]{0,251}[a-z\d])?$/i)], {
  error: 'must be a domain name or an IP address',
});

const Port = natural(65_535n)
  .refine((port) => port > 0n, { error: 'must not be 0' })
  .transform(Number);

export const PeerObject: z.ZodType<Peer> = z.object({
  id: opaqueId.nullable(),
  address: z.object({ hostname: Hostname, port: Port }),
});

/** @throws LedgerFormatError for a field that is missing or wrong. */
export function peerFromJson(json: ExactJson): Peer {
  return checked(PeerObject, json, 'peer');
}

export function peerToJson({ id, address }: Peer): ExactJsonObject {
  return { id, address: { hostname: address.hostname, port: jsonInteger(address.port) } };
}

/** @param certificate the peer's own, in DER @returns SHA-256 of it, 43 characters of base64url */
export function peerIdOf(certificate: Uint8Array): string {
  return encodeBase64url(sha256(certificate));
}
