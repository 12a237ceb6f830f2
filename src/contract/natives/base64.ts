/** Decodes texts in base64url, with or without padding. */

import { decodeBase64url } from '../../protocol/ledger/json.ts';
import type { Evaluator } from '../runtime/native.ts';

/** @returns the bytes; undefined if the text is not base64url, or if the unused bits of its last digit are not 0 */
export function bytesOfBase64(text: string): Uint8Array | undefined {
  const [, digits, padding] = /^([\w-]*)(=*)$/.exec(text) ?? [];
  const missing = (4 - (text.length % 4)) % 4;
  if (digits === undefined || padding.length + missing > 2) return undefined;
  try {
    return decodeBase64url(digits);
  } catch {
    return undefined;
  }
}

/** @returns the bytes; for a text that is not base64url, a message, which only dialect 4 shows */
export function bytesOrFault(text: string, { dialect, environment }: Evaluator): Uint8Array | string {
  const bytes = bytesOfBase64(text);
  if (bytes) return bytes;
  return dialect === 4 && environment.flags.has('DisablePact49')
    ? olderBytesOrFault(text)
    : 'Could not base64-decode string';
}

/**
 * Decodes as before version 4.9: a message contains the place of the fault, and the unused bits of the last digit may
 * be other than 0.
 * @returns the bytes, or the message
 */
function olderBytesOrFault(text: string): Uint8Array | string {
  const padded = Buffer.from(text + '='.repeat((4 - (Buffer.byteLength(text) % 4)) % 4)).toString('latin1');
  for (let at = 0; at < padded.length; at += 4) {
    const fault = faultOf(padded.slice(at, at + 4), at + 4 === padded.length);
    const offset = at - (text.endsWith('===') ? 1 : 0);
    if (fault) return `Base64URL decode failed: invalid ${fault} near offset ${offset}`;
  }
  // Before version 4.9 of the language, nodes ignored the digits `-` and `_`, which base64 does not have.
  return Buffer.from(text.replace(/[-_]/g, ''), 'base64');
}

/**
 * @param isLast whether these are the last four characters of the text. Only these may have padding
 * @returns what is wrong with the four characters; undefined if nothing is
 */
function faultOf(four: string, isLast: boolean): 'padding' | 'base64 encoding' | undefined {
  const isPadded = isLast ? /^.?=|^.{2}=[^=]/s : /=/;
  if (isPadded.test(four)) return 'padding';
  return /^[\w-]+=*$/.test(four) ? undefined : 'base64 encoding';
}
