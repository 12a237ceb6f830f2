/**
 * The closed lists of words in events, each in this one place: types, schemas and metrics are made from them. This file
 * imports nothing.
 */

/**
 * A device is `starting` until the miner first announces another state. `reopening`: it has failed and will be opened
 * again. `parked`: it will not be used again in this run.
 */
export const DEVICE_STATES = ['starting', 'ready', 'paused', 'reopening', 'parked'] as const;
export type DeviceState = (typeof DEVICE_STATES)[number];

export const ALARM_STATES = ['raised', 'cleared'] as const;
export type AlarmState = (typeof ALARM_STATES)[number];

/** What can become of a worker's share at a relay. */
export const SHARE_OUTCOMES = ['accepted', 'rejected', 'stale', 'duplicate'] as const;
export type ShareOutcome = (typeof SHARE_OUTCOMES)[number];

/** The name that sums up a relay's workers beyond those that are listed by their own names. */
export const OTHER_WORKERS = '(others)';

/**
 * What has become of a block that was submitted: docs/rewards.md. `pending`: it is not known yet. `contested`: another
 * block has its place at some node, and nothing is decided. `unknown`: it has not been known for an hour. `unanswered`:
 * the node's answer was lost, and no chain has shown yet whether the node took it. `won`: the chain has it, and at
 * least one block on top of it. `settled`: enough blocks are on top of it that it can be relied on. `orphaned`: the
 * chain has another block in its place. `never-entered`: the same, and no node has ever kept this one. `lost`: the
 * same, and no node has ever said that it took this one.
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

/**
 * What a block counts as. Accepted = won + orphaned + pending; unanswered and lost ones are not known to be accepted.
 */
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
