/**
 * What becomes of cuts that are published to the node (document 1, "Cut"): it fetches their blocks, checks them, and takes what is
 * heavier than its own cut. As a real node, it looks at no cut that is old or far ahead.
 */

import { type Cut, checkCut } from '../../ledger/cut.ts';
import { LedgerFormatError } from '../../ledger/errors.ts';
import { diameter, onlyGraph } from '../../ledger/graphs.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { CutFetcher } from './fetch-cut.ts';
import { type PeerClient, PeerError } from './peer-client.ts';
import type { Peers } from './peers.ts';

/** A cut was looked at and not taken. */
export interface CutEvent {
  readonly type: 'cut dropped';
  readonly reason: string;
}

/** A cut that is so many blocks higher is left to catching up, which the mock does not do. */
const FAR_AHEAD = 20n;
/** While so many cuts wait, no more are taken. */
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

  /** Takes a cut, to look at it after those that came before. */
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

  /** @throws LedgerFormatError when it is no cut of this network. */
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
