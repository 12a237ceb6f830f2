/** The options of a mock node. */

import { z } from 'zod';

/** A configured miner (document 1, "Miner information"). A request for work must match all three fields. */
export const allowedMinerSchema = z.object({
  account: z.string().min(1).max(256),
  predicate: z.enum(['keys-all', 'keys-any', 'keys-2']),
  'public-keys': z.array(z.string().min(1).max(128)).min(1).max(16),
});

/** The values of real nodes: update streams end after 240 s, and work is remembered for 5 minutes. */
const STREAM_MS = 240_000;
const WORK_LIFETIME_MS = 300_000;
/** The longest delay of a Node.js timer. */
const MAX_MS = 2 ** 31 - 1;

const ms = z.number().int().min(0).max(MAX_MS);

const ledgerOptions = {
  network: z.enum(['test-singleton', 'development', 'mainnet01', 'testnet04']).default('development'),
  chains: z.number().int().min(4).max(20).default(20),
  /** How many hashes a solution needs on average. */
  difficulty: z.number().min(1).default(1_000_000),
  /**
   * What happens to a solution whose chain has advanced. `orphan`: it is accepted but never becomes a block; real nodes mostly
   * do this while they remember the work (`workLifetimeMs`). `refuse`: it is stale, as if the node forgot a chain's work when
   * the chain advances.
   */
  lateSolutions: z.enum(['refuse', 'orphan']).default('orphan'),
  /** Whether solutions need a proof of work. Test networks without one accept every header. */
  checksProofOfWork: z.boolean().default(true),
  /** While more work records than this are remembered, for all chains and miners, no more are issued. */
  workLimit: z.number().int().min(1).max(100_000).default(1200),
  /** How long work is remembered. */
  workLifetimeMs: ms.default(WORK_LIFETIME_MS),
  /** How long before another miner's block its New Cut is sent. Work that is issued in between is still the old work. */
  cutLeadMs: ms.default(0),
  /** Whether a block is also a New Cut for the adjacent chains. */
  neighbourCuts: z.boolean().default(false),
  /** The mean time between other miners' blocks, on random chains; 0 means that there are none. */
  rivalMs: ms.default(0),
  /** The time between refreshes of a random chain's payload, with a `Refreshed Block` event; 0 means that there are none. */
  refreshMs: ms.default(0),
  /** How far the node's clock is ahead of the real one. */
  clockSkewMs: z.number().int().min(-MAX_MS).max(MAX_MS).default(0),
};

const serverOptions = {
  /** 0 stands for any free port. */
  port: z.number().int().min(0).max(65535).default(0),
  host: z.string().default('127.0.0.1'),
  /** Who may mine. When the list is empty, every valid miner may; on real nodes nobody may then. */
  miners: z.array(allowedMinerSchema).max(100).default([]),
  miningEnabled: z.boolean().default(true),
  /** Whether `/config` is served. */
  configServed: z.boolean().default(true),
  /** The status for an accepted solution: real nodes answer 200, and document 1 says 204. */
  acceptedStatus: z.union([z.literal(200), z.literal(204)]).default(200),
  /** How long an update stream lasts, ±10 %. */
  streamMs: ms.default(STREAM_MS),
  /** How many update streams may be open at once. */
  streamLimit: z.number().int().min(0).max(10_000).default(2000),
  /** How many events are sent for each New Cut. */
  cutBurst: z.number().int().min(1).max(100).default(1),
};

export const optionsSchema = z.strictObject({
  ...ledgerOptions,
  ...serverOptions,
  /** With the same seed, all random choices are the same. */
  seed: z.number().int().optional(),
});

export type MockNodeOptions = z.input<typeof optionsSchema>;
type Settings = z.output<typeof optionsSchema>;
export type LedgerSettings = Pick<Settings, keyof typeof ledgerOptions>;
export type ServerSettings = Pick<Settings, keyof typeof serverOptions>;
