/** What a pool's answer to a share means. Pools do not agree on error codes, so their words count first. Pure. */

import type { Verdict } from '../source.ts';
import { quote } from './errors.ts';
import { type Answer, type Complaint, complaintOf } from './messages.ts';

/** Words for a share whose job the pool no longer wants. */
const STALE =
  /\bstale\b|not found|unknown (job|work)|no such (job|work)|\bjob\b.*\b(old|outdated|expired)|expired|outdated|too late|old job/i;

/**
 * What codes mean where the pool gives no words. 21 is missing: it is "job not found" at some pools and "low difficulty" at
 * others.
 */
const CODES: Record<number, string> = {
  20: 'other error',
  22: 'duplicate share',
  23: 'low difficulty',
  24: 'unauthorized worker',
  25: 'not subscribed',
  31: 'invalid nonce',
};
const AMBIGUOUS = 'which is “job not found” at some pools and “low difficulty” at others';

export function verdictOf({ result, error }: Answer): Verdict {
  if (error !== undefined) return refusalOf(complaintOf(error));
  // The reference server answers `false` when the job is outdated, and errors to bad shares.
  if (result === false) return { outcome: 'stale', reason: 'the pool answered false, which means an outdated job' };
  if (result === null || result === undefined) {
    return { outcome: 'unknown', reason: 'the pool answered neither yes nor no' };
  }
  return { outcome: 'accepted', reason: '' };
}

function refusalOf({ code, text }: Complaint): Verdict {
  const words = quote(text);
  if (STALE.test(words)) return { outcome: 'stale', reason: words };
  if (words !== '') return { outcome: 'rejected', reason: words };
  if (code === undefined) return { outcome: 'rejected', reason: 'the pool gave no reason' };
  const meaning = code === 21 ? AMBIGUOUS : CODES[code];
  return { outcome: 'rejected', reason: `error ${code}${meaning === undefined ? '' : `, ${meaning}`}` };
}
