/**
 * Processes cuts that other nodes publish (document 1, "Cut"): fetches the blocks of a cut, checks them, and joins the
 * cut with the node's own cut. Like a real node, the mock node drops old cuts. It also drops cuts that are far ahead.
 */

import { z } from 'zod';
import { type Cut, checkCut, type Peer } from '../../protocol/ledger/cut.ts';
import { bytes, checked } from '../../protocol/ledger/fields.ts';
import { diameter, onlyGraph } from '../../protocol/ledger/graphs.ts';
import { type BlockHeader, blockHash, parseHeader } from '../../protocol/ledger/header.ts';
import { type ExactJson, encodeBase64url, LedgerFormatError, parseExactJsonBytes } from '../../protocol/ledger/json.ts';
import { payloadWithOutputsFromJson } from '../../protocol/ledger/payload.ts';
import type { Block } from '../ledger/block-store.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type PeerClient, PeerError, type PeerRequest, type Peers } from './peers.ts';

export interface CutEvent {
  readonly type: 'cut dropped';
  readonly reason: string;
}

/**
 * A cut is too far ahead if its highest block is at least this number of blocks above the node's highest block. Real
 * nodes catch up in this case, but the mock node drops the cut.
 */
const FAR_AHEAD = 20n;
/** Maximum number of waiting cuts. Further cuts are dropped. */
const MOST_WAITING = 100;

export class CutPipeline {
  readonly #ledger: Ledger;
  readonly #peers: Peers;
  readonly #client: PeerClient;
  readonly #emit: (event: CutEvent) => void;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(ledger: Ledger, peers: Peers, client: PeerClient, emit: (event: CutEvent) => void) {
    this.#ledger = ledger;
    this.#peers = peers;
    this.#client = client;
    this.#emit = emit;
  }

  /**
   * Queues a cut, to be processed after the earlier cuts. Drops the cut if `MOST_WAITING` cuts wait, or if the cut has
   * more heads than there are chains.
   */
  take(cut: Cut): void {
    if (this.#waiting >= MOST_WAITING) return;
    if (cut.heads.size > this.#ledger.chains.graph.length) {
      this.#emit({ type: 'cut dropped', reason: 'has more heads than there are chains' });
      return;
    }
    this.#waiting += 1;
    this.#last = this.#last.then(() => this.#process(cut));
  }

  async #process(cut: Cut): Promise<void> {
    this.#waiting -= 1;
    try {
      const reason = this.#whyUninteresting(cut);
      if (reason === undefined) this.#ledger.join(await this.#fetcherFor(cut).fetch(cut));
      else this.#emit({ type: 'cut dropped', reason });
    } catch (error) {
      if (!(error instanceof LedgerFormatError || error instanceof PeerError)) throw error;
      this.#emit({ type: 'cut dropped', reason: error.message });
    }
  }

  #fetcherFor({ origin }: Cut): CutFetcher {
    const sources = [...(origin ? [origin] : []), ...this.#peers.of('cut')];
    return new CutFetcher(this.#ledger, this.#client, sources);
  }

  /**
   * @returns the reason to drop the cut; undefined if there is none
   * @throws LedgerFormatError if the cut is impossible in this network
   */
  #whyUninteresting(cut: Cut): string | undefined {
    const { graph } = this.#ledger.chains;
    if (cut.network !== undefined && cut.network !== this.#ledger.settings.network) return `is of ${cut.network}`;
    checkCut(cut, onlyGraph(graph));
    const theirs = [...cut.heads.values()].map(({ height }) => height);
    const ours = graph.map((_, chain) => this.#ledger.chains.heightOf(chain));
    if (theirs.every((height, chain) => height <= ours[chain])) return 'is old: no chain is higher in it';
    if (most(theirs) >= most(ours) + FAR_AHEAD) return `is ${FAR_AHEAD} blocks or more ahead`;
    return least(theirs) + 2n * BigInt(1 + diameter(graph)) <= least(ours) ? 'is very old' : undefined;
  }
}

function most(values: readonly bigint[]): bigint {
  return values.reduce((a, b) => (a > b ? a : b));
}

function least(values: readonly bigint[]): bigint {
  return values.reduce((a, b) => (a < b ? a : b));
}

/* Fetches the missing blocks of a cut, from its origin or else from other peers. */

interface Fetched {
  readonly header: BlockHeader;
  /** The header without its hash. */
  readonly bytes: Uint8Array;
}

const HASH_BYTES = 32;
/** Maximum number of missing blocks on one chain. */
const MOST_BLOCKS = 200;
/** Time limit for the blocks of one cut, because other cuts wait. */
const FETCH_MS = 60_000;

const HeaderPage = z.object({ items: z.array(bytes), next: z.string().nullable() });

export class CutFetcher {
  readonly #ledger: Ledger;
  readonly #client: PeerClient;
  /** The peers to ask, in order. */
  readonly #sources: readonly Peer[];
  readonly #latestMs = performance.now() + FETCH_MS;

  constructor(ledger: Ledger, client: PeerClient, sources: readonly Peer[]) {
    this.#ledger = ledger;
    this.#client = client;
    this.#sources = sources;
  }

  /**
   * Fetches the missing blocks of a cut, and adds them to the ledger as orphans.
   * @returns the heads of the cut
   * @throws PeerError if one of the blocks does not come from any peer in time; LedgerFormatError if a block is wrong,
   *   or if too many are missing
   */
  async fetch(cut: Cut): Promise<Block[]> {
    const { chains } = this.#ledger;
    const missing: Fetched[] = [];
    for (const [chain, { hash }] of cut.heads)
      missing.push(...(await this.#missingBelow(chain, encodeBase64url(hash))));
    // All parents of a block are lower than the block, and must be added before it.
    missing.sort((a, b) => Number(a.header.height - b.header.height));
    for (const { header, bytes } of missing) {
      chains.receive(bytes, await this.#payloadOf(header), this.#ledger.nowUs());
    }
    return [...cut.heads].map(([chain, { hash, height }]) => {
      const head = chains.blocksOf(chain).get(encodeBase64url(hash));
      if (head?.header.height === height) return head;
      throw new LedgerFormatError(`the head of chain ${chain} is not at the height ${height} that the cut says`);
    });
  }

  /** @returns the block `head` and its ancestors, without those that the ledger already has */
  async #missingBelow(chain: number, head: string): Promise<Fetched[]> {
    const store = this.#ledger.chains.blocksOf(chain);
    const found: Fetched[] = [];
    let expected = head;
    while (!store.get(expected)) {
      const body = JSON.stringify({ upper: [expected], lower: [] });
      const path = `/chain/${chain}/header/branch`;
      const { items } = checked(HeaderPage, await this.#ask({ method: 'POST', path, body }), 'page');
      if (items.length === 0) throw new PeerError(`the peers have no block ${expected}`);
      for (const item of items) {
        if (store.get(expected)) break;
        const fetched = { header: parseHeader(item), bytes: item.subarray(0, item.length - HASH_BYTES) };
        const hash = encodeBase64url(blockHash(fetched.header));
        if (hash !== expected || fetched.header.chain !== chain) {
          throw new LedgerFormatError(`${hash} came, but ${expected} of chain ${chain} was asked for`);
        }
        if (found.length >= MOST_BLOCKS) throw new LedgerFormatError(`chain ${chain} has left the own branch long ago`);
        found.push(fetched);
        expected = encodeBase64url(fetched.header.parent);
      }
    }
    return found;
  }

  async #payloadOf({ chain, height, payloadHash }: BlockHeader) {
    const path = `/chain/${chain}/payload/${encodeBase64url(payloadHash)}/outputs?height=${height}`;
    return payloadWithOutputsFromJson(await this.#ask({ path }));
  }

  /**
   * @returns the JSON of the first source that answers with 200
   * @throws PeerError if no source does, or at the time limit; LedgerFormatError if the answer is not JSON
   */
  async #ask(request: PeerRequest): Promise<ExactJson> {
    let last: unknown = new PeerError('there is nobody to ask');
    for (const source of this.#sources) {
      if (performance.now() > this.#latestMs) throw new PeerError(`the peers took more than ${FETCH_MS / 1000} s`);
      try {
        const { status, body } = await this.#client.askPatiently(source, request);
        if (status === 200) return parseExactJsonBytes(body);
        last = new PeerError(`${request.path}: ${status}`);
      } catch (error) {
        if (!(error instanceof PeerError)) throw error;
        last = error;
      }
    }
    throw last;
  }
}
