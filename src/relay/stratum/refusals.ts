/** Why the stratum server refuses connections, or disconnects clients. */

/**
 * Refused as they connect: `banned`, `crowded` (too many from one address), `full` (too many in all). Disconnected later:
 * `handshake` (what came was no TLS, or no header of a proxy), `timeout` (no handshake or no login in time), `flood` (too many
 * lines, or too long ones), `junk` (lines without sense), `unread` (it does not read), `idle` (it brought nothing, and the server was
 * full).
 */
export const REFUSALS = [
  'banned',
  'crowded',
  'flood',
  'full',
  'handshake',
  'idle',
  'junk',
  'timeout',
  'unread',
] as const;
export type Refusal = (typeof REFUSALS)[number];
