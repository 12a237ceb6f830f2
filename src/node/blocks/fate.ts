/** The states of a submitted block. Types, schemas and metrics are made from this list. This file imports nothing. */

/**
 * The states of a submitted block (docs/rewards.md).
 * - `pending`: no node's chain shows yet what becomes of the block.
 * - `contested`: a node's chain has another block in its place, and nothing is decided.
 * - `unknown`: the block was still pending after an hour.
 * - `unanswered`: the node's answer was lost, and no chain has shown yet whether the node accepted the block.
 * - `won`: the block is on the chain, with at least one block on top.
 * - `settled`: the block is on the chain, with enough blocks on top to rely on it.
 * - `orphaned`: the chain has another block in its place.
 * - `never-entered`: like `orphaned`, and no node that was asked keeps the block.
 * - `lost`: like `never-entered`, and no node has ever confirmed that it accepted the block.
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
 * The groups of states that totals count. Accepted blocks are those that are won, orphaned or pending. It is not known
 * whether unanswered and lost blocks were accepted.
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
