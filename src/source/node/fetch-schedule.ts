/**
 * When the next work is to be fetched, from what is known of the works fetched so far. The node picks the chain, so a
 * fetch is due for one of three reasons only: the current work is stale, a New Cut may have been missed, or the work is
 * old. Pure; times are monotonic milliseconds.
 */

import { equalBytes } from '../../chain/bytes.ts';
import { HEADER_BYTES, NONCE_BYTES } from '../../chain/layout.ts';
import { parentOf, type Work, withCreationTime } from '../../chain/work.ts';
import type { NodeLimits } from '../../node/limits.ts';

/** Bounds the memory for the works of a node that makes new ones all the time; none lives longer than `expiryMs`. */
const MOST_REMEMBERED = 1_024;
/**
 * A node can tell a New Cut, or take a solution, before what it hands out as work has changed. When it hands out work on
 * the same parent again, the next fetches follow after pauses that double from the first: a second and a half in all.
 * After that the node is believed.
 */
const FIRST_REPEAT_MS = 50;
const MOST_REPEATS = 5;

interface FetchedWork {
  readonly work: Work;
  /** The place of its fetch in the order of events; moved on when a fetch brings the same work again. */
  order: number;
  fetchedAtMs: number;
  /** Whether its chain has had a New Cut since. */
  outdated: boolean;
}

/** Work that has become worthless, and the reason. The node may hand out its parent once more. */
interface EndedWork {
  readonly work: Work;
  readonly by: 'new-cut' | 'solved';
  /** How often the node has handed it out again. */
  repeats: number;
}

type ScheduleLimits = Pick<NodeLimits, 'burstMs' | 'pollMs' | 'expiryMs'>;

export class FetchSchedule {
  readonly #limits: ScheduleLimits;
  /** Counts fetches, openings of streams and New Cuts in the order in which they happen. */
  #order = 0;
  #current: FetchedWork | undefined;
  /** What the node may still know, oldest first. */
  readonly #remembered: FetchedWork[] = [];
  /** By chain: the order of its last New Cut, and of its stream's last opening. */
  readonly #cuts = new Map<number, number>();
  readonly #openings = new Map<number, number>();
  /** By chain: when its stream last ended. */
  readonly #endingsMs = new Map<number, number>();
  /** By chain: when a New Cut last caused a fetch. */
  readonly #cutFetchesMs = new Map<number, number>();
  /** The last work that a New Cut or a solution has ended, until the node hands out other work. */
  #ended: EndedWork | undefined;
  /** When to fetch again because the node has handed out what had ended. */
  #repeatAtMs = Number.NEGATIVE_INFINITY;
  #dueNow = false;

  constructor(limits: ScheduleLimits) {
    this.#limits = limits;
  }

  /** The work being mined, unless it is stale. */
  get current(): Work | undefined {
    return this.#current?.work;
  }

  /**
   * The time at which the next work is to be fetched; -∞ for at once.
   * @param refreshMs how long work on a chain is good while its stream is trusted; undefined for a chain to be polled
   */
  dueAtMs(refreshMs: (chain: number) => number | undefined): number {
    if (this.#dueNow) return Number.NEGATIVE_INFINITY;
    if (!this.#current) return this.#repeatAtMs;
    const { work, order, fetchedAtMs } = this.#current;
    if (this.#mayPrecedeCut(this.#current)) {
      return (this.#cutFetchesMs.get(work.chain) ?? Number.NEGATIVE_INFINITY) + this.#limits.burstMs;
    }
    // New Cuts between the fetch and the opening were missed. Work fetched under an open stream has missed none.
    if ((this.#openings.get(work.chain) ?? 0) > order) return Number.NEGATIVE_INFINITY;
    if (this.#repeatAtMs > fetchedAtMs) return this.#repeatAtMs;
    const goodForMs = refreshMs(work.chain);
    if (goodForMs !== undefined) return fetchedAtMs + goodForMs;
    return Math.max(fetchedAtMs, this.#endingsMs.get(work.chain) ?? 0) + this.#limits.pollMs;
  }

  /** Has the next fetch due at once: whatever is known may be from another time. */
  makeDue(): void {
    this.#dueNow = true;
  }

  /** A fetch begins. @returns its place in the order of events, for `fetchEnded` */
  fetchBegan(nowMs: number): number {
    this.#dueNow = false;
    if (this.#current && this.#mayPrecedeCut(this.#current)) this.#cutFetchesMs.set(this.#current.work.chain, nowMs);
    return ++this.#order;
  }

  /** A fetch has brought this work. @returns false when it is the current work again, or is not to be mined */
  fetchEnded(work: Work, order: number, nowMs: number): boolean {
    const mayBeMined = this.#planRepeat(work, nowMs);
    const same = this.#current && isSameWork(this.#current.work, work) ? this.#current : undefined;
    if (same) {
      same.order = order;
      same.fetchedAtMs = nowMs;
      return false;
    }
    if (!mayBeMined) return false;
    for (const earlier of this.#remembered) {
      const { chain, height } = earlier.work;
      if (chain === work.chain && height < work.height) earlier.outdated = true;
    }
    this.#current = { work, order, fetchedAtMs: nowMs, outdated: false };
    this.#remembered.push(this.#current);
    this.#forget(nowMs);
    return true;
  }

  /** A New Cut came. @returns true when it makes the current work stale, which the echoes of one block do not */
  newCut(chain: number, nowMs: number): boolean {
    this.#cuts.set(chain, ++this.#order);
    this.#repeatAtMs = Number.NEGATIVE_INFINITY;
    const isEcho = nowMs - (this.#cutFetchesMs.get(chain) ?? Number.NEGATIVE_INFINITY) < this.#limits.burstMs;
    for (const fetched of this.#remembered) {
      if (fetched.work.chain === chain && !(isEcho && fetched === this.#current)) fetched.outdated = true;
    }
    if (this.#current?.work.chain !== chain || isEcho) return false;
    this.#cutFetchesMs.set(chain, nowMs);
    this.#ended = { work: this.#current.work, by: 'new-cut', repeats: 0 };
    this.dropCurrent();
    return true;
  }

  /**
   * The work has its solution, and its parent can carry only one block of ours.
   * @returns true when this makes the current work worthless
   */
  solved(work: Work): boolean {
    if (!this.#current || !haveSameParent(this.#current.work, work)) return false;
    this.#ended = { work, by: 'solved', repeats: 0 };
    this.dropCurrent();
    return true;
  }

  /** The solution was not taken, so the work is as good as before, unless a New Cut has come since. */
  notSolved(work: Work): void {
    if (this.#ended?.work !== work) return;
    this.#ended = this.isOutdated(work) ? { work, by: 'new-cut', repeats: 0 } : undefined;
    this.#repeatAtMs = Number.NEGATIVE_INFINITY;
  }

  streamOpened(chain: number): void {
    this.#openings.set(chain, ++this.#order);
  }

  streamEnded(chain: number, nowMs: number): void {
    this.#endingsMs.set(chain, nowMs);
  }

  /** The current work is worth nothing any more. */
  dropCurrent(): void {
    this.#current = undefined;
  }

  /** Whether the work's chain has had a New Cut since the work was fetched. */
  isOutdated(work: Work): boolean {
    return this.#remembered.some((fetched) => fetched.work === work && fetched.outdated);
  }

  /** Whether the node has forgotten the current work by now. */
  isExpired(nowMs: number): boolean {
    return this.#current !== undefined && this.lifeMs(this.#current.work, nowMs) <= 0;
  }

  /** How much longer the node remembers the work. */
  lifeMs(work: Work, nowMs: number): number {
    const fetched = this.#remembered.find((each) => each.work === work);
    return fetched ? fetched.fetchedAtMs + this.#limits.expiryMs - nowMs : 0;
  }

  /**
   * Plans another fetch when a fetch has brought what had ended.
   * @returns whether what it brought may be mined meanwhile
   */
  #planRepeat(work: Work, nowMs: number): boolean {
    const ended = this.#ended;
    if (!ended || !haveSameParent(ended.work, work) || ended.repeats >= MOST_REPEATS) {
      this.#ended = undefined;
      this.#repeatAtMs = Number.NEGATIVE_INFINITY;
      return true;
    }
    this.#repeatAtMs = nowMs + FIRST_REPEAT_MS * 2 ** ended.repeats++;
    // A New Cut may have been told twice, but a parent that carries a block of ours can carry no other one.
    return ended.by === 'new-cut';
  }

  #forget(nowMs: number): void {
    const isOver = (fetched: FetchedWork) => nowMs - fetched.fetchedAtMs > this.#limits.expiryMs;
    while (this.#remembered.length > MOST_REMEMBERED || isOver(this.#remembered[0])) this.#remembered.shift();
  }

  /** Whether the work may be from before the last New Cut, which came during its fetch or as an echo. */
  #mayPrecedeCut({ work, order }: FetchedWork): boolean {
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

/** @returns what a miner may not change: the header without its nonce, the creation time zeroed */
function fixedPart({ header }: Work): Uint8Array {
  return withCreationTime(header, 0n).subarray(0, HEADER_BYTES - NONCE_BYTES);
}
