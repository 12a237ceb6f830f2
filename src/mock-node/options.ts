/** What a mock node can be told at the start. */

import { z } from 'zod';

/** A miner (document 1, "Miner information"). One that asks for work must equal it in all three. */
export const minerSchema = z.object({
  account: z.string().min(1).max(256),
  predicate: z.enum(['keys-all', 'keys-any', 'keys-2']),
  'public-keys': z.array(z.string().min(1).max(128)).min(1).max(16),
});

/** Real nodes end their update streams after 240 s, and remember work for 5 minutes. */
const STREAM_MS = 240_000;
const WORK_LIFETIME_MS = 300_000;
/** The greatest delay that a Node.js timer can hold. */
const MAX_MS = 2 ** 31 - 1;

const ms = z.number().int().min(0).max(MAX_MS);

const ledgerOptions = {
  network: z.enum(['test-singleton', 'development', 'mainnet01', 'testnet04']).default('development'),
  chains: z.number().int().min(4).max(20).default(20),
  /** How many hashes a solution takes on average. */
  difficulty: z.number().min(1).default(1_000_000),
  /**
   * What becomes of a solution whose chain has advanced meanwhile. `orphan`: it is accepted, though it never becomes a
   * block, as real nodes mostly do while they remember the work (`workLifetimeMs`). `refuse`: it is stale, as if the node
   * forgot a chain's work whenever that chain advances.
   */
  lateSolutions: z.enum(['refuse', 'orphan']).default('orphan'),
  /** When more works than this are remembered, over all chains and miners, no more are issued for a while. */
  workLimit: z.number().int().min(1).max(100_000).default(1200),
  /** How long work is remembered. */
  workLifetimeMs: ms.default(WORK_LIFETIME_MS),
  /** How long before somebody else's block its New Cut is told; the work that is issued meanwhile is the old one. */
  cutLeadMs: ms.default(0),
  /** Whether a block is a New Cut for the adjacent chains, too. */
  neighbourCuts: z.boolean().default(false),
  /** Mean interval at which somebody else's block advances a random chain; 0 means never. */
  rivalMs: ms.default(0),
  /** Interval at which the payload of a random chain is refreshed, with a `Refreshed Block` event; 0 means never. */
  refreshMs: ms.default(0),
  /** How far the node's clock is ahead of the real one. */
  clockSkewMs: z.number().int().min(-MAX_MS).max(MAX_MS).default(0),
};

const serverOptions = {
  /** 0 takes a free port. */
  port: z.number().int().min(0).max(65535).default(0),
  host: z.string().default('127.0.0.1'),
  /** Who may mine. When the list is empty, everyone may who could be a miner; real nodes let nobody mine then. */
  miners: z.array(minerSchema).max(100).default([]),
  miningEnabled: z.boolean().default(true),
  /** Whether `/config` is served. */
  configServed: z.boolean().default(true),
  /** The status of an accepted solution: real nodes answer 200, document 1 says 204. */
  acceptedStatus: z.union([z.literal(200), z.literal(204)]).default(200),
  /** How long an update stream lasts, ±10 %. */
  streamMs: ms.default(STREAM_MS),
  /** How many update streams may be open at once. */
  streamLimit: z.number().int().min(0).max(10_000).default(2000),
  /** How many events are sent for one New Cut. */
  cutBurst: z.number().int().min(1).max(100).default(1),
};

export const optionsSchema = z.strictObject({
  ...ledgerOptions,
  ...serverOptions,
  /** Random choices are the same each time for the same seed. */
  seed: z.number().int().optional(),
});

export type MockNodeOptions = z.input<typeof optionsSchema>;
type Settings = z.output<typeof optionsSchema>;
export type LedgerSettings = Pick<Settings, keyof typeof ledgerOptions>;
export type ServerSettings = Pick<Settings, keyof typeof serverOptions>;
