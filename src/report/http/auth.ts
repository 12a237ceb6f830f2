/** Bearer tokens (RFC 6750 §2.1). */

import { createHash, timingSafeEqual } from 'node:crypto';

/** Digests have equal lengths, so that comparing takes as long for every token. */
const digest = (text: string) => createHash('sha256').update(text).digest();

/** @returns a function that says whether an Authorization header carries the token */
export function bearerCheck(token: string): (header: string | undefined) => boolean {
  const expected = digest(token);
  return (header) => {
    const [, given] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? [];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}
