/**
 * What is known of the works fetched so far, and from it when the next is to be fetched. The node picks the chain, so a
 * fetch is an answer to three questions only: is the current work stale, may a New Cut have been missed, is it old?
 */

import { equalBytes } from '../../chain/bytes.ts';
import { HEADER_BYTES, NONCE_BYTES } from '../../chain/layout.ts';
import { parentOf, type Work, withCreationTime } from '../../chain/work.ts';
import type { NodeLimits } from '../../node/limits.ts';

/** Bounds the memory for works of a node that makes them by the second; none lives longer than `expiryMs`. */
const MOST_REMEMBERED = 1_024;
/**
 * A node can tell a New Cut, or take a solution, before what it hands out as work has changed. Work on the same parent
 * again is asked about after pauses that double from the first: a second and a half in all, after which the node is
 * believed.
 */
const FIRST_REPEAT_MS = 50;
const MOST_REPEATS = 5;

interface Fetched {
  readonly work: Work;
  /** When its fetch began, in the order of events; moved on when a fetch brings the same work again. */
  order: number;
  fetchedAtMs: number;
  /** Its chain has had a New Cut since. */
  outdated: boolean;
}

/** A work that has become worthless, and by what. The node may hand out its parent once more. */
interface Ended {
  readonly work: Work;
  readonly by: 'new cut' | 'solved';
  /** How often the node has handed it out again. */
  repeats: number;
}

type WorksLimits = Pick<NodeLimits, 'burstMs' | 'pollMs' | 'expiryMs'>;

export class Works {
  readonly #limits: WorksLimits;
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

  /** The last work that a New Cut or a solution has ended, until the node hands out another. */
  #ended: Ended | undefined;
  #mustFetch = false;
  /** When to ask again because the node has handed out what had ended (monotonic). */
  #repeatAtMs = Number.NEGATIVE_INFINITY;

  constructor(limits: WorksLimits) {
    this.#limits = limits;
  }

  /** The work being mined, unless it is stale. */
  get current(): Work | undefined {
    return this.#current?.work;
  }

  /** Notes that a fetch begins. @returns its place in the order of events */
  begin(nowMs: number): number {
    this.#mustFetch = false;
    if (this.#current && this.#missedCut(this.#current)) this.#cutFetchesMs.set(this.#current.work.chain, nowMs);
    return ++this.#order;
  }

  /** Takes the work that a fetch has brought. @returns false when it is the current one again, or not to be mined */
  deliver(work: Work, order: number, nowMs: number): boolean {
    const mayBeMined = this.#expectOther(work, nowMs);
    const same = this.#current && isSameWork(this.#current.work, work) ? this.#current : undefined;
    if (same) {
      same.order = order;
      same.fetchedAtMs = nowMs;
      return false;
    }
    if (!mayBeMined) return false;
    for (const fetched of this.#fetched) {
      const { chain, height } = fetched.work;
      if (chain === work.chain && height < work.height) fetched.outdated = true;
    }
    this.#current = { work, order, fetchedAtMs: nowMs, outdated: false };
    this.#fetched.push(this.#current);
    this.#forget(nowMs);
    return true;
  }

  /** Notes a New Cut. @returns true when the current work is stale by it; not for the echoes of one block */
  newCut(chain: number, nowMs: number): boolean {
    this.#cuts.set(chain, ++this.#order);
    this.#repeatAtMs = Number.NEGATIVE_INFINITY;
    const echo = nowMs - (this.#cutFetchesMs.get(chain) ?? Number.NEGATIVE_INFINITY) < this.#limits.burstMs;
    for (const fetched of this.#fetched) {
      if (fetched.work.chain === chain && !(echo && fetched === this.#current)) fetched.outdated = true;
    }
    if (this.#current?.work.chain !== chain || echo) return false;
    this.#cutFetchesMs.set(chain, nowMs);
    this.#ended = { work: this.#current.work, by: 'new cut', repeats: 0 };
    this.drop();
    return true;
  }

  /**
   * The work has its solution: its parent can carry one block of ours only.
   * @returns true when what is current is worth nothing by it
   */
  solved(work: Work): boolean {
    if (!this.#current || !haveSameParent(this.#current.work, work)) return false;
    this.#ended = { work, by: 'solved', repeats: 0 };
    this.drop();
    return true;
  }

  /** The solution was not taken, so the work is as good as before, unless a New Cut has come since. */
  notSolved(work: Work): void {
    if (this.#ended?.work !== work) return;
    this.#ended = this.isOutdated(work) ? { work, by: 'new cut', repeats: 0 } : undefined;
    this.#repeatAtMs = Number.NEGATIVE_INFINITY;
  }

  streamOpened(chain: number): void {
    this.#openings.set(chain, ++this.#order);
  }

  streamEnded(chain: number, nowMs: number): void {
    this.#endingsMs.set(chain, nowMs);
  }

  /** Whatever is known may be from another time: the next fetch is due at once. */
  mustFetch(): void {
    this.#mustFetch = true;
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
    return this.#current !== undefined && this.lifeMs(this.#current.work, nowMs) <= 0;
  }

  /** How much longer the node remembers the work. */
  lifeMs(work: Work, nowMs: number): number {
    const fetched = this.#fetched.find((each) => each.work === work);
    return fetched ? fetched.fetchedAtMs + this.#limits.expiryMs - nowMs : 0;
  }

  /**
   * The monotonic time at which the next work is to be fetched; -∞ for at once.
   * @param refreshMs how long work on a chain is good while its stream is trusted; undefined for a chain to be polled
   */
  dueAtMs(refreshMs: (chain: number) => number | undefined): number {
    if (this.#mustFetch) return Number.NEGATIVE_INFINITY;
    if (!this.#current) return this.#repeatAtMs;
    const { work, order, fetchedAtMs } = this.#current;
    if (this.#missedCut(this.#current)) {
      return (this.#cutFetchesMs.get(work.chain) ?? Number.NEGATIVE_INFINITY) + this.#limits.burstMs;
    }
    // New Cuts between the fetch and the opening were missed. Work fetched under an open stream has missed none.
    if ((this.#openings.get(work.chain) ?? 0) > order) return Number.NEGATIVE_INFINITY;
    if (this.#repeatAtMs > fetchedAtMs) return this.#repeatAtMs;
    const refreshedMs = refreshMs(work.chain);
    if (refreshedMs !== undefined) return fetchedAtMs + refreshedMs;
    return Math.max(fetchedAtMs, this.#endingsMs.get(work.chain) ?? 0) + this.#limits.pollMs;
  }

  /** Decides when to ask again for other work than what has ended. @returns whether this one may be mined meanwhile */
  #expectOther(work: Work, nowMs: number): boolean {
    const ended = this.#ended;
    if (!ended || !haveSameParent(ended.work, work) || ended.repeats >= MOST_REPEATS) {
      this.#ended = undefined;
      this.#repeatAtMs = Number.NEGATIVE_INFINITY;
      return true;
    }
    this.#repeatAtMs = nowMs + FIRST_REPEAT_MS * 2 ** ended.repeats++;
    // A New Cut may have been told twice. A parent that carries a block of ours can carry no other one.
    return ended.by === 'new cut';
  }

  #forget(nowMs: number): void {
    const isOver = (fetched: Fetched) => nowMs - fetched.fetchedAtMs > this.#limits.expiryMs;
    while (this.#fetched.length > MOST_REMEMBERED || isOver(this.#fetched[0])) this.#fetched.shift();
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

function haveSameParent(a: Work, b: Work): boolean {
  return a.chain === b.chain && equalBytes(parentOf(a.header), parentOf(b.header));
}

/** What a miner may not change, with the nonce cut off and the time zeroed. */
function fixedPart({ header }: Work): Uint8Array {
  return withCreationTime(header, 0n).subarray(0, HEADER_BYTES - NONCE_BYTES);
}
