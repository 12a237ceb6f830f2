/** The next blocks: for each chain and miner, a draft that lacks only the creation time and the nonce. */

import { HEADER_OFFSET, viewOf } from '../../protocol/chain/bytes.ts';
import { nextEpoch, weightAbove } from '../../protocol/ledger/difficulty.ts';
import type { Graph } from '../../protocol/ledger/graphs.ts';
import { type Adjacent, type BlockHeader, encodeHeader } from '../../protocol/ledger/header.ts';
import type { Miner } from '../../protocol/ledger/payload.ts';
import type { NextBlock } from '../execution/transactions.ts';
import { type Random, randomBytes, randomInteger } from '../random.ts';
import type { BlockPayload, BlockStore } from './block-store.ts';
import { keyOf, type PayloadMaker } from './payloads.ts';

interface NextBlocksOptions {
  readonly graph: Graph;
  readonly stores: readonly BlockStore[];
  readonly payloads: PayloadMaker;
  readonly random: Random;
}

/** What is known of a chain's next block before a miner asks for it, and the drafts for the miners that have asked. */
interface Next {
  readonly header: Omit<BlockHeader, 'creationTimeUs' | 'payloadHash' | 'weight' | 'target' | 'nonce'>;
  /** The target that follows from the parents (`nextEpoch`). */
  readonly target: Uint8Array;
  /** The creation time of the latest parent: µs since the UNIX epoch. */
  readonly parentTimeUs: bigint;
  /** The drafts of the block, by miner (`keyOf`). */
  readonly drafts: Map<string, Draft>;
}

/** A miner's next block, without its creation time and nonce. */
export interface Draft {
  readonly payload: BlockPayload;
  readonly target: Uint8Array;
  /** The header without its hash, with zeros in place of the creation time and the nonce. */
  readonly header: Uint8Array;
}

/** Maximum number of drafts, and of faults, that are kept for each chain. */
const MAX_DRAFTS = 100;

export class NextBlocks {
  readonly #graph: Graph;
  readonly #stores: readonly BlockStore[];
  readonly #payloads: PayloadMaker;
  readonly #random: Random;
  /** The next block of each chain. */
  readonly #next = new Map<number, Next>();
  /** For each chain and miner (`keyOf`), why the miner cannot be paid; undefined if the miner can be paid. */
  readonly #faults = new Map<number, Map<string, string | undefined>>();

  constructor({ graph, stores, payloads, random }: NextBlocksOptions) {
    this.#graph = graph;
    this.#stores = stores;
    this.#payloads = payloads;
    this.#random = random;
  }

  /**
   * @returns the creation time of the next block's latest parent, in µs since the UNIX epoch. The next block must be
   *   later
   */
  parentTimeUs(chain: number): bigint {
    return this.#nextOf(chain).parentTimeUs;
  }

  /**
   * @param target 32 bytes; by default, the target that follows from the parents
   * @returns the draft. If only the target has changed since the last draft, the payload is the same
   */
  draft(chain: number, miner: Miner, target = this.#nextOf(chain).target): Draft {
    const next = this.#nextOf(chain);
    const key = keyOf(miner);
    const known = next.drafts.get(key);
    if (known?.target === target) return known;
    const payload = known?.payload ?? this.#payloads.make(this.#blockOf(chain, miner));
    if (next.drafts.size >= MAX_DRAFTS) next.drafts.clear();
    const draft = { payload, target, header: this.#header(chain, next, payload, target) };
    next.drafts.set(key, draft);
    return draft;
  }

  /** @returns why the chain's next block cannot pay a miner; undefined if it can */
  whyUnpaid(chain: number, miner: Miner): string | undefined {
    const faults = this.#faults.get(chain) ?? new Map<string, string | undefined>();
    const key = keyOf(miner);
    if (faults.has(key)) return faults.get(key);
    if (faults.size >= MAX_DRAFTS) faults.clear();
    const fault = this.#payloads.whyUnpaid(this.#blockOf(chain, miner));
    this.#faults.set(chain, faults.set(key, fault));
    return fault;
  }

  /** Sets a header's creation time to `nowUs`, but at least to 1 µs after the header's latest parent. */
  setTime(header: Uint8Array, chain: number, nowUs: bigint): void {
    const timeUs = latest(nowUs, this.parentTimeUs(chain) + 1n);
    viewOf(header).setBigInt64(HEADER_OFFSET.creationTime, timeUs, true);
  }

  refreshPayloads(chain: number): void {
    this.#next.get(chain)?.drafts.clear();
  }

  /** Drops the drafts and the faults of a chain, or of all chains, because the tip has changed. */
  tipChanged(chain?: number): void {
    for (const known of [this.#next, this.#faults]) {
      if (chain === undefined) known.clear();
      else known.delete(chain);
    }
  }

  #blockOf(chain: number, miner: Miner): NextBlock {
    const hasAncestor = (id: string) => this.#stores[chain].hasCanonical(id);
    return { chain, miner, parent: this.#stores[chain].tip, hasAncestor };
  }

  #nextOf(chain: number): Next {
    let next = this.#next.get(chain);
    if (!next) {
      next = this.#prepareNext(chain);
      this.#next.set(chain, next);
    }
    return next;
  }

  #prepareNext(chain: number): Next {
    const parent = this.#stores[chain].tip;
    const { height, version } = parent.header;
    const neighbours = this.#graph[chain].map((other) => {
      const block = this.#stores[other].canonical(height);
      if (!block) throw new Error(`chain ${other} must reach height ${height} before chain ${chain} can go on`);
      return block;
    });
    const adjacents: Adjacent[] = neighbours.map((block) => ({ chain: block.header.chain, hash: block.hash }));
    const parents = neighbours.map(({ header }) => header);
    const { target, epochStartUs } = nextEpoch(parent.header, parents);
    const header = {
      // Every fourth header has nonzero flags on average, because many real headers have such flags, and a miner must
      // not change them.
      featureFlags: randomInteger(this.#random, 4) === 0 ? randomBytes(this.#random, 8).readBigUInt64LE() : 0n,
      parent: parent.hash,
      adjacents,
      chain,
      height: height + 1n,
      version,
      epochStartUs,
    };
    const times = [parent.header, ...parents].map(({ creationTimeUs }) => creationTimeUs);
    return { header, target, parentTimeUs: times.reduce(latest), drafts: new Map() };
  }

  #header(chain: number, { header }: Next, { payloadHash }: BlockPayload, target: Uint8Array): Uint8Array {
    const weight = weightAbove(this.#stores[chain].tip.header, target);
    return encodeHeader({ ...header, creationTimeUs: 0n, target, payloadHash, weight, nonce: 0n });
  }
}

function latest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
