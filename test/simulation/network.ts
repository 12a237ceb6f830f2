/**
 * A network of simulated nodes: chains that grow, blocks that reach each node after a while, forks that heal. It keeps
 * what really happened, so that a world can compare that with what the miners believe.
 */

import { type Random, randomBytes } from '#pickaxe/mock-node/random.js';
import { HEADER_BYTES, HEADER_OFFSET, TARGET_BYTES, toHex } from '#pickaxe/protocol/chain/bytes.js';
import { START_MS, type VirtualTime } from './virtual-time.ts';

export interface SimulatedBlock {
  readonly height: number;
  /** 32 bytes. Children have it as their parent. */
  readonly hash: Buffer;
  /** The creation time, in µs since the UNIX epoch. */
  readonly timeUs: bigint;
}

/** What a node did with a solution. */
export type Judgement = 'accepted' | 'orphaned' | 'doubled' | 'unknown' | 'invalid';

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

/** Whatever follows the growth of the network, such as a node. */
export interface Peer {
  /** Takes a block that another node has found. */
  receive(chain: number, block: SimulatedBlock): void;
}

export class SimulatedNetwork {
  readonly options: NetworkOptions;
  /** The target of each work: 32 bytes, little-endian. */
  readonly target: Buffer;
  /** By chain: the newest block that any node knows. */
  readonly newest: SimulatedBlock[];
  /** The headers of solutions that a node has accepted, in hex, with what became of them. */
  readonly accepted = new Map<string, 'accepted' | 'orphaned'>();
  readonly counts: Record<Judgement, number> = { accepted: 0, orphaned: 0, doubled: 0, unknown: 0, invalid: 0 };
  readonly random: Random;
  readonly #time: VirtualTime;
  /** The parents of the solutions that nodes have taken, in hex. */
  readonly #parents = new Set<string>();
  readonly #peers: { readonly peer: Peer; readonly plan: (ms: number, act: () => void) => void }[] = [];

  constructor(time: VirtualTime, random: Random, options: NetworkOptions) {
    this.options = options;
    this.random = random;
    this.#time = time;
    this.target = targetOf(options.difficulty);
    this.newest = Array.from({ length: options.chains }, () => ({
      height: 1_000,
      hash: randomBytes(random, 32),
      timeUs: OLDEST_BLOCK_US,
    }));
  }

  /** @param plan does something in the peer's process after a time */
  join(peer: Peer, plan: (ms: number, act: () => void) => void): void {
    this.#peers.push({ peer, plan });
  }

  /** Makes a block known to all other nodes, to each after a time of its own. */
  publish(chain: number, block: SimulatedBlock, from: Peer): void {
    if (block.height > this.newest[chain].height) this.newest[chain] = block;
    for (const { peer, plan } of this.#peers) {
      if (peer !== from) plan(20 + this.random() * this.options.propagationMs, () => peer.receive(chain, block));
    }
  }

  /** @returns a block of somebody else on this one */
  foreignBlock(parent: SimulatedBlock): SimulatedBlock {
    const nowUs = BigInt(Math.floor((START_MS + this.#time.nowMs) * 1000));
    const timeUs = nowUs > parent.timeUs ? nowUs : parent.timeUs + 1n;
    return { height: parent.height + 1, hash: randomBytes(this.random, 32), timeUs };
  }

  /** @returns the header of a work on this block, 286 bytes, with the creation time `timeUs` */
  header(chain: number, parent: SimulatedBlock, timeUs: bigint): Buffer {
    const header = randomBytes(this.random, HEADER_BYTES);
    header.writeBigUInt64LE(0n, 0);
    header.writeBigInt64LE(timeUs > parent.timeUs ? timeUs : parent.timeUs + 1n, HEADER_OFFSET.creationTime);
    parent.hash.copy(header, HEADER_OFFSET.parent);
    // Every block has three adjacent ones.
    header.writeUInt16LE(3, 48);
    this.target.copy(header, HEADER_OFFSET.target);
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
