/** The chains of the mock ledger: the tip of each, the header of the block that follows it, and the blocks so far. */

import { createHash } from 'node:crypto';
import { viewOf } from '../../chain/bytes.ts';
import { HEADER_BYTES, HEADER_OFFSET, TARGET_BYTES, WORK_BYTES, WORK_OFFSET } from '../../chain/layout.ts';
import { targetToInteger } from '../../chain/target.ts';
import { type Random, randomBytes, randomInteger } from '../random.ts';

export interface Block {
  /** 286 bytes. */
  readonly header: Uint8Array;
  /** 32 bytes. A real block hash is a SHA-512/256 Merkle root; a plain SHA-512/256 is good enough here. */
  readonly hash: Uint8Array;
  /** Creation time: µs since the UNIX epoch. */
  readonly timeUs: bigint;
}

interface Chain {
  height: bigint;
  weight: bigint;
  tip: { readonly hash: Uint8Array; readonly timeUs: bigint };
  /** The next block's feature flags. Like the two that follow, they are fixed when the tip is. */
  flags: bigint;
  /** The next block's parents on the adjacent chains. */
  adjacents: readonly { readonly chain: number; readonly hash: Uint8Array }[];
  /** The creation time of the latest of the next block's parents: µs since the UNIX epoch. */
  parentTimeUs: bigint;
  /** The next block's payload hash for each account: payloads differ because the miner is in the coinbase. */
  readonly payloads: Map<string, Uint8Array>;
  readonly blocks: Block[];
}

/** Offsets of the header's other fields, which a miner neither reads nor writes. All integers are little-endian. */
const OFFSET = { flags: 0, adjacents: 48, payload: 190, weight: 226, version: 266, epochStart: 270 } as const;
const ADJACENTS = 3;
/** How many blocks are kept for each chain. */
const MAX_BLOCKS = 500;
/** How many miners' payloads are kept for each chain. */
const MAX_PAYLOADS = 100;
/** Any height will do; a large one looks like a network of some age. */
const START_HEIGHT = 5_000_000n;
/** The first blocks lie a little in the past, so that there is room for creation times between them and the clock. */
const START_AGE_US = 30_000_000n;
/** The codes of mainnet01 and testnet04 are those of the real networks; the others are made up. */
const VERSION_CODE = { mainnet01: 5, testnet04: 7, development: 1, 'test-singleton': 2 } as const;

export type Network = keyof typeof VERSION_CODE;

export class Chains {
  readonly count: number;
  /** 32 bytes, little-endian; a change counts for work made from now on. */
  target: Uint8Array;
  readonly #chains: readonly Chain[];
  readonly #random: Random;
  readonly #version: number;
  readonly #epochStartUs: bigint;

  constructor(count: number, network: Network, target: Uint8Array, nowUs: bigint, random: Random) {
    this.count = count;
    this.target = target;
    this.#random = random;
    this.#version = VERSION_CODE[network];
    this.#epochStartUs = nowUs - START_AGE_US;
    this.#chains = Array.from({ length: count }, () => ({
      height: START_HEIGHT,
      weight: START_HEIGHT,
      tip: { hash: randomBytes(random, 32), timeUs: nowUs - START_AGE_US },
      flags: 0n,
      adjacents: [],
      parentTimeUs: 0n,
      payloads: new Map(),
      blocks: [],
    }));
    for (let chain = 0; chain < count; chain++) this.#prepareNext(chain);
  }

  /** The three chains that this one is braided with; mutual when the number of chains is even. */
  adjacentsOf(chain: number): number[] {
    const steps = [1, this.count - 1, Math.floor(this.count / 2)];
    return steps.map((step) => (chain + step) % this.count).sort((a, b) => a - b);
  }

  /** The creation time of the latest parent, which the next block's must exceed: µs since the UNIX epoch. */
  parentTimeUs(chain: number): bigint {
    return this.#chains[chain].parentTimeUs;
  }

  /** The height of the chain's tip. */
  heightOf(chain: number): bigint {
    return this.#chains[chain].height;
  }

  /** A work record of 322 bytes. The payload stays the same until the chain advances or the payload is refreshed. */
  work(chain: number, account: string, nowUs: bigint): Uint8Array {
    const record = new Uint8Array(WORK_BYTES);
    viewOf(record).setUint32(WORK_OFFSET.chain, chain, true);
    record.set(this.target, WORK_OFFSET.target);
    record.set(this.#header(chain, this.#payload(chain, account), nowUs), WORK_OFFSET.header);
    return record;
  }

  /** The header of somebody else's block for this chain, with a made-up nonce: 286 bytes. */
  rivalHeader(chain: number, nowUs: bigint): Uint8Array {
    const header = this.#header(chain, randomBytes(this.#random, 32), nowUs);
    header.set(randomBytes(this.#random, 8), HEADER_OFFSET.nonce);
    return header;
  }

  /** Makes a block of a header of 286 bytes, the tip of its chain from now on. */
  append(chain: number, header: Uint8Array): Block {
    const state = this.#chains[chain];
    const block = {
      header,
      hash: createHash('sha512-256').update(header).digest(),
      timeUs: viewOf(header).getBigInt64(HEADER_OFFSET.creationTime, true),
    };
    state.height += 1n;
    state.weight += this.#blockWeight();
    state.tip = block;
    state.payloads.clear();
    state.blocks.push(block);
    if (state.blocks.length > MAX_BLOCKS) state.blocks.shift();
    this.#prepareNext(chain);
    return block;
  }

  /** The block that is being mined gets newer transactions. */
  refreshPayload(chain: number): void {
    this.#chains[chain].payloads.clear();
  }

  /** Blocks with `min <= height <= max`, ascending. */
  blocks(chain: number, min: bigint, max: bigint): Block[] {
    return this.#chains[chain].blocks.filter(({ header }) => {
      const height = viewOf(header).getBigUint64(HEADER_OFFSET.height, true);
      return height >= min && height <= max;
    });
  }

  #prepareNext(chain: number): void {
    const state = this.#chains[chain];
    const neighbours = this.adjacentsOf(chain);
    // Some real headers have nonzero flags: a miner must leave them alone.
    state.flags = randomInteger(this.#random, 4) === 0 ? randomBytes(this.#random, 8).readBigUInt64LE() : 0n;
    state.adjacents = neighbours.map((c) => ({ chain: c, hash: this.#chains[c].tip.hash }));
    state.parentTimeUs = [chain, ...neighbours].map((c) => this.#chains[c].tip.timeUs).reduce(latest);
  }

  #payload(chain: number, account: string): Uint8Array {
    const { payloads } = this.#chains[chain];
    let payload = payloads.get(account);
    if (!payload) {
      if (payloads.size >= MAX_PAYLOADS) payloads.clear();
      payload = randomBytes(this.#random, 32);
      payloads.set(account, payload);
    }
    return payload;
  }

  #blockWeight(): bigint {
    return (1n << 256n) / (targetToInteger(this.target) + 1n);
  }

  #header(chain: number, payload: Uint8Array, nowUs: bigint): Uint8Array {
    const state = this.#chains[chain];
    const header = new Uint8Array(HEADER_BYTES);
    const view = viewOf(header);
    view.setBigUint64(OFFSET.flags, state.flags, true);
    const earliestUs = state.parentTimeUs + 1n;
    view.setBigInt64(HEADER_OFFSET.creationTime, latest(nowUs, earliestUs), true);
    header.set(state.tip.hash, HEADER_OFFSET.parent);
    view.setUint16(OFFSET.adjacents, ADJACENTS, true);
    state.adjacents.forEach((adjacent, i) => {
      const at = OFFSET.adjacents + 2 + i * 36;
      view.setUint32(at, adjacent.chain, true);
      header.set(adjacent.hash, at + 4);
    });
    header.set(this.target, HEADER_OFFSET.target);
    header.set(payload, OFFSET.payload);
    view.setUint32(HEADER_OFFSET.chain, chain, true);
    const weight = state.weight + this.#blockWeight();
    for (let i = 0; i < TARGET_BYTES; i++) header[OFFSET.weight + i] = Number((weight >> BigInt(8 * i)) & 0xffn);
    view.setBigUint64(HEADER_OFFSET.height, state.height + 1n, true);
    view.setUint32(OFFSET.version, this.#version, true);
    view.setBigUint64(OFFSET.epochStart, this.#epochStartUs, true);
    return header;
  }
}

function latest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** The payload hash, header bytes 190..222, by which a node finds its own work. */
export function payloadOf(header: Uint8Array): Uint8Array {
  return header.subarray(OFFSET.payload, OFFSET.payload + 32);
}
