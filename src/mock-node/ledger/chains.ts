/** The chains of the mock ledger. Each has a tip, the header of the next block, and the blocks so far. */

import { createHash } from 'node:crypto';
import { viewOf } from '../../chain/bytes.ts';
import { HEADER_BYTES, HEADER_OFFSET, TARGET_BYTES, WORK_BYTES, WORK_OFFSET } from '../../chain/layout.ts';
import { targetToInteger } from '../../chain/target.ts';
import { type Random, randomBytes, randomInteger } from '../random.ts';

export interface Block {
  /** 286 bytes. */
  readonly header: Uint8Array;
  /** 32 bytes: a plain SHA-512/256 of the header. On the real ledger it is a SHA-512/256 Merkle root. */
  readonly hash: Uint8Array;
  /** The creation time: µs since the UNIX epoch. */
  readonly timeUs: bigint;
}

interface Chain {
  height: bigint;
  weight: bigint;
  tip: { readonly hash: Uint8Array; readonly timeUs: bigint };
  /** The next block's feature flags. Flags, adjacents and parentTimeUs are set when the chain gets a new tip. */
  flags: bigint;
  /** The next block's parents on the adjacent chains. */
  adjacents: readonly { readonly chain: number; readonly hash: Uint8Array }[];
  /** The creation time of the latest of the next block's parents: µs since the UNIX epoch. */
  parentTimeUs: bigint;
  /** The next block's payload hash for each account. Payloads differ because they name the miner in the coinbase. */
  readonly payloads: Map<string, Uint8Array>;
  readonly blocks: Block[];
}

/** Offsets in the header of fields that a miner neither reads nor writes. All integers are little-endian. */
const OFFSET = { flags: 0, adjacents: 48, payload: 190, weight: 226, version: 266, epochStart: 270 } as const;
const ADJACENTS = 3;
/** How many blocks are kept for each chain. */
const MAX_BLOCKS = 500;
/** How many miners' payloads are kept for each chain. */
const MAX_PAYLOADS = 100;
/** An arbitrary height; a large one looks like that of a real network. */
const START_HEIGHT = 5_000_000n;
/** How far the first blocks lie in the past, so that there is room for creation times between them and the clock. */
const START_AGE_US = 30_000_000n;
/** The codes of mainnet01 and testnet04 are those of the real networks; the others are made up. */
const VERSION_CODE = { mainnet01: 5, testnet04: 7, development: 1, 'test-singleton': 2 } as const;

export type Network = keyof typeof VERSION_CODE;

export class Chains {
  readonly count: number;
  /** The target, 32 bytes, little-endian. A change applies to work made from now on. */
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

  /** @returns the three chains whose blocks are parents of this chain's blocks; mutual when the number of chains is even */
  adjacentsOf(chain: number): number[] {
    const steps = [1, this.count - 1, Math.floor(this.count / 2)];
    return steps.map((step) => (chain + step) % this.count).sort((a, b) => a - b);
  }

  /** @returns the creation time of the next block's latest parent, which it must exceed: µs since the UNIX epoch */
  parentTimeUs(chain: number): bigint {
    return this.#chains[chain].parentTimeUs;
  }

  /** @returns the height of the chain's tip */
  heightOf(chain: number): bigint {
    return this.#chains[chain].height;
  }

  /** @returns a work record, 322 bytes. Its payload stays the same until the chain advances or the payload is refreshed */
  work(chain: number, account: string, nowUs: bigint): Uint8Array {
    const record = new Uint8Array(WORK_BYTES);
    viewOf(record).setUint32(WORK_OFFSET.chain, chain, true);
    record.set(this.target, WORK_OFFSET.target);
    record.set(this.#header(chain, this.#payload(chain, account), nowUs), WORK_OFFSET.header);
    return record;
  }

  /** @returns the header of another miner's block for this chain, with a random nonce: 286 bytes */
  rivalHeader(chain: number, nowUs: bigint): Uint8Array {
    const header = this.#header(chain, randomBytes(this.#random, 32), nowUs);
    header.set(randomBytes(this.#random, 8), HEADER_OFFSET.nonce);
    return header;
  }

  /** Makes a header of 286 bytes the new tip of its chain. */
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

  /** Replaces the payload of the chain's next block, as when newer transactions have come. */
  refreshPayload(chain: number): void {
    this.#chains[chain].payloads.clear();
  }

  /** @returns the blocks with `min <= height <= max`, ascending */
  blocks(chain: number, min: bigint, max: bigint): Block[] {
    return this.#chains[chain].blocks.filter(({ header }) => {
      const height = viewOf(header).getBigUint64(HEADER_OFFSET.height, true);
      return height >= min && height <= max;
    });
  }

  #prepareNext(chain: number): void {
    const state = this.#chains[chain];
    const neighbours = this.adjacentsOf(chain);
    // Some real headers have nonzero flags. A miner must not change them.
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

/** Reads the payload hash, header bytes 190..222, with which a node finds the work that it issued. */
export function payloadOf(header: Uint8Array): Uint8Array {
  return header.subarray(OFFSET.payload, OFFSET.payload + 32);
}
