/**
 * A network of simulated nodes: chains that grow, blocks that reach each node after a while, forks that heal. It keeps
 * what really happened, so that a world can compare that with what the miners believe.
 */

import { ROW_COUNTERS } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { type Random, randomBytes } from '#pickaxe/mock-node/random.js';
import { HEADER_BYTES, HEADER_OFFSET, TARGET_BYTES, toHex } from '#pickaxe/protocol/chain/bytes.js';
import { puzzleOf } from '#pickaxe/protocol/chain/job.js';
import { splitNonce } from '#pickaxe/protocol/chain/nonce.js';
import { withNonce } from '#pickaxe/protocol/chain/work.js';
import { blockHash, parseHeader } from '#pickaxe/protocol/ledger/header.js';
import { Search } from './hashing.ts';
import { START_MS } from './virtual-time.ts';

export interface SimulatedBlock {
  readonly chain: number;
  readonly height: number;
  /** 286 bytes, with proof of work. */
  readonly header: Buffer;
  /** The block hash, 32 bytes. Children have it as their parent. */
  readonly hash: Buffer;
  /** The creation time, in µs since the UNIX epoch. */
  readonly timeUs: bigint;
}

/** What a node did with a solution. */
export type Judgement = 'accepted' | 'orphaned' | 'unknown' | 'invalid';

/** The code of the network `development` in headers. */
const NETWORK_CODE = 1;
const OLDEST_BLOCK_US = BigInt(START_MS - 30_000) * 1000n;

export interface NetworkOptions {
  readonly chains: number;
  /** Number of hashes that a block takes on average: a power of two up to 2^16. */
  readonly difficulty: number;
  /** Longest time until a block has reached every node, in ms. */
  readonly propagationMs: number;
}

/** Every block has three adjacent ones. Nothing looks at their chains here. */
const ADJACENTS = [0, 1, 2];

/** Whatever follows the growth of the network, such as a node. */
export interface Peer {
  /** Takes a block that another node has found. */
  receive(block: SimulatedBlock): void;
}

export class SimulatedNetwork {
  readonly options: NetworkOptions;
  /** The target of each new work, which may change: 32 bytes, little-endian. */
  workTarget: Buffer;
  /** The target of the blocks of others. */
  readonly target: Buffer;
  /** By chain: the newest block that any node knows. */
  readonly newest: SimulatedBlock[];
  /** The headers of solutions that a node has accepted, in hex, with what became of them. */
  readonly accepted = new Map<string, 'accepted' | 'orphaned'>();
  readonly counts: Record<Judgement, number> = { accepted: 0, orphaned: 0, unknown: 0, invalid: 0 };
  readonly random: Random;
  /** The parents of the solutions that nodes have taken, in hex. */
  readonly #parents = new Set<string>();
  /** By parent in hex: when a node last refused a solution on it. */
  readonly #refusals = new Map<string, number>();
  /** All blocks that anybody has ever known, by their hashes in hex. */
  readonly #blocks = new Map<string, SimulatedBlock>();
  readonly #peers: { readonly peer: Peer; readonly plan: (ms: number, act: () => void) => void }[] = [];

  constructor(random: Random, options: NetworkOptions) {
    this.options = options;
    this.random = random;
    this.target = targetOf(options.difficulty);
    this.workTarget = this.target;
    this.newest = Array.from({ length: options.chains }, (_, chain) => {
      const header = this.#header(chain, { height: 999, hash: randomBytes(random, 32), timeUs: 0n }, OLDEST_BLOCK_US);
      return this.block(header);
    });
  }

  /** @returns the block of a header of 286 bytes, from now on known to the network */
  block(header: Buffer): SimulatedBlock {
    const { chain, height, creationTimeUs: timeUs, ...rest } = parseHeader(header);
    const hash = Buffer.from(blockHash({ chain, height, creationTimeUs: timeUs, ...rest }));
    const block = { chain, height: Number(height), header, hash, timeUs };
    this.#blocks.set(toHex(hash), block);
    return block;
  }

  /** @returns the block; undefined if nobody has ever known it */
  blockOf(hash: Uint8Array): SimulatedBlock | undefined {
    return this.#blocks.get(toHex(hash));
  }

  /** @returns all blocks of a chain with heights between these, in ascending order */
  blocksOf(chain: number, { from, to }: { readonly from: number; readonly to: number }): SimulatedBlock[] {
    const found = [...this.#blocks.values()].filter((block) => {
      return block.chain === chain && block.height >= from && block.height <= to;
    });
    return found.sort((a, b) => a.height - b.height);
  }

  /** @returns the parent of a block; undefined for the oldest block */
  parent({ header }: SimulatedBlock): SimulatedBlock | undefined {
    return this.#blocks.get(parentOf(header));
  }

  /** From now on, a solution takes this number of hashes on average: a power of two up to 2^16. */
  setDifficulty(difficulty: number): void {
    this.workTarget = targetOf(difficulty);
  }

  /** @param plan does something in the peer's process after a time */
  join(peer: Peer, plan: (ms: number, act: () => void) => void): void {
    this.#peers.push({ peer, plan });
  }

  /** Makes a block known to all other nodes, to each after a time of its own. */
  publish(block: SimulatedBlock, from: Peer): void {
    if (block.height > this.newest[block.chain].height) this.newest[block.chain] = block;
    for (const { peer, plan } of this.#peers) {
      if (peer !== from) plan(20 + this.random() * this.options.propagationMs, () => peer.receive(block));
    }
  }

  /** @returns a block of somebody else on this one, with the creation time `timeUs` */
  foreignBlock(parent: SimulatedBlock, timeUs: bigint): SimulatedBlock {
    const header = this.#header(parent.chain, parent, timeUs);
    const search = new Search(puzzleOf(header, this.target), splitNonce(0n));
    for (;;) {
      const [nonce] = search.next(ROW_COUNTERS);
      if (nonce !== undefined) return this.block(Buffer.from(withNonce(header, nonce)));
    }
  }

  /** @returns the header of a work on this block, 286 bytes, with the creation time `timeUs` */
  header(parent: SimulatedBlock, timeUs: bigint): Buffer {
    return this.#header(parent.chain, parent, timeUs, this.workTarget);
  }

  #header(
    chain: number,
    parent: Pick<SimulatedBlock, 'height' | 'hash' | 'timeUs'>,
    timeUs: bigint,
    target = this.target,
  ): Buffer {
    const header = randomBytes(this.random, HEADER_BYTES);
    header.writeBigUInt64LE(0n, 0);
    header.writeBigInt64LE(timeUs > parent.timeUs ? timeUs : parent.timeUs + 1n, HEADER_OFFSET.creationTime);
    parent.hash.copy(header, HEADER_OFFSET.parent);
    header.writeUInt16LE(ADJACENTS.length, 48);
    for (const [at, adjacent] of ADJACENTS.entries()) header.writeUInt32LE(adjacent, 50 + 36 * at);
    target.copy(header, HEADER_OFFSET.target);
    header.writeUInt32LE(chain, HEADER_OFFSET.chain);
    header.writeBigUInt64LE(BigInt(parent.height + 1), HEADER_OFFSET.height);
    header.writeUInt32LE(NETWORK_CODE, HEADER_OFFSET.version);
    header.writeBigUInt64LE(0n, HEADER_OFFSET.nonce);
    return header;
  }

  /** Notes what became of a header that a node has taken. */
  take(header: Uint8Array, judgement: 'accepted' | 'orphaned'): void {
    this.accepted.set(toHex(header), judgement);
    this.#parents.add(parentOf(header));
  }

  /** Notes that a node has refused a solution with the parent of this header, at this time. */
  refuse(header: Uint8Array, nowMs: number): void {
    if (header.length === HEADER_BYTES) this.#refusals.set(parentOf(header), nowMs);
  }

  /** @returns when a node last refused a solution with the parent of this header; −∞ if none has */
  refusedMs(header: Uint8Array): number {
    return this.#refusals.get(parentOf(header)) ?? Number.NEGATIVE_INFINITY;
  }

  /** Whether a node has taken a solution with the parent of this header, even too late. */
  hasSolutionOn(header: Uint8Array): boolean {
    return this.#parents.has(parentOf(header));
  }

  /** Whether any node has accepted this header. */
  hasAccepted(header: Uint8Array): boolean {
    return this.accepted.has(toHex(header));
  }
}

const parentOf = (header: Uint8Array) => toHex(header.subarray(HEADER_OFFSET.parent, HEADER_OFFSET.parent + 32));

/** @returns the highest hash that a block may have: 32 bytes, little-endian */
function targetOf(difficulty: number): Buffer {
  const target = Buffer.alloc(TARGET_BYTES, 0xff);
  target.writeUInt32LE(Math.floor(2 ** 32 / difficulty) - 1, TARGET_BYTES - 4);
  return target;
}
