/**
 * Checks blocks beyond what the client proves anyway: proof of work, neighbours, weights and rewards. Each check is on its own, so
 * that one that fails hides none of the others.
 */

import { encodeBase64url } from '../../../ledger/base64url.ts';
import { LedgerFormatError } from '../../../ledger/errors.ts';
import { chainsAt } from '../../../ledger/graphs.ts';
import { type BlockHeader, blockHash, checkWork } from '../../../ledger/header.ts';
import { rewardOf } from '../../../ledger/reward.ts';
import { weightAbove } from '../../../ledger/weight.ts';
import type { Block } from '../../../node/api/blocks.ts';
import type { NodeApi } from '../../../node/api/node-api.ts';
import type { Links } from './links.ts';
import { type GraphFrom, NetworkGraphs } from './network-graphs.ts';

/** They are printed in this order. The client proves the payloads. Only blocks of a list have links. */
const CHECKS = ['links', 'proof of work', 'neighbours', 'weights', 'payloads', 'rewards'] as const;
type Check = (typeof CHECKS)[number];

/** How many faults of each check are printed one by one. */
const MOST_TOLD = 3;

export class BlockChecks {
  readonly graphs: NetworkGraphs;
  readonly #network: string;
  readonly #say: (line: string) => void;
  readonly #links: Links | undefined;
  readonly #faults = new Map<Check, number>();
  readonly #graphsFrom = new Set<GraphFrom>();
  /** Those of the last heights, by hash. */
  #near: readonly (readonly [string, BlockHeader])[] = [];
  #checked = 0;

  /**
   * @param say tells a person what is wrong, and at the end what is right
   * @param links how the blocks of a list must follow each other; undefined where they need not
   */
  constructor(api: Pick<NodeApi, 'network' | 'info'>, say: (line: string) => void, links?: Links) {
    this.graphs = new NetworkGraphs(api);
    this.#network = api.network;
    this.#say = say;
    this.#links = links;
  }

  /** @throws ApiError when the node is asked for its graphs, and does not answer */
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
   * Says what is right, what is wrong, and what only the node says.
   * @param what one of those that were checked: a block, a head
   * @param more what else is right
   * @returns whether nothing is wrong
   */
  finish(what: string, more: readonly string[] = []): boolean {
    const right = CHECKS.filter((check) => !this.#faults.has(check)).flatMap((check) => this.#shown(check));
    this.#say(`${plural(this.#checked, what)} verified: ${[...more, ...right].join(', ')}`);
    if (this.#graphsFrom.has('nobody')) {
      this.#say('The neighbours are not verified: pickaxe does not know the graph of this network, nor does the node.');
    }
    const note = this.#links?.note;
    if (note !== undefined) this.#say(note);
    for (const [check, count] of this.#faults) this.#say(`error: wrong in ${plural(count, what)}: ${check}`);
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
    if (count <= MOST_TOLD) this.#say(`error: ${fault}.`);
  }

  /** Blocks come in either order, so the parent may come before its child or after it. */
  #checkWeight(hash: string, header: BlockHeader): void {
    for (const [otherHash, other] of this.#near) {
      if (encodeBase64url(header.parent) === otherHash) compare(other, header);
      if (encodeBase64url(other.parent) === hash) compare(header, other);
    }
  }
}

/** The first block of a chain has no proof of work, no neighbours below it, and no miner. Chains can begin above height 0. */
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

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
