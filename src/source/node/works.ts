/**
 * What is known of the works fetched so far, and from it when the next is to be fetched. The node picks the chain, so a
 * fetch is an answer to three questions only: is the current work stale, may a New Cut have been missed, is it old?
 */

import { equalBytes } from '../../chain/bytes.ts';
import { HEADER_BYTES, NONCE_BYTES } from '../../chain/layout.ts';
import { type Work, withCreationTime } from '../../chain/work.ts';
import type { NodeLimits } from './limits.ts';

/** Works whose chain is watched for New Cuts after others took over: solutions for them can still be on the way. */
const REMEMBERED = 64;

interface Fetched {
  readonly work: Work;
  /** When its fetch began, in the order of events; moved on when a fetch brings the same work again. */
  order: number;
  fetchedAtMs: number;
  /** Its chain has had a New Cut since. */
  outdated: boolean;
}

export class Works {
  readonly #limits: Pick<NodeLimits, 'burstMs' | 'pollMs' | 'refreshMs' | 'expiryMs'>;
  /** Fetches, openings and New Cuts, in the order in which they happened. */
  #order = 0;
  #current: Fetched | undefined;
  readonly #fetched: Fetched[] = [];
  /** By chain: the order of its last New Cut, and of its stream's last opening. */
  readonly #cuts = new Map<number, number>();
  readonly #openings = new Map<number, number>();
  /** By chain: when its stream last ended (monotonic). */
  readonly #endingsMs = new Map<number, number>();
  /** By chain: when a New Cut last caused a fetch (monotonic). */
  readonly #cutFetchesMs = new Map<number, number>();

  constructor(limits: Pick<NodeLimits, 'burstMs' | 'pollMs' | 'refreshMs' | 'expiryMs'>) {
    this.#limits = limits;
  }

  /** The work being mined, unless it is stale. */
  get current(): Work | undefined {
    return this.#current?.work;
  }

  /** Notes that a fetch begins. @returns its place in the order of events */
  begin(nowMs: number): number {
    if (this.#current && this.#missedCut(this.#current)) this.#cutFetchesMs.set(this.#current.work.chain, nowMs);
    return ++this.#order;
  }

  /** Takes the work that a fetch has brought. @returns false when it is the current one again */
  deliver(work: Work, order: number, nowMs: number): boolean {
    const same = this.#current && isSameWork(this.#current.work, work) ? this.#current : undefined;
    if (same) {
      same.order = order;
      same.fetchedAtMs = nowMs;
      return false;
    }
    this.#current = { work, order, fetchedAtMs: nowMs, outdated: false };
    this.#fetched.push(this.#current);
    if (this.#fetched.length > REMEMBERED) this.#fetched.shift();
    return true;
  }

  /** Notes a New Cut. @returns true when the current work is stale by it; not for the echoes of one block */
  newCut(chain: number, nowMs: number): boolean {
    this.#cuts.set(chain, ++this.#order);
    const echo = nowMs - (this.#cutFetchesMs.get(chain) ?? Number.NEGATIVE_INFINITY) < this.#limits.burstMs;
    for (const fetched of this.#fetched) {
      if (fetched.work.chain === chain && !(echo && fetched === this.#current)) fetched.outdated = true;
    }
    if (this.#current?.work.chain !== chain || echo) return false;
    this.#cutFetchesMs.set(chain, nowMs);
    this.drop();
    return true;
  }

  streamOpened(chain: number): void {
    this.#openings.set(chain, ++this.#order);
  }

  streamEnded(chain: number, nowMs: number): void {
    this.#endingsMs.set(chain, nowMs);
  }

  /** The current work is worth nothing any more. */
  drop(): void {
    this.#current = undefined;
  }

  isOutdated(work: Work): boolean {
    return this.#fetched.some((fetched) => fetched.work === work && fetched.outdated);
  }

  /** Whether the node has forgotten the current work by now. */
  isExpired(nowMs: number): boolean {
    return this.#current !== undefined && nowMs - this.#current.fetchedAtMs >= this.#limits.expiryMs;
  }

  /** The monotonic time at which the next work is to be fetched; -∞ for at once. */
  dueAtMs(hasStream: (chain: number) => boolean): number {
    if (!this.#current) return Number.NEGATIVE_INFINITY;
    const { work, order, fetchedAtMs } = this.#current;
    if (this.#missedCut(this.#current)) {
      return (this.#cutFetchesMs.get(work.chain) ?? Number.NEGATIVE_INFINITY) + this.#limits.burstMs;
    }
    // New Cuts between the fetch and the opening were missed. Work fetched under an open stream has missed none.
    if ((this.#openings.get(work.chain) ?? 0) > order) return Number.NEGATIVE_INFINITY;
    if (hasStream(work.chain)) return fetchedAtMs + this.#limits.refreshMs;
    return Math.max(fetchedAtMs, this.#endingsMs.get(work.chain) ?? 0) + this.#limits.pollMs;
  }

  /** A New Cut came while the work was on its way, or as an echo: it may be from before. */
  #missedCut({ work, order }: Fetched): boolean {
    return (this.#cuts.get(work.chain) ?? 0) > order;
  }
}

/** Nodes write the time of asking into the same work: a header that differs only in that is the same work. */
function isSameWork(a: Work, b: Work): boolean {
  return a.chain === b.chain && equalBytes(a.target, b.target) && equalBytes(fixedPart(a), fixedPart(b));
}

/** What a miner may not change, with the nonce cut off and the time zeroed. */
function fixedPart({ header }: Work): Uint8Array {
  return withCreationTime(header, 0n).subarray(0, HEADER_BYTES - NONCE_BYTES);
}
