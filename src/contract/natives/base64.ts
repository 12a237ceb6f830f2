/** Decodes texts in base64url, with or without padding. */

import { decodeBase64url } from '../../protocol/ledger/json.ts';
import type { Evaluator } from '../runtime/native.ts';

/** @returns undefined for a text that is not base64url, or whose last digit has unused bits that are not 0 */
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

/** @returns the bytes, or the message of dialect 4 for a text that is not base64url */
export function bytesOrFault(text: string, { dialect, environment }: Evaluator): Uint8Array | string {
  const bytes = bytesOfBase64(text);
  if (bytes) return bytes;
  return dialect === 4 && environment.flags.has('DisablePact49')
    ? olderBytesOrFault(text)
    : 'Could not base64-decode string';
}

/** Before version 4.9, messages showed where a text is wrong, and unused bits were ignored. */
function olderBytesOrFault(text: string): Uint8Array | string {
  const padded = Buffer.from(text + '='.repeat((4 - (Buffer.byteLength(text) % 4)) % 4)).toString('latin1');
  for (let at = 0; at < padded.length; at += 4) {
    const fault = faultOf(padded.slice(at, at + 4), at + 4 === padded.length);
    const offset = at - (text.endsWith('===') ? 1 : 0);
    if (fault) return `Base64URL decode failed: invalid ${fault} near offset ${offset}`;
  }
  // The digits `-` and `_`, which only base64url has, are ignored, as on nodes of that time.
  return Buffer.from(text.replace(/[-_]/g, ''), 'base64');
}

/** @returns what is wrong with four characters. Only the last four may have padding */
function faultOf(four: string, isLast: boolean): 'padding' | 'base64 encoding' | undefined {
  const isPadded = isLast ? /^.?=|^.{2}=[^=]/s : /=/;
  if (isPadded.test(four)) return 'padding';
  return /^[\w-]+=*$/.test(four) ? undefined : 'base64 encoding';
}
