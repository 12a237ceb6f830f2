/** The options of a mock node, and the networks and graphs of chains that they select. */

import { z } from 'zod';
import { LONGEST_TIMER_MS } from '../base/system/abort.ts';
import type { Dialect } from '../contract/dialect.ts';
import { parseDecimal } from '../protocol/ledger/decimal.ts';
import { type Graph, graphOf, knownGraph } from '../protocol/ledger/graphs.ts';
import { versionCodeOf } from '../protocol/ledger/header.ts';

const networks = ['test-singleton', 'development', 'mainnet01', 'testnet04'] as const;
type Network = (typeof networks)[number];

/** A made-up network number, for networks whose real number is unknown. */
const MADE_UP_CODE = 9;

export function codeOf(network: Network): number {
  return versionCodeOf(network) ?? MADE_UP_CODE;
}

/** Mining needs chains with three neighbours, because a miner's header has room for three adjacents. */
export const MINING_DEGREE = 3;

const LEAST = 4;
const MOST = 20;

/** Whether the mock node supports this number of chains: 1, 3, or an even number from 4 to 20. */
export function isNumberOfChains(chains: number): boolean {
  return knownGraph(chains) !== undefined || (chains % 2 === 0 && chains >= LEAST && chains <= MOST);
}

/**
 * @param chains a number for which `isNumberOfChains` holds
 * @returns the known networks' graph for 1, 3, 10 and 20 chains. For other numbers a made-up one: all chains form a
 * circle, and each has as neighbours the chain before it, the one after it and the one opposite
 */
export function graphFor(chains: number): Graph {
  return knownGraph(chains) ?? graphOf(Array.from({ length: chains }, (_, chain) => circleNeighbours(chain, chains)));
}

function circleNeighbours(chain: number, chains: number): number[] {
  return [1, chains / 2, chains - 1].map((step) => (chain + step) % chains);
}

/** A configured miner (document 1, "Miner information"). A request for work must match all three fields. */
export const allowedMinerSchema = z.object({
  account: z.string().min(1).max(256),
  predicate: z.enum(['keys-all', 'keys-any', 'keys-2']),
  'public-keys': z.array(z.string().min(1).max(128)).min(1).max(16),
});

/** Real nodes end update streams after 240 s, and keep work for 5 minutes. */
const STREAM_MS = 240_000;
const WORK_LIFETIME_MS = 300_000;
/** Real nodes end a /listen after 180 s. */
const LISTEN_MS = 180_000;

/** An amount as text, such as `2.5`. */
const decimal = z.string().refine((text) => {
  try {
    return parseDecimal(text) >= 0n;
  } catch {
    return false;
  }
}, 'An amount must be a decimal such as 2.5');

const key = z.string().regex(/^[0-9a-f]{64}$/, 'A key must be 64 lower-case hex digits');

const ms = z.number().int().min(0).max(LONGEST_TIMER_MS);

const ledgerOptions = {
  network: z.enum(networks).default('development'),
  /**
   * 1, 3, 10 and 20 chains have the known networks' graphs; other numbers have a made-up one. With 1 and 3 chains there
   * is no mining, because their headers are shorter than the 286 bytes that miners hash.
   */
  chains: z
    .number()
    .int()
    .refine(isNumberOfChains, 'The number of chains must be 1, 3, or an even number from 4 to 20')
    .default(20),
  /** Average number of hashes for a solution. */
  difficulty: z.number().min(1).default(1_000_000),
  /** Whether targets follow the time that blocks took, as on real networks, instead of staying fixed. */
  retargets: z.boolean().default(false),
  /** Height of the oldest blocks. The default resembles a real network's. */
  firstHeight: z.number().int().min(0).default(5_000_000),
  /** Age of the oldest blocks. Later blocks get creation times between theirs and the clock's. */
  firstBlockAgeMs: z
    .number()
    .int()
    .min(1)
    .max(10 * 365 * 86_400_000)
    .default(30_000),
  /**
   * Creation time of the oldest blocks in ms since the UNIX epoch, instead of `firstBlockAgeMs`. Nodes with the same
   * seed and options begin with the same blocks, and can then join each other's cuts.
   */
  firstBlockTimeMs: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  /** Reward of a block: `table` is the reward of mainnet01 at that height; otherwise an amount. */
  reward: z.union([z.literal('table'), decimal]).default('table'),
  /** Whether outputs have events. Only outputs of old blocks have none. */
  outputEvents: z.boolean().default(true),
  /**
   * What happens to a solution whose chain has advanced. `orphan`: it is accepted and becomes an orphan, as mostly on
   * real nodes while they keep the work (`workLifetimeMs`). `refuse`: it is stale, as if the node dropped a chain's
   * work when the chain advances.
   */
  lateSolutions: z.enum(['refuse', 'orphan']).default('orphan'),
  /** Whether solutions need a proof of work. Test networks without one accept every header. */
  checksProofOfWork: z.boolean().default(true),
  /** Maximum number of kept work records, for all chains and miners. Above it, no more work is issued. */
  workLimit: z.number().int().min(1).max(100_000).default(1200),
  workLifetimeMs: ms.default(WORK_LIFETIME_MS),
  /**
   * Time between a New Cut and the other miner's block after it. Work that is issued meanwhile is still the old work.
   */
  cutLeadMs: ms.default(0),
  /** Whether a block is also a New Cut for the adjacent chains. */
  neighbourCuts: z.boolean().default(false),
  /** Mean time between other miners' blocks, on random chains; 0 means none. */
  rivalMs: ms.default(0),
  /** Time between refreshes of a random chain's payload, with a `Refreshed Block` event; 0 means none. */
  refreshMs: ms.default(0),
  /** By how much the node's clock is ahead of the real one. */
  clockSkewMs: z.number().int().min(-LONGEST_TIMER_MS).max(LONGEST_TIMER_MS).default(0),
};

/** Maximum length of a contract, in characters. */
export const MAX_CONTRACT_LENGTH = 1_048_576;

const contractOptions = {
  /** Accounts that exist from the first block on. */
  accounts: z
    .array(
      z.strictObject({
        account: z.string().min(1).max(256),
        balance: decimal.default('0.0'),
        /** The default is the key in the name of a `k:` account. */
        keys: z.array(key).max(16).optional(),
        pred: z.string().default('keys-all'),
        /** The chains on which the account exists; all by default. */
        chains: z.array(z.number().int().min(0)).optional(),
      }),
    )
    .max(1000)
    .default([]),
  /** Contracts on all chains from the first block on, after the node's own ones: texts of the contract language. */
  contracts: z
    .array(z.strictObject({ name: z.string(), text: z.string().max(MAX_CONTRACT_LENGTH) }))
    .max(100)
    .default([]),
  /** Whether an account pays for the arrival of coins from other chains, as on real networks. */
  gasStation: z.boolean().default(false),
  /** The messages of the contract language: `new` as since its last version, `old` as before. */
  words: z.enum(['old', 'new']).default('new'),
  minGasPrice: decimal.default('0.00000001'),
  /** Maximum gas of one transaction, and of all transactions in a block. */
  blockGasLimit: z.number().int().min(1).default(150_000),
  /** Time limit of /listen. */
  listenMs: ms.default(LISTEN_MS),
  /** The answer of /listen at its time limit: real nodes send 504, the stand-alone server sends an object. */
  listenTimeout: z.enum(['504', 'object']).default('504'),
};

const serverOptions = {
  /** 0 means any free port. */
  port: z.number().int().min(0).max(65535).default(0),
  host: z.string().default('127.0.0.1'),
  /** The endpoints for other nodes: on the same port as all others, or on their own port with or without TLS. */
  p2p: z.enum(['same port', 'plain', 'tls']).default('same port'),
  /** 0 means any free port. */
  p2pPort: z.number().int().min(0).max(65535).default(0),
  /** Port for instructions, on the loopback interface; none by default. 0 means any free port. */
  controlPort: z.number().int().min(0).max(65535).optional(),
  /**
   * Whether cuts have no origin, like those of a bootstrap node. Otherwise their origin is the P2P side, if it has a
   * port of its own.
   */
  bootstrap: z.boolean().default(false),
  /** The API: document 1's, that of real nodes, or both, each with its own path. */
  dialect: z.enum(['both', 'document', 'chainweb']).default('both'),
  /** Whether queries without a match are answered with 404, as in document 1, instead of an empty page. */
  strict: z.boolean().default(false),
  /**
   * The answers of the stand-alone server, whose endpoints are at the host's root: as in document 2, or as of newer
   * servers.
   */
  standAlone: z.enum(['document', 'new']).default('document'),
  /** The configured miners. With an empty list, every valid miner may mine; on real nodes none may. */
  miners: z.array(allowedMinerSchema).max(100).default([]),
  miningEnabled: z.boolean().default(true),
  configServed: z.boolean().default(true),
  /** The status for an accepted solution: real nodes send 200, document 1 says 204. */
  acceptedStatus: z.union([z.literal(200), z.literal(204)]).default(200),
  /** Lifetime of an update stream, ±10 %. */
  streamMs: ms.default(STREAM_MS),
  /** Whether `/header/updates` and `/block/updates` stream all new blocks. By default real nodes have none. */
  headerStream: z.boolean().default(false),
  streamLimit: z.number().int().min(0).max(10_000).default(2000),
  /**
   * The sides that refuse clients with too many requests. `p2p` applies only to a P2P side with a port of its own, as
   * on real nodes.
   */
  throttled: z.enum(['none', 'p2p', 'all']).default('p2p'),
  /** Requests per second for each address, as in document 1's sample configuration. */
  throttling: z
    .strictObject({
      global: z.number().min(0.001).max(1_000_000).default(50),
      mempool: z.number().min(0.001).max(1_000_000).default(20),
      putPeer: z.number().min(0.001).max(1_000_000).default(11),
    })
    .prefault({}),
  /** Whether a refusal for too many requests has `retry-after`. Gateways send it, real nodes do not. */
  throttleRetryAfter: z.boolean().default(false),
  /** Number of events that each New Cut sends. */
  cutBurst: z.number().int().min(1).max(100).default(1),
};

export const optionsSchema = z.strictObject({
  ...ledgerOptions,
  ...contractOptions,
  ...serverOptions,
  /** Determines all random choices. */
  seed: z.number().int().optional(),
});

export type MockNodeOptions = z.input<typeof optionsSchema>;
export type Settings = z.output<typeof optionsSchema>;
export type LedgerSettings = Pick<Settings, keyof typeof ledgerOptions>;
export type ContractSettings = Pick<Settings, keyof typeof contractOptions | 'network' | 'chains' | 'outputEvents'>;
export type ServerSettings = Pick<Settings, keyof typeof serverOptions>;

/** @returns the dialect of the contract language with the chosen messages */
export function dialectOf({ words }: Pick<ContractSettings, 'words'>): Dialect {
  return words === 'old' ? 4 : 5;
}
