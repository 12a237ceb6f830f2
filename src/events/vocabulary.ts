/** The closed lists of words in events, from which types, schemas and metrics are made. Imports nothing. */

/**
 * `starting` lasts until the first state that is announced. A device that has failed is `reopening`, and one that is
 * given up for this run is `parked`.
 */
export const DEVICE_STATES = ['starting', 'ready', 'paused', 'reopening', 'parked'] as const;
export type DeviceState = (typeof DEVICE_STATES)[number];

export const ALARM_STATES = ['raised', 'cleared'] as const;
export type AlarmState = (typeof ALARM_STATES)[number];

/** A relay's answers to shares. */
export const SHARE_OUTCOMES = ['accepted', 'rejected', 'stale', 'duplicate'] as const;
export type ShareOutcome = (typeof SHARE_OUTCOMES)[number];

/** Stands for the workers of a relay beyond those that are listed. */
export const OTHER_WORKERS = '(others)';

/**
 * The state of a submitted block: docs/rewards.md. `pending`: not known yet. `contested`: another block has its place
 * at some node, and nothing is decided. `unknown`: not known for an hour. `unanswered`: the node's answer was lost, and
 * no chain has shown yet whether the node accepted it. `won`: on the chain, with at least one block on top. `settled`:
 * with enough blocks on top to rely on it. `orphaned`: the chain has another block in its place. `never-entered`:
 * orphaned, and no node has ever had it. `lost`: orphaned, and no node has ever confirmed that it accepted it.
 */
export const BLOCK_STATES = [
  'pending',
  'contested',
  'unknown',
  'unanswered',
  'won',
  'settled',
  'orphaned',
  'never-entered',
  'lost',
] as const;
export type BlockState = (typeof BLOCK_STATES)[number];

/** Accepted = won + orphaned + pending. Unanswered and lost blocks are not known to be accepted. */
export type BlockFate = 'won' | 'orphaned' | 'pending' | 'unanswered' | 'lost';
export const FATE_OF: Readonly<Record<BlockState, BlockFate>> = {
  pending: 'pending',
  contested: 'pending',
  unknown: 'pending',
  unanswered: 'unanswered',
  won: 'won',
  settled: 'won',
  orphaned: 'orphaned',
  'never-entered': 'orphaned',
  lost: 'lost',
};
