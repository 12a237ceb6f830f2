/** The words and limits of the worker's protocol: `pickaxe worker` speaks it with its parent (docs/worker.md). This file imports nothing. */

/** It changes when a parent that was written for an earlier version would misunderstand something. */
export const PROTOCOL_VERSION = 1;

/** What a worker can do beyond jobs and shares. Later versions add words. */
export const CAPABILITIES = ['nonce1', 'time-may-roll', 'verdicts', 'retarget', 'share-rate'] as const;

export const LIMITS = {
  /** The most bytes of a line to the worker. A job's line has about 1,000. */
  lineBytes: 65_536,
  /** The most jobs that a parent's connection holds. The oldest ends when a further one comes: its shares are long out. */
  jobs: 64,
  /** The most characters of a job's id. Ids of pools have a dozen. */
  idCharacters: 64,
  /** The most characters of the text that `pong` repeats. */
  echoCharacters: 256,
} as const;

/** Why a line was refused. */
export const ERROR_CODES = [
  'line-too-long',
  'not-json',
  'wrong-message',
  'id-in-use',
  'unknown-job',
  'unknown-share',
  'too-many-connections',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** Why a connection, or the worker, ends. */
export const BYE_REASONS = ['drained', 'input-ended', 'stopped', 'no-device'] as const;
export type ByeReason = (typeof BYE_REASONS)[number];
