/**
 * The chains of the mock ledger. Blocks of other miners have no proof of work, and are valid in every other respect.
 */

import { createHash } from 'node:crypto';
import { NONCE_BYTES, viewOf, WORK_BYTES, WORK_OFFSET } from '../../protocol/chain/bytes.ts';
import { type Cut, type Peer, sumOfHeights } from '../../protocol/ledger/cut.ts';
import { cutWeight } from '../../protocol/ledger/difficulty.ts';
import type { Graph } from '../../protocol/ledger/graphs.ts';
import { parseHeader } from '../../protocol/ledger/header.ts';
import { encodeBase64url, LedgerFormatError } from '../../protocol/ledger/json.ts';
import { type Miner, type PayloadWithOutputs, provePayload } from '../../protocol/ledger/payload.ts';
import { type Random, randomBytes } from '../random.ts';
import { type Block, type BlockPayload, BlockStore, blockOf, payloadSize } from './block-store.ts';
import { type Draft, NextBlocks } from './next-blocks.ts';
import type { PayloadMaker } from './payloads.ts';
import { checkReceived } from './referee.ts';

interface ChainsOptions {
  readonly graph: Graph;
  /** The first blocks, one of each chain. */
  readonly first: readonly Block[];
  readonly payloads: PayloadMaker;
  readonly random: Random;
  /**
   * Whether targets follow from the durations of epochs, as on real networks. Otherwise, all new work has the target
   * `target`.
   */
  readonly retargets: boolean;
}

interface MadeWork {
  /** The work record: 322 bytes. */
  readonly record: Uint8Array;
  readonly payload: BlockPayload;
}

/** Maximum size of another node's payload, in bytes: far more than the payloads of the mock node have. */
const MOST_PAYLOAD_BYTES = 1024 * 1024;

const RIVAL: Miner = { account: `k:${'1'.repeat(64)}`, predicate: 'keys-all', publicKeys: ['1'.repeat(64)] };

export class Chains {
  readonly graph: Graph;
  /** The target of all new work while the option `retargets` is off: 32 bytes, little-endian. */
  target: Uint8Array;
  readonly #stores: readonly BlockStore[];
  readonly #next: NextBlocks;
  readonly #payloads: PayloadMaker;
  readonly #random: Random;
  readonly #retargets: boolean;

  constructor({ graph, first, payloads, random, retargets }: ChainsOptions) {
    this.graph = graph;
    this.target = first[0].header.target;
    this.#stores = first.map((block) => new BlockStore(block));
    this.#next = new NextBlocks({ graph, stores: this.#stores, payloads, random });
    this.#payloads = payloads;
    this.#random = random;
    this.#retargets = retargets;
  }

  /** A read-only view of a chain's blocks. */
  blocksOf(chain: number): Omit<BlockStore, 'add' | 'addOrphan' | 'moveTip'> {
    return this.#stores[chain];
  }

  tip(chain: number): Block {
    return this.#stores[chain].tip;
  }

  /** Whether the block with this hash (as text) is the chain's tip or an ancestor of the tip. */
  isCanonical(chain: number, id: string): boolean {
    return this.#stores[chain].hasCanonical(id);
  }

  heightOf(chain: number): bigint {
    return this.tip(chain).header.height;
  }

  /**
   * Whether the chain can get its next block now. The next block builds on blocks of the neighbouring chains at the
   * height of this chain's tip.
   */
  isFree(chain: number): boolean {
    const height = this.heightOf(chain);
    return this.graph[chain].every((other) => this.heightOf(other) >= height);
  }

  /**
   * A block builds on blocks of the neighbouring chains one height below it. So a chain must wait for a lower
   * neighbour, which may itself have to wait.
   * @returns a chain for which this chain must wait, and which can get its next block now; undefined if this chain can
   *   get its next block now
   */
  laggardOf(chain: number): number | undefined {
    const laggard = this.graph[chain].find((other) => this.heightOf(other) < this.heightOf(chain));
    return laggard === undefined ? undefined : (this.laggardOf(laggard) ?? laggard);
  }

  parentTimeUs(chain: number): bigint {
    return this.#next.parentTimeUs(chain);
  }

  /** @returns why the chain's next block cannot pay a miner; undefined if it can */
  whyUnpaid(chain: number, miner: Miner): string | undefined {
    return this.#next.whyUnpaid(chain, miner);
  }

  /**
   * @returns work for a miner. The payload of a miner's work stays the same until the tip changes, the payload is
   *   refreshed, or too many other miners get work
   */
  work(chain: number, miner: Miner, nowUs: bigint): MadeWork {
    const { header, payload, target } = this.#draft(chain, miner);
    const record = new Uint8Array(WORK_BYTES);
    viewOf(record).setUint32(WORK_OFFSET.chain, chain, true);
    record.set(target, WORK_OFFSET.target);
    record.set(header, WORK_OFFSET.header);
    this.#next.setTime(record.subarray(WORK_OFFSET.header), chain, nowUs);
    return { record, payload };
  }

  /** Makes another miner's block for this chain, and adds it as the new tip. @param miner the miner who is paid */
  addRival(chain: number, nowUs: bigint, miner: Miner = RIVAL): Block {
    const draft = this.#draft(chain, miner);
    const header = draft.header.slice();
    this.#next.setTime(header, chain, nowUs);
    header.set(randomBytes(this.#random, NONCE_BYTES), header.length - NONCE_BYTES);
    return this.append(header, draft.payload);
  }

  /** Adds a block, and makes it the tip of its chain. @param header without its hash */
  append(header: Uint8Array, payload: BlockPayload): Block {
    const block = blockOf(header, payload);
    const store = this.#stores[block.header.chain];
    store.add(block);
    store.moveTip(block);
    this.#next.tipChanged(block.header.chain);
    return block;
  }

  /**
   * Adds a block that is not canonical.
   * @param header without its hash
   * @returns undefined if the block's height is no longer kept, or there are too many orphans
   */
  addOrphan(header: Uint8Array, payload: BlockPayload): Block | undefined {
    const block = blockOf(header, payload);
    return this.#stores[block.header.chain].addOrphan(block) ? block : undefined;
  }

  /**
   * Checks another node's block, and adds it as an orphan.
   * @param bytes a header without its hash
   * @throws LedgerFormatError if a parent of the block is unknown, if the block is wrong or too large, or if there are
   *   too many orphans
   */
  receive(bytes: Uint8Array, payload: PayloadWithOutputs, nowUs: bigint): Block {
    const header = parseHeader(bytes);
    const neighbours = this.graph[header.chain] ?? [];
    const parent = this.#stores[header.chain]?.parentOf({ header });
    const adjacents = header.adjacents.flatMap(({ chain, hash }) => {
      return this.#stores[chain]?.get(encodeBase64url(hash)) ?? [];
    });
    if (!parent || adjacents.length !== neighbours.length) throw new LedgerFormatError('a parent is not known');
    const received = { header, parent: parent.header, adjacents: adjacents.map((block) => block.header), neighbours };
    checkReceived({ ...received, retargets: this.#retargets, nowUs });
    if (payloadSize(payload) > MOST_PAYLOAD_BYTES) {
      throw new LedgerFormatError(`a payload has more than ${MOST_PAYLOAD_BYTES} bytes`);
    }
    provePayload(payload, header.payloadHash);
    const ancestors = new Set([...this.#stores[header.chain].ancestry(parent)].map(({ id }) => id));
    const next = { chain: header.chain, parent, hasAncestor: (id: string) => ancestors.has(id) };
    const block = this.addOrphan(bytes, this.#payloads.replay(next, payload));
    if (!block) throw new LedgerFormatError(`chain ${header.chain} has too many blocks beside its own`);
    return block;
  }

  /**
   * Joins the ledger's own cut with another cut. The chains do not change yet.
   * @param theirs the heads of the other cut: known blocks, in the order of the chains
   * @returns the new heads of those chains whose tip must change
   * @throws LedgerFormatError if the heads of the other cut are not a cut
   */
  joined(theirs: readonly Block[]): Block[] {
    if (!isCut(this.#stores, theirs))
      throw new LedgerFormatError('the heads are no cut: they do not build on each other');
    const ours = this.#stores.map(({ tip }) => tip);
    return joinCuts(this.#stores, ours, theirs).filter((head, chain) => head !== ours[chain]);
  }

  /** @returns the given blocks and their ancestors, without the canonical ones, lowest first */
  notCanonical(heads: readonly Block[]): Block[] {
    const blocks = heads.flatMap((head) => {
      const store = this.#stores[head.header.chain];
      return [...store.ancestry(head)].filter((block) => !store.isCanonical(block));
    });
    return blocks.sort((a, b) => Number(a.header.height - b.header.height));
  }

  /** Makes these blocks the tips of their chains. @returns the chains whose old tip is now an orphan */
  moveTips(blocks: readonly Block[]): number[] {
    const left = blocks.flatMap((block) => {
      const store = this.#stores[block.header.chain];
      const old = store.tip;
      store.moveTip(block);
      return store.isCanonical(old) ? [] : [block.header.chain];
    });
    this.#next.tipChanged();
    return left;
  }

  /**
   * Makes orphans of a canonical block and of all blocks that build on it.
   * @returns the number of blocks that each chain has lost
   */
  remove(block: Block): Map<number, number> {
    const lost = new Map<number, number>();
    const queue = [block];
    for (let removed = queue.pop(); removed; removed = queue.pop()) {
      const { chain, height } = removed.header;
      const store = this.#stores[chain];
      if (!store.isCanonical(removed)) continue;
      for (const each of store.ancestry(store.tip)) {
        if (each.header.height < height) {
          lost.set(chain, (lost.get(chain) ?? 0) + Number(this.heightOf(chain) - each.header.height));
          store.moveTip(each);
          break;
        }
        queue.push(...this.graph[chain].flatMap((other) => this.#dependent(other, each)));
      }
    }
    this.#next.tipChanged();
    return lost;
  }

  /** Replaces the payload of the chain's next block, as if new transactions had arrived. */
  refreshPayload(chain: number): void {
    this.#next.refreshPayloads(chain);
  }

  /**
   * @returns a list with the chain's canonical block that builds on `adjacent`; an empty list if there is no such block
   */
  #dependent(chain: number, adjacent: Block): Block[] {
    const above = this.#stores[chain].canonical(adjacent.header.height + 1n);
    const depends = above?.header.adjacents.some(({ hash }) => Buffer.compare(hash, adjacent.hash) === 0);
    return above && depends ? [above] : [];
  }

  #draft(chain: number, miner: Miner): Draft {
    return this.#next.draft(chain, miner, this.#retargets ? undefined : this.target);
  }
}

/*
 * Joins the node's own cut with another node's cut, as real nodes do. The result is the heavier cut, plus those blocks
 * of the lighter cut that can be added on top of the heavier one. Two nodes that join each other's cuts get the same
 * result.
 */

type Blocks = Pick<BlockStore, 'ancestry'>;

/** Cuts are given by the heads of all chains, in the order of the chains. @returns the heads of the new cut */
function joinCuts(stores: readonly Blocks[], ours: readonly Block[], theirs: readonly Block[]): Block[] {
  const [base, other] = compareCuts(theirs, ours) > 0 ? [theirs, ours] : [ours, theirs];
  const heads = [...base];
  for (const block of blocksBeyond(stores, base, other)) {
    const { chain, parent } = block.header;
    const isNext = Buffer.compare(heads[chain].hash, parent) === 0;
    if (isNext && fits(stores, heads, block)) heads[chain] = block;
  }
  return heads;
}

/** Whether these heads are a cut: the adjacents of every head must be on the branches that end with these heads. */
function isCut(stores: readonly Blocks[], heads: readonly Block[]): boolean {
  return heads.every((head) => fits(stores, heads, head));
}

/** Whether the block's adjacents are on the branches that end with these heads. */
function fits(stores: readonly Blocks[], heads: readonly Block[], { header }: Block): boolean {
  return header.adjacents.every(({ chain, hash }) => {
    for (const below of stores[chain].ancestry(heads[chain])) {
      if (below.header.height < header.height) {
        return Buffer.compare(below.hash, hash) === 0;
      }
    }
    return true; // An adjacent below the kept heights cannot be compared.
  });
}

/** @returns those blocks on the branches of `cut` that are higher than the chain's head in `heads`, lowest first */
function blocksBeyond(stores: readonly Blocks[], heads: readonly Block[], cut: readonly Block[]): Block[] {
  const found: Block[] = [];
  for (const [chain, head] of cut.entries()) {
    for (const block of stores[chain].ancestry(head)) {
      if (block.header.height <= heads[chain].header.height) break;
      found.push(block);
    }
  }
  return found.sort((a, b) => Number(a.header.height - b.header.height));
}

/** Compares the weights, then the sums of heights, then the hashes, so that all nodes decide alike. */
function compareCuts(a: readonly Block[], b: readonly Block[]): number {
  const weight = sum(a, ({ header }) => header.weight) - sum(b, ({ header }) => header.weight);
  const height = sum(a, ({ header }) => header.height) - sum(b, ({ header }) => header.height);
  if (weight !== 0n) return Number(weight > 0n) || -1;
  if (height !== 0n) return Number(height > 0n) || -1;
  return Buffer.compare(hashesOf(a), hashesOf(b));
}

function sum(blocks: readonly Block[], value: (block: Block) => bigint): bigint {
  return blocks.reduce((total, block) => total + value(block), 0n);
}

function hashesOf(blocks: readonly Block[]): Buffer {
  return Buffer.concat(blocks.map(({ hash }) => hash));
}

/* Cuts of the mock ledger: the heads of all chains, now or some blocks ago. */

interface CutRequest {
  readonly origin: Peer | null;
  readonly network: string;
  /** Number of newest blocks that are left out on each chain. */
  readonly blocksBack: number;
}

export function cutOf(chains: Chains, { origin, network, blocksBack }: CutRequest): Cut {
  const blocks = chains.graph.map((_, chain) => headOf(chains, chain, BigInt(blocksBack)));
  const heads = new Map(blocks.map(({ header, hash }) => [header.chain, { height: header.height, hash }] as const));
  const cut = { origin, heads, network, id: idOf(blocks), weight: cutWeight(blocks.map(({ header }) => header)) };
  return { ...cut, height: sumOfHeights({ ...cut, height: 0n }) };
}

/** @returns the number of blocks to leave out on each chain, so that the sum of heights is at most `maxHeight` */
export function blocksAbove(chains: Chains, maxHeight: bigint): number {
  const sum = chains.graph.reduce((total, _, chain) => total + chains.heightOf(chain), 0n);
  if (sum <= maxHeight) return 0;
  const count = BigInt(chains.graph.length);
  return Number((sum - maxHeight + count - 1n) / count);
}

function headOf(chains: Chains, chain: number, blocksBack: bigint): Block {
  const store = chains.blocksOf(chain);
  const height = store.tip.header.height - blocksBack;
  return store.canonical(height > store.lowest ? height : store.lowest)!;
}

/** @returns the id of a cut: a hash of the heads' hashes. Other nodes may make their ids in another way */
function idOf(blocks: readonly Block[]): string {
  const hash = createHash('sha512-256');
  for (const block of blocks) hash.update(block.hash);
  return encodeBase64url(hash.digest());
}
