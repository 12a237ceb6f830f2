/** The checks of `--verify`. The client has already proven the payloads. After a failed check, the others still run. */

import { plural } from '../../base/text/quantities.ts';
import type { Block } from '../../node/client/blocks.ts';
import type { NodeApi } from '../../node/client/node-api.ts';
import { unlessMissing } from '../../node/http/node-error.ts';
import { type Cut, lowestHeight } from '../../protocol/ledger/cut.ts';
import { weightAbove } from '../../protocol/ledger/difficulty.ts';
import {
  chainsAt,
  checkAdjacents,
  type Graph,
  type GraphSpan,
  graphAt,
  graphOfHeader,
  graphsOfNetwork,
  knownGraph,
  onlyGraph,
} from '../../protocol/ledger/graphs.ts';
import { type BlockHeader, blockHash, checkWork } from '../../protocol/ledger/header.ts';
import { encodeBase64url, LedgerFormatError } from '../../protocol/ledger/json.ts';
import { rewardOf } from '../../protocol/ledger/reward.ts';

/** The checks, in the order in which they are printed. `links` applies only to the blocks of a list. */
const CHECKS = ['links', 'proof of work', 'neighbours', 'weights', 'payloads', 'rewards'] as const;
type Check = (typeof CHECKS)[number];

/** Maximum number of faults of each check that are printed one by one. */
const MOST_PRINTED = 3;

export class BlockChecks {
  readonly graphs: NetworkGraphs;
  readonly #network: string;
  readonly #print: (line: string) => void;
  readonly #links: Links | undefined;
  readonly #faults = new Map<Check, number>();
  readonly #graphsFrom = new Set<GraphFrom>();
  /** Checked headers whose height differs by at most 1 from that of the last checked block, with their hashes. */
  #near: readonly (readonly [string, BlockHeader])[] = [];
  #checked = 0;

  /** @param links how the blocks of a list must follow each other; absent for blocks without an order */
  constructor(api: Pick<NodeApi, 'network' | 'info'>, say: (line: string) => void, links?: Links) {
    this.graphs = new NetworkGraphs(api);
    this.#network = api.network;
    this.#print = say;
    this.#links = links;
  }

  /** @throws NodeError when the node is asked for its graphs and does not answer */
  async check({ header, payload }: Block): Promise<void> {
    const hash = encodeBase64url(blockHash(header));
    const attempt = async (check: Check, act: () => unknown) => {
      try {
        await act();
      } catch (error) {
        if (!(error instanceof LedgerFormatError)) throw error;
        this.#fail(check, `block ${hash} of height ${header.height}: ${error.message}`);
      }
    };
    await attempt('links', () => this.#links?.check(hash, header));
    if (!isFirst(header, this.#network)) {
      await attempt('proof of work', () => checkWork(header));
      await attempt('neighbours', async () => this.#graphsFrom.add(await this.graphs.check(header)));
      await attempt('rewards', () => rewardOf(header, payload));
    }
    await attempt('weights', () => this.#checkWeight(hash, header));
    this.#checked += 1;
    this.#near = [...this.#near, [hash, header] as const].filter(([, { height }]) => isNear(height, header.height));
  }

  /**
   * Prints which checks have succeeded or failed, and whether neighbours were only compared with the node's own graph.
   * @param what `block` or `head`
   * @param more names of further checks that have succeeded
   * @returns whether no check has failed
   */
  finish(what: string, more: readonly string[] = []): boolean {
    const right = CHECKS.filter((check) => !this.#faults.has(check)).flatMap((check) => this.#shown(check));
    this.#print(`${plural(this.#checked, what)} verified: ${[...more, ...right].join(', ')}`);
    if (this.#graphsFrom.has('nobody')) {
      this.#print(
        'The neighbours are not verified: pickaxe does not know the graph of this network, nor does the node.',
      );
    }
    const note = this.#links?.note;
    if (note !== undefined) this.#print(note);
    for (const [check, count] of this.#faults) this.#print(`error: wrong in ${plural(count, what)}: ${check}`);
    return this.#faults.size === 0;
  }

  #shown(check: Check): string[] {
    if (check === 'links') return this.#links ? [check] : [];
    if (check !== 'neighbours') return [check];
    if (this.#graphsFrom.has('nobody')) return [];
    return [this.#graphsFrom.has('node') ? 'neighbours (by the graph that the node itself tells)' : check];
  }

  #fail(check: Check, fault: string): void {
    const count = (this.#faults.get(check) ?? 0) + 1;
    this.#faults.set(check, count);
    if (count <= MOST_PRINTED) this.#print(`error: ${fault}.`);
  }

  /** Compares a block with its parent and its children. Lists go up or down, so the parent may come before or after. */
  #checkWeight(hash: string, header: BlockHeader): void {
    for (const [otherHash, other] of this.#near) {
      if (encodeBase64url(header.parent) === otherHash) compare(other, header);
      if (encodeBase64url(other.parent) === hash) compare(header, other);
    }
  }
}

/**
 * The first block of a chain has no proof of work, neighbours or miner. Its height may be above 0.
 * @returns whether a block is the first of its chain
 */
function isFirst({ chain, height }: BlockHeader, network: string): boolean {
  return height === 0n || chain >= (chainsAt(network, height - 1n) ?? Number.POSITIVE_INFINITY);
}

function compare(parent: BlockHeader, child: BlockHeader): void {
  if (child.height !== parent.height + 1n) {
    throw new LedgerFormatError(`its height is ${child.height}, and its parent's is ${parent.height}`);
  }
  const expected = weightAbove(parent, child.target);
  if (child.weight !== expected) throw new LedgerFormatError(`its weight is ${child.weight}, but must be ${expected}`);
  if (child.creationTimeUs <= parent.creationTimeUs) throw new LedgerFormatError('it is not newer than its parent');
}

function isNear(a: bigint, b: bigint): boolean {
  return a - b <= 1n && b - a <= 1n;
}

/*
 * Pure classes that check how the blocks of a list follow each other. A node could omit blocks, repeat them or change
 * their order.
 */

export interface Links {
  /**
   * Must be called with the blocks in the order of the list.
   * @param hash the block's hash, in base64url
   * @throws LedgerFormatError when the block cannot be the next one. Even then, later blocks are compared with it
   */
  check(hash: string, header: Pick<BlockHeader, 'height' | 'parent'>): void;
  /** A sentence for people about what these links do not prove; absent if there is nothing to add. */
  readonly note?: string | undefined;
}

/**
 * Checks the list of all blocks in a range of heights, orphans included, in ascending order. A parent below the range
 * is not checked.
 */
export class UpwardLinks implements Links {
  #height: bigint | undefined;
  /** Hashes of the blocks that were checked at the current height. */
  #here = new Set<string>();
  /** Hashes of all blocks at the height below; undefined at the lowest height, and after a gap. */
  #below: ReadonlySet<string> | undefined;

  check(hash: string, { height, parent }: Pick<BlockHeader, 'height' | 'parent'>): void {
    const last = this.#height;
    const isNext = last !== undefined && height === last + 1n;
    const isTwice = height === last && this.#here.has(hash);
    if (height !== last) {
      this.#below = isNext ? this.#here : undefined;
      this.#here = new Set();
    }
    this.#height = height;
    this.#here.add(hash);
    if (isTwice) throw new LedgerFormatError('it is there twice');
    if (last !== undefined && height !== last && !isNext) {
      throw new LedgerFormatError(`it follows a block of height ${last}`);
    }
    if (this.#below && !this.#below.has(encodeBase64url(parent))) {
      throw new LedgerFormatError('its parent is not among the blocks');
    }
  }
}

/** Checks the list of a branch downwards. Each block must be an upper bound or the parent of an earlier block. */
export class BranchLinks implements Links {
  /** Hashes of the blocks that may come next. */
  readonly #next: Set<string>;
  readonly #maxHeight: bigint | undefined;
  #last: bigint | undefined;
  #isCut = false;

  /** @param upper hashes of 32 bytes, the upper bounds @param maxHeight height above which no blocks were requested */
  constructor(upper: readonly Uint8Array[], maxHeight?: bigint) {
    this.#next = new Set(upper.map(encodeBase64url));
    this.#maxHeight = maxHeight;
  }

  get note(): string | undefined {
    if (!this.#isCut) return undefined;
    return 'It is not shown that these are ancestors of --upper: that takes all blocks from there, without --max-height.';
  }

  check(hash: string, { height, parent }: Pick<BlockHeader, 'height' | 'parent'>): void {
    const last = this.#last;
    const isExpected = this.#next.delete(hash);
    this.#next.add(encodeBase64url(parent));
    this.#last = height;
    if (last !== undefined && height > last) throw new LedgerFormatError(`it follows a block of height ${last}`);
    if (isExpected) return;
    // The blocks between an upper bound and this block are above `maxHeight`, so they were not requested.
    if (height === this.#maxHeight && last === undefined) this.#isCut = true;
    else throw new LedgerFormatError('it is neither an upper bound nor the parent of a block before it');
  }
}

/* A graph defines which chains are neighbours. If none of pickaxe's own graphs fits, the graph comes from the node. */

/** Where a graph comes from. `nobody`: neither pickaxe nor the node has one. */
type GraphFrom = 'pickaxe' | 'node' | 'nobody';

class NetworkGraphs {
  readonly #api: Pick<NodeApi, 'network' | 'info'>;
  #graphSpans: Promise<readonly GraphSpan[]> | undefined;

  constructor(api: Pick<NodeApi, 'network' | 'info'>) {
    this.#api = api;
  }

  /**
   * @returns where the graph comes from. For `nobody`, the header was not checked
   * @throws LedgerFormatError when the header's adjacents are not on the neighbouring chains
   */
  async check(header: BlockHeader): Promise<GraphFrom> {
    // The adjacents of a header are blocks of the height below, so the graph of that height applies.
    const height = header.height - 1n;
    const own = this.#ownAt(height);
    if (own) checkAdjacents(header, own);
    if (own ?? graphOfHeader(header)) return 'pickaxe';
    const reported = await this.#graphAt(height);
    if (!reported) return 'nobody';
    checkAdjacents(header, reported);
    return 'node';
  }

  /** @returns the graphs with which a cut is checked, the newest first; undefined when they are not known */
  async ofCut({ heads }: Cut): Promise<readonly GraphSpan[] | undefined> {
    const own = graphsOfNetwork(this.#api.network);
    if (own) return own;
    const known = knownGraph(heads.size);
    if (known) return onlyGraph(known);
    const reported = await this.#reportedGraphs();
    return graphAt(reported, lowestHeight(heads)) ? reported : undefined;
  }

  /** @returns the graph of mainnet01 or testnet04 at this height; undefined for other networks */
  #ownAt(height: bigint): Graph | undefined {
    const chains = chainsAt(this.#api.network, height);
    return chains === undefined ? undefined : knownGraph(chains);
  }

  async #graphAt(height: bigint): Promise<Graph | undefined> {
    return graphAt(await this.#reportedGraphs(), height);
  }

  #reportedGraphs(): Promise<readonly GraphSpan[]> {
    this.#graphSpans ??= unlessMissing(this.#api.info()).then((info) => info?.graphs ?? []);
    return this.#graphSpans;
  }
}
