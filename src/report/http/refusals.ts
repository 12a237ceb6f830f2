/** Why the HTTP server refuses requests and connections. */

import type { Refusals } from '../../system/refusals.ts';

/**
 * Most are codes of error answers. Clients are cut off without an answer for `crowded`, `pipelined`, `unread`, and some of
 * `timeout`.
 */
export const REASONS = [
  'bad-request',
  'body-too-large',
  'crowded',
  'forbidden-host',
  'forbidden-origin',
  'headers-too-large',
  'no-token',
  'pipelined',
  'read-only',
  'timeout',
  'too-many-clients',
  'unread',
  'wrong-token',
] as const;
export type Reason = (typeof REASONS)[number];
export type HttpRefusals = Refusals<Reason>;
export type RefusalCounts = HttpRefusals['counts'];

export function isReason(code: string): code is Reason {
  return (REASONS as readonly string[]).includes(code);
}
