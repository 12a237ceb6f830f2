/** What a mock node can be told at the start, and the shapes it checks requests against. */

import { z } from 'zod';

/** Document 1, "Miner information". A miner must equal a configured one in all three. */
export const minerSchema = z.object({
  account: z.string().min(1).max(256),
  predicate: z.enum(['keys-all', 'keys-any', 'keys-2']),
  'public-keys': z.array(z.string().min(1).max(128)).min(1).max(16),
});

/** Who asks for work: real nodes read any texts, and look for such a miner. */
export const askerSchema = z.object({
  account: z.string(),
  predicate: z.string(),
  'public-keys': z.array(z.string()),
});

export type MinerInfo = z.infer<typeof askerSchema>;

/** A real node ends its update streams after 240 s, and forgets work after 5 minutes. */
const STREAM_MS = 240_000;
const WORK_LIFETIME_MS = 300_000;
/** The greatest delay that a Node timer can hold. */
const MAX_MS = 2 ** 31 - 1;

const ms = z.number().int().min(0).max(MAX_MS);

export const optionsSchema = z.strictObject({
  /** 0 takes a free port. */
  port: z.number().int().min(0).max(65535).default(0),
  host: z.string().default('127.0.0.1'),
  network: z.enum(['test-singleton', 'development', 'mainnet01', 'testnet04']).default('development'),
  chains: z.number().int().min(4).max(20).default(20),
  /** Expected hashes for a solution. */
  difficulty: z.number().min(1).default(1_000_000),
  /** Who may mine; an empty list lets everyone who could be a miner. Real nodes let nobody then. */
  miners: z.array(minerSchema).max(100).default([]),
  miningEnabled: z.boolean().default(true),
  /** Whether `/config` is served. */
  configServed: z.boolean().default(true),
  /** The status of an accepted solution: real nodes answer 200, document 1 says 204. */
  acceptedStatus: z.union([z.literal(200), z.literal(204)]).default(200),
  /**
   * What happens to a solution whose chain has advanced: real nodes can take it though it never wins (`orphan`), or have
   * forgotten the work (`refuse`).
   */
  lateSolutions: z.enum(['refuse', 'orphan']).default('refuse'),
  /** Works remembered, over all chains and miners: with more than that, there are none for a while. */
  workLimit: z.number().int().min(1).max(100_000).default(1200),
  workLifetimeMs: ms.default(WORK_LIFETIME_MS),
  /** Length of an update stream, ±10 %. */
  streamMs: ms.default(STREAM_MS),
  streamLimit: z.number().int().min(0).max(10_000).default(2000),
  /** Events sent for one block. */
  cutBurst: z.number().int().min(1).max(100).default(1),
  /** How long before somebody else's block its New Cut is told: until then, work is that of before. */
  cutLeadMs: ms.default(0),
  /** Whether a block is a New Cut for the adjacent chains, too. */
  neighbourCuts: z.boolean().default(false),
  /** Mean interval at which somebody else's block advances a random chain; 0 for never. */
  rivalMs: ms.default(0),
  /** Interval at which the payload of a random chain is refreshed, with a `Refreshed Block` event; 0 for never. */
  refreshMs: ms.default(0),
  /** How far the node's clock is ahead of the real one. */
  clockSkewMs: z.number().int().min(-MAX_MS).max(MAX_MS).default(0),
  /** For the same choices each time. */
  seed: z.number().int().optional(),
});

export type MockNodeOptions = z.input<typeof optionsSchema>;
export type Settings = z.output<typeof optionsSchema>;
