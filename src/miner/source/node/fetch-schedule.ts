/**
 * Decides when to fetch the next work: when the current work is stale or old, or a New Cut may have been missed. The
 * node chooses the chain of the work. Pure. All times are monotonic milliseconds.
 */

import type { NodeLimits } from '../../../node/http/request-limits.ts';
import { equalBytes, HEADER_BYTES, NONCE_BYTES } from '../../../protocol/chain/bytes.ts';
import { parentOf, type Work, withCreationTime } from '../../../protocol/chain/work.ts';

/** Maximum number of remembered works, for a node that gives new work all the time. Expired works are dropped, too. */
const MOST_REMEMBERED = 1_024;
/**
 * A node can send a New Cut, or accept a solution, before its work changes. If the next fetch brings work on the old
 * parent again, up to five further fetches follow after doubling pauses (1.5 s in all). If even the last one brings
 * such work, that work is mined like any other.
 */
const FIRST_REPEAT_MS = 50;
const MOST_REPEATS = 5;
/**
 * Work on another chain, whose New Cut came less than this time before, may be on the old parent, too. If no earlier
 * work of the chain shows whether it is, it is mined, and only the two longest pauses follow.
 */
const DOUBTFUL_MS = 1_500;
const REPEATS_LEFT_OUT = 3;
/**
 * A New Cut that came just before a stream was opened is announced by nothing if the node's work has not changed yet.
 * So the work of the stream's chain is fetched once more when the stream has been open for this time.
 */
const AFTER_OPENING_MS = 1_500;

interface FetchedWork {
  readonly work: Work;
  /** The number of the last fetch that brought this work, as `fetchBegan` returned it. */
  order: number;
  /** When a fetch last brought this work. */
  fetchedAtMs: number;
  /** Whether the work's chain has a newer block, as a New Cut or later work has shown. */
  outdated: boolean;
  /** Whether the work came so soon after a New Cut of its chain that it may be older. */
  doubtful: boolean;
}

/** Work that a New Cut or a solution has made stale. The node may still give work on the same parent for a while. */
interface EndedWork {
  readonly work: Work;
  readonly by: 'new-cut' | 'solved';
  /** Number of times that the node has given work on the same parent since this work became stale. */
  repeats: number;
}

type ScheduleLimits = Pick<NodeLimits, 'burstMs' | 'pollMs' | 'expiryMs'>;

export class FetchSchedule {
  readonly #limits: ScheduleLimits;
  /** Number of the last event. Fetches, openings of streams and New Cuts are numbered as they happen. */
  #order = 0;
  #current: FetchedWork | undefined;
  /** The works that were fetched within about the last `expiryMs`, oldest first. Some may be outdated. */
  readonly #remembered: FetchedWork[] = [];
  #stale: Work[] = [];
  /** By chain: the value of `#order` at the chain's last New Cut. */
  readonly #cuts = new Map<number, number>();
  /** By chain: when the chain's stream was last opened, also as the value of `#order`. */
  readonly #openings = new Map<number, { readonly order: number; readonly atMs: number }>();
  /**
   * By chain: when its last New Cut came, and the work that it has made outdated. The work is undefined if there was
   * none, or only doubtful work: newer work than that may still be older than the New Cut.
   */
  readonly #lastCuts = new Map<number, { readonly atMs: number; readonly outdated: Work | undefined }>();
  /** By chain: when the chain's stream last ended. */
  readonly #endingsMs = new Map<number, number>();
  /** By chain: when a New Cut of the chain last caused a fetch. */
  readonly #cutFetchesMs = new Map<number, number>();
  /**
   * The last work that a New Cut or a solution has made stale. This work is kept until a fetch brings work on another
   * parent, until more than `MOST_REPEATS` fetches in a row have brought work on the same parent, or until its solution
   * is not accepted.
   */
  #ended: EndedWork | undefined;
  /** When to fetch again because the last fetch brought work on the parent of `#ended`; -∞ if it did not. */
  #repeatAtMs = Number.NEGATIVE_INFINITY;
  #dueNow = false;

  constructor(limits: ScheduleLimits) {
    this.#limits = limits;
  }

  /** The work to mine; undefined before the first work, and when the last work is stale or expired. */
  get current(): Work | undefined {
    return this.#current?.work;
  }

  /**
   * @param refreshMs returns the maximum age of work on a chain whose stream is trusted; undefined for a polled chain
   * @returns when to fetch the next work; -∞ means at once
   */
  dueAtMs(refreshMs: (chain: number) => number | undefined): number {
    if (this.#dueNow) return Number.NEGATIVE_INFINITY;
    if (!this.#current) return this.#repeatAtMs;
    const { work, order, fetchedAtMs } = this.#current;
    if (this.#mayPrecedeCut(this.#current)) {
      return (this.#cutFetchesMs.get(work.chain) ?? Number.NEGATIVE_INFINITY) + this.#limits.burstMs;
    }
    const opening = this.#openings.get(work.chain);
    // If the stream was opened after the fetch began, a New Cut between the two events would have been missed.
    if (opening !== undefined && opening.order > order) return Number.NEGATIVE_INFINITY;
    if (this.#repeatAtMs > fetchedAtMs) return this.#repeatAtMs;
    const goodForMs = refreshMs(work.chain);
    if (goodForMs !== undefined) return Math.min(fetchedAtMs + goodForMs, this.#settledAtMs(opening, this.#current));
    return Math.max(fetchedAtMs, this.#endingsMs.get(work.chain) ?? 0) + this.#limits.pollMs;
  }

  /** Makes the next fetch due at once, because the current work may be stale without a New Cut. */
  makeDue(): void {
    this.#dueNow = true;
  }

  /** Called when a fetch begins. @returns its number in the order of events, a parameter of `fetchEnded` */
  fetchBegan(nowMs: number): number {
    this.#dueNow = false;
    if (this.#current && this.#mayPrecedeCut(this.#current)) this.#cutFetchesMs.set(this.#current.work.chain, nowMs);
    return ++this.#order;
  }

  /**
   * Called with the work that a fetch has brought.
   * @param order the number of the fetch
   * @returns whether the work is new and to be mined. It is not if it is the same as the current work, or is on the
   *   parent of a work that this miner has just solved
   */
  fetchEnded(work: Work, order: number, nowMs: number): boolean {
    const mayBeMined = this.#planRepeat(work, nowMs);
    const doubtful = this.#ended !== undefined;
    const same = this.#current && isSameWork(this.#current.work, work) ? this.#current : undefined;
    if (same) {
      same.order = order;
      same.fetchedAtMs = nowMs;
      same.doubtful = doubtful;
      return false;
    }
    if (!mayBeMined) return false;
    for (const earlier of this.#remembered) {
      const { chain, height } = earlier.work;
      if (chain === work.chain && height < work.height) this.#outdate(earlier);
    }
    this.#current = { work, order, fetchedAtMs: nowMs, outdated: false, doubtful };
    this.#remembered.push(this.#current);
    this.#forget(nowMs);
    return true;
  }

  /**
   * Called for a New Cut.
   * @returns whether the New Cut makes the current work stale. Within `burstMs` after an earlier New Cut of the chain
   *   has caused a fetch, it does not: then both New Cuts are probably for the same block
   */
  newCut(chain: number, nowMs: number): boolean {
    this.#cuts.set(chain, ++this.#order);
    // While work on an ended parent is mined, New Cuts of other chains must not delay the next fetch.
    if (this.#current === undefined || this.#current.work.chain === chain) this.#repeatAtMs = Number.NEGATIVE_INFINITY;
    const isEcho = nowMs - (this.#cutFetchesMs.get(chain) ?? Number.NEGATIVE_INFINITY) < this.#limits.burstMs;
    const valid = this.#remembered.filter(({ work, outdated }) => work.chain === chain && !outdated);
    const last = valid.at(-1);
    if (!isEcho) this.#lastCuts.set(chain, { atMs: nowMs, outdated: last?.doubtful ? undefined : last?.work });
    for (const fetched of valid) if (!(isEcho && fetched === this.#current)) this.#outdate(fetched);
    if (this.#current?.work.chain !== chain || isEcho) return false;
    this.#cutFetchesMs.set(chain, nowMs);
    this.#ended = { work: this.#current.work, by: 'new-cut', repeats: 0 };
    this.#dropCurrent();
    return true;
  }

  /**
   * Called when a solution of the work was sent. All works on the same parent become stale, because this miner can have
   * only one block on each parent.
   * @returns whether the current work has become stale
   */
  solved(work: Work): boolean {
    for (const fetched of this.#remembered) {
      if (!fetched.outdated && haveSameParent(fetched.work, work)) this.#stale.push(fetched.work);
    }
    const wasCurrent = this.#current !== undefined;
    // The New Cut of the solved block itself can come before the answer to the solution, and end the work first.
    const last = this.#current ?? this.#ended;
    if (!last || !haveSameParent(last.work, work)) return false;
    this.#ended = { work, by: 'solved', repeats: 0 };
    this.#dropCurrent();
    return wasCurrent;
  }

  /**
   * Called when a solution of the work was not accepted. Work on the same parent may be mined again. If the work is
   * outdated, a New Cut counts as the reason why it ended.
   */
  notSolved(work: Work): void {
    if (this.#ended?.work !== work) return;
    this.#ended = this.isOutdated(work) ? { work, by: 'new-cut', repeats: 0 } : undefined;
    this.#repeatAtMs = Number.NEGATIVE_INFINITY;
  }

  streamOpened(chain: number, nowMs: number): void {
    this.#openings.set(chain, { order: ++this.#order, atMs: nowMs });
  }

  streamEnded(chain: number, nowMs: number): void {
    this.#endingsMs.set(chain, nowMs);
  }

  /** Drops the current work because it is older than `expiryMs`. */
  expire(): void {
    if (this.#current) this.#stale.push(this.#current.work);
    this.#dropCurrent();
  }

  /** @returns the works that have become stale since the last call. The list may contain a work twice */
  takeStale(): readonly Work[] {
    const works = this.#stale;
    this.#stale = [];
    return works;
  }

  /** Whether this work was fetched from the node and is still remembered. */
  isRemembered(work: Work): boolean {
    return this.#remembered.some((fetched) => fetched.work === work);
  }

  isOutdated(work: Work): boolean {
    return this.#remembered.some((fetched) => fetched.work === work && fetched.outdated);
  }

  /** Whether the current work is older than `expiryMs`, so that the node no longer accepts its solutions. */
  isExpired(nowMs: number): boolean {
    return this.#current !== undefined && this.lifeMs(this.#current.work, nowMs) <= 0;
  }

  /** @returns the time until the work is older than `expiryMs`; 0 for an unknown work, negative for an expired one */
  lifeMs(work: Work, nowMs: number): number {
    const fetched = this.#remembered.find((each) => each.work === work);
    return fetched ? fetched.fetchedAtMs + this.#limits.expiryMs - nowMs : 0;
  }

  /**
   * Plans another fetch if the fetched work is, or may be, on a parent that has a block.
   * @returns whether the fetched work may be mined
   */
  #planRepeat(work: Work, nowMs: number): boolean {
    let ended = this.#ended;
    if (!ended || !haveSameParent(ended.work, work)) ended = this.#doubtful(work, nowMs);
    else if (ended.repeats >= MOST_REPEATS) ended = undefined;
    this.#ended = ended;
    this.#repeatAtMs = ended ? nowMs + FIRST_REPEAT_MS * 2 ** ended.repeats++ : Number.NEGATIVE_INFINITY;
    // After a New Cut such work may be valid, because a node can send two New Cuts for one block. After a solution it
    // is worthless, because this miner already has a block on that parent.
    return ended?.by !== 'solved';
  }

  /**
   * @returns the work as one that a New Cut has ended, if it came so soon after a New Cut of its chain that this may be
   */
  #doubtful(work: Work, nowMs: number): EndedWork | undefined {
    const cut = this.#lastCuts.get(work.chain);
    if (cut === undefined || nowMs - cut.atMs >= DOUBTFUL_MS) return undefined;
    if (cut.outdated === undefined) return { work, by: 'new-cut', repeats: REPEATS_LEFT_OUT };
    return haveSameParent(cut.outdated, work) ? { work, by: 'new-cut', repeats: 0 } : undefined;
  }

  /**
   * @param opening when the stream of the current work's chain was last opened; undefined before the first time
   * @returns when to fetch because the work may be older than the stream; +∞ if it was fetched late enough, or if a New
   *   Cut of its chain has come over the stream
   */
  #settledAtMs(opening: { readonly order: number; readonly atMs: number } | undefined, current: FetchedWork): number {
    if (opening === undefined || (this.#cuts.get(current.work.chain) ?? 0) > opening.order)
      return Number.POSITIVE_INFINITY;
    const settledAtMs = opening.atMs + AFTER_OPENING_MS;
    return current.fetchedAtMs < settledAtMs ? settledAtMs : Number.POSITIVE_INFINITY;
  }

  #dropCurrent(): void {
    this.#current = undefined;
  }

  #outdate(fetched: FetchedWork): void {
    if (!fetched.outdated) this.#stale.push(fetched.work);
    fetched.outdated = true;
  }

  #forget(nowMs: number): void {
    const isOver = (fetched: FetchedWork) => nowMs - fetched.fetchedAtMs > this.#limits.expiryMs;
    while (this.#remembered.length > MOST_REMEMBERED || isOver(this.#remembered[0])) this.#remembered.shift();
  }

  /**
   * Whether the work may be older than its chain's last New Cut, because that New Cut came during the fetch, or was
   * taken for a repetition.
   */
  #mayPrecedeCut({ work, order }: FetchedWork): boolean {
    return (this.#cuts.get(work.chain) ?? 0) > order;
  }
}

/** Whether two works differ at most in creation time and nonce. Nodes write the current time into the same work. */
function isSameWork(a: Work, b: Work): boolean {
  return a.chain === b.chain && equalBytes(a.target, b.target) && equalBytes(fixedPart(a), fixedPart(b));
}

function haveSameParent(a: Work, b: Work): boolean {
  return a.chain === b.chain && equalBytes(parentOf(a.header), parentOf(b.header));
}

/** @returns the header without its nonce, and with creation time 0 */
function fixedPart({ header }: Work): Uint8Array {
  return withCreationTime(header, 0n).subarray(0, HEADER_BYTES - NONCE_BYTES);
}
