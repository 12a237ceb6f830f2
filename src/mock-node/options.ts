/** The options of a mock node, and the network number and the graph of chains that follow from them. */

import { z } from 'zod';
import { LONGEST_TIMER_MS } from '../base/system/clock.ts';
import { parseDecimal } from '../protocol/ledger/decimal.ts';
import { type Graph, graphOf, knownGraph } from '../protocol/ledger/graphs.ts';
import { versionCodeOf } from '../protocol/ledger/header.ts';

const networks = ['test-singleton', 'development', 'mainnet01', 'testnet04'] as const;
type Network = (typeof networks)[number];

/** Network number in block headers, for networks whose real number is unknown. It is made up. */
const MADE_UP_CODE = 9;

export function codeOf(network: Network): number {
  return versionCodeOf(network) ?? MADE_UP_CODE;
}

/** Number of neighbours that each chain must have for mining: the header that miners hash has three adjacents. */
export const MINING_DEGREE = 3;

const LEAST = 4;
const MOST = 20;

/** Whether the mock node supports this number of chains: 1, 3, or an even number from 4 to 20. */
export function isNumberOfChains(chains: number): boolean {
  return knownGraph(chains) !== undefined || (chains % 2 === 0 && chains >= LEAST && chains <= MOST);
}

/**
 * @param chains a number for which `isNumberOfChains` holds
 * @returns the graph of real networks for 1, 3, 10 and 20 chains. For other numbers, the graph is made up: the chains
 *   form a circle, and the neighbours of each chain are the previous, the next and the opposite chain
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

/** Real nodes end an update stream after 240 s. */
const STREAM_MS = 240_000;
/** Real nodes keep issued work for 5 minutes. */
const WORK_LIFETIME_MS = 300_000;
/** After 180 s, real nodes answer a /listen even without a result. */
const LISTEN_MS = 180_000;

/** A decimal >= 0 as text, such as `2.5`. */
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
   * Number of chains. 1, 3, 10 and 20 chains form the graphs of known networks; other numbers of chains form a made-up
   * graph. With 1 or 3 chains there is no mining, because the headers are shorter than the 286 bytes that miners hash.
   */
  chains: z
    .number()
    .int()
    .refine(isNumberOfChains, 'The number of chains must be 1, 3, or an even number from 4 to 20')
    .default(20),
  /** Average number of hashes for a solution. */
  difficulty: z.number().min(1).default(1_000_000),
  /**
   * Whether targets follow from the durations of epochs, as on real networks. Otherwise, they follow from `difficulty`.
   */
  retargets: z.boolean().default(false),
  /** Height of the oldest blocks. The default is similar to the height of a real network. */
  firstHeight: z.number().int().min(0).default(5_000_000),
  /**
   * Age of the oldest blocks at the start, in ms. The creation times of later blocks lie between the oldest blocks'
   * creation time and the present.
   */
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
  /** Reward of a block: an amount in coins, or `table` for the reward that mainnet01 pays at the block's height. */
  reward: z.union([z.literal('table'), decimal]).default('table'),
  /**
   * Whether the outputs of commands and coinbases contain events. On real networks, only old blocks have outputs
   * without events.
   */
  outputEvents: z.boolean().default(true),
  /**
   * What happens to a solution whose chain has advanced since the work was issued. `orphan`: the node accepts the
   * solution, and its block becomes an orphan. Real nodes mostly do so as long as they keep the work
   * (`workLifetimeMs`). `refuse`: the solution is stale, because the node drops a chain's work when the chain advances.
   */
  lateSolutions: z.enum(['refuse', 'orphan']).default('orphan'),
  /** Whether the hash of a solution must meet the target. Some test networks accept every hash. */
  checksProofOfWork: z.boolean().default(true),
  /** Number of kept works, over all chains and miners, above which no more work is issued. */
  workLimit: z.number().int().min(1).max(100_000).default(1200),
  workLifetimeMs: ms.default(WORK_LIFETIME_MS),
  /**
   * Time between the `New Cut` event for another miner's block and the addition of this block, in ms. Work that is
   * issued in this time does not build on the block yet.
   */
  cutLeadMs: ms.default(0),
  /** Whether each `New Cut` event of a chain is also sent for the neighbouring chains. */
  neighbourCuts: z.boolean().default(false),
  /**
   * Mean time in ms between the blocks of other miners, which come on random chains. 0 means that there are no such
   * blocks.
   */
  rivalMs: ms.default(0),
  /**
   * Time between two refreshes, in ms. Each replaces the payload of the next block of a random chain, and sends a
   * `Refreshed Block` event. 0 means that there are no refreshes.
   */
  refreshMs: ms.default(0),
  /** Time by which the node's clock is ahead of the real time, in ms. It is negative for a clock that is behind. */
  clockSkewMs: z.number().int().min(-LONGEST_TIMER_MS).max(LONGEST_TIMER_MS).default(0),
};

/** Maximum length of a contract, in characters. */
export const MAX_CONTRACT_LENGTH = 1_048_576;

const contractOptions = {
  /** Accounts that exist before the first block. */
  accounts: z
    .array(
      z.strictObject({
        account: z.string().min(1).max(256),
        balance: decimal.default('0.0'),
        /** The default is one key: the account's name without `k:`. */
        keys: z.array(key).max(16).optional(),
        pred: z.string().default('keys-all'),
        /** The chains on which the account exists; all by default. */
        chains: z.array(z.number().int().min(0)).optional(),
      }),
    )
    .max(1000)
    .default([]),
  /** Code in the contract language. It runs on all chains before the first block, after the node's own contracts. */
  contracts: z
    .array(z.strictObject({ name: z.string(), text: z.string().max(MAX_CONTRACT_LENGTH) }))
    .max(100)
    .default([]),
  /**
   * Whether there is a gas station, as on real networks: an account that pays for the second step of transfers from
   * other chains.
   */
  gasStation: z.boolean().default(false),
  /** The generation of the contract language: live nodes run 5. `dialect` is that of the paths and headers. */
  contractDialect: z.union([z.literal(4), z.literal(5)]).default(5),
  minGasPrice: decimal.default('0.00000001'),
  /** Maximum gas of all transactions in a block, and maximum gas limit of one command. */
  blockGasLimit: z.number().int().min(1).default(150_000),
  /**
   * Whether commands are put into a block as soon as they come, as if another miner had found one, so that their
   * results are there at once. Chains also get the blocks that a proof for another chain needs (`/spv`), those that a
   * `confirmationDepth` of at most 20 names, six blocks a second after the last command, and a new block for a command
   * that comes a minute after the last one. `when idle`: as long as `rivalMs` is 0 and no miner has asked for work,
   * which is the default of the package's `MockNode`.
   */
  mineOnSend: z.union([z.boolean(), z.literal('when idle')]).default(false),
  /** Time after which /listen answers even without a result, in ms. */
  listenMs: ms.default(LISTEN_MS),
  /**
   * The answer of /listen at its time limit: the status 504, as from real nodes, or an object, as from the stand-alone
   * server of document 2.
   */
  listenTimeout: z.enum(['504', 'object']).default('504'),
};

const serverOptions = {
  /** Port of the service side; 0 means any free port. */
  port: z.number().int().min(0).max(65535).default(0),
  host: z.string().default('127.0.0.1'),
  /**
   * Where the endpoints for other nodes are: on the port of the service side, or on a port of their own, without TLS
   * (`plain`) or with TLS (`tls`).
   */
  p2p: z.enum(['same port', 'plain', 'tls']).default('same port'),
  /** Port of the P2P side, unless the option `p2p` is `same port`; 0 means any free port. */
  p2pPort: z.number().int().min(0).max(65535).default(0),
  /**
   * Port of the control server, which accepts instructions on 127.0.0.1; 0 means any free port. By default, there is no
   * control server.
   */
  controlPort: z.number().int().min(0).max(65535).optional(),
  /**
   * Whether the node's cuts have no origin, like the cuts of a bootstrap node. Otherwise, the P2P side is their origin,
   * if the P2P side has a port of its own.
   */
  bootstrap: z.boolean().default(false),
  /**
   * The API that the node serves: that of document 1, that of real nodes (`chainweb`), or both below different paths.
   */
  dialect: z.enum(['both', 'document', 'chainweb']).default('both'),
  /**
   * Whether the node answers certain requests for collections with 404, as document 1 demands. Real nodes answer a
   * query without a match with an empty page. They answer an invalid height or cursor with 400, and they ignore an
   * unknown lower bound.
   */
  strict: z.boolean().default(false),
  /**
   * The form of the answers at the host's root, where the node serves the command API like a stand-alone server.
   * `document`: each answer is wrapped as `{status, response}`, as in document 2. `new`: answers are not wrapped, as on
   * newer servers.
   */
  standAlone: z.enum(['document', 'new']).default('document'),
  /**
   * The miners that may mine. With an empty list, every valid miner may mine. On a real node with an empty list, no
   * miner may mine.
   */
  miners: z.array(allowedMinerSchema).max(100).default([]),
  miningEnabled: z.boolean().default(true),
  configServed: z.boolean().default(true),
  /** The HTTP status for an accepted solution: real nodes send 200, document 1 demands 204. */
  acceptedStatus: z.union([z.literal(200), z.literal(204)]).default(200),
  /** Mean lifetime of an update stream, in ms. Each lifetime differs from the mean by at most 10 %. */
  streamMs: ms.default(STREAM_MS),
  /**
   * Whether the node serves `/header/updates` and `/block/updates`, the streams of all new blocks. By default, real
   * nodes do not serve them.
   */
  headerStream: z.boolean().default(false),
  streamLimit: z.number().int().min(0).max(10_000).default(2000),
  /**
   * The sides that refuse clients with too many requests. `p2p` has an effect only if the P2P side has a port of its
   * own. Real nodes behave as with `p2p`.
   */
  throttled: z.enum(['none', 'p2p', 'all']).default('p2p'),
  /**
   * Maximum numbers of requests per second from one address (see `Throttle`). The defaults are those of document 1's
   * sample configuration.
   */
  throttling: z
    .strictObject({
      global: z.number().min(0.001).max(1_000_000).default(50),
      mempool: z.number().min(0.001).max(1_000_000).default(20),
      putPeer: z.number().min(0.001).max(1_000_000).default(11),
    })
    .prefault({}),
  /**
   * Whether a refusal because of too many requests has the header `retry-after`. Gateways send this header, real nodes
   * do not.
   */
  throttleRetryAfter: z.boolean().default(false),
  /**
   * Number of events `New Cut` that a stream gets for each new block. Real nodes send one when the block makes their
   * work stale, and one when they have new work.
   */
  cutBurst: z.number().int().min(1).max(100).default(2),
};

export const optionsSchema = z.strictObject({
  ...ledgerOptions,
  ...contractOptions,
  ...serverOptions,
  /** Seed of all random choices. By default, it is random. */
  seed: z.number().int().optional(),
});

export type MockNodeOptions = z.input<typeof optionsSchema>;
export type Settings = z.output<typeof optionsSchema>;
export type LedgerSettings = Pick<Settings, keyof typeof ledgerOptions>;
export type ContractSettings = Pick<Settings, keyof typeof contractOptions | 'network' | 'chains' | 'outputEvents'>;
export type ServerSettings = Pick<Settings, keyof typeof serverOptions>;
