/** The states of a submitted block. Types, schemas and metrics are made from this list. Imports nothing. */

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
