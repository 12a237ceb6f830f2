/**
 * Decides when to fetch the next work: when the current work is stale or old, or a New Cut may have been missed. The
 * node chooses the chain. Pure; times are monotonic milliseconds.
 */

import { onAbort, pause, sharedController } from '../../../base/system/abort.ts';
import type { Clock } from '../../../base/system/clock.ts';
import type { NodeLimits } from '../../../node/http/request-limits.ts';
import { equalBytes, HEADER_BYTES, NONCE_BYTES } from '../../../protocol/chain/bytes.ts';
import { parentOf, type Work, withCreationTime } from '../../../protocol/chain/work.ts';

/** Bounds the memory when a node gives new work all the time. No work is remembered longer than `expiryMs`. */
const MOST_REMEMBERED = 1_024;
/**
 * A node can send a New Cut, or accept a solution, before its work changes. When it gives work on the same parent
 * again, further fetches follow after doubling pauses, for 1.5 s in all. After that, its work is mined.
 */
const FIRST_REPEAT_MS = 50;
const MOST_REPEATS = 5;

interface FetchedWork {
  readonly work: Work;
  /** The number of the last fetch that brought this work, in the order of events. */
  order: number;
  /** When a fetch last brought this work. */
  fetchedAtMs: number;
  /** Whether the work's chain has had a New Cut since then. */
  outdated: boolean;
}

/** Work that has become worthless. The node may still give out work on the same parent for a while. */
interface EndedWork {
  readonly work: Work;
  readonly by: 'new-cut' | 'solved';
  /** Number of times that the node has given out work on this parent again. */
  repeats: number;
}

type ScheduleLimits = Pick<NodeLimits, 'burstMs' | 'pollMs' | 'expiryMs'>;

export class FetchSchedule {
  readonly #limits: ScheduleLimits;
  /** Number of the last event. Fetches, openings of streams and New Cuts are numbered as they happen. */
  #order = 0;
  #current: FetchedWork | undefined;
  /** The work that the node may still know, oldest first. */
  readonly #remembered: FetchedWork[] = [];
  #stale: Work[] = [];
  /** By chain: the numbers of its last New Cut, and of its stream's last opening. */
  readonly #cuts = new Map<number, number>();
  readonly #openings = new Map<number, number>();
  /** By chain: when its stream last ended. */
  readonly #endingsMs = new Map<number, number>();
  /** By chain: when a New Cut last caused a fetch. */
  readonly #cutFetchesMs = new Map<number, number>();
  /** The last work that a New Cut or a solution has ended, until the node gives out work on another parent. */
  #ended: EndedWork | undefined;
  /** When to fetch again because the node has given out work on the ended parent. */
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
   * @param refreshMs returns for how long work on a chain is good while its stream is trusted; undefined for a chain to
   * poll
   * @returns when to fetch the next work; -∞ means at once
   */
  dueAtMs(refreshMs: (chain: number) => number | undefined): number {
    if (this.#dueNow) return Number.NEGATIVE_INFINITY;
    if (!this.#current) return this.#repeatAtMs;
    const { work, order, fetchedAtMs } = this.#current;
    if (this.#mayPrecedeCut(this.#current)) {
      return (this.#cutFetchesMs.get(work.chain) ?? Number.NEGATIVE_INFINITY) + this.#limits.burstMs;
    }
    // When the stream was opened after the fetch, New Cuts between the two were missed.
    if ((this.#openings.get(work.chain) ?? 0) > order) return Number.NEGATIVE_INFINITY;
    if (this.#repeatAtMs > fetchedAtMs) return this.#repeatAtMs;
    const goodForMs = refreshMs(work.chain);
    if (goodForMs !== undefined) return fetchedAtMs + goodForMs;
    return Math.max(fetchedAtMs, this.#endingsMs.get(work.chain) ?? 0) + this.#limits.pollMs;
  }

  /** Makes the next fetch due at once, because all that is known may be outdated. */
  makeDue(): void {
    this.#dueNow = true;
  }

  /** Notes the start of a fetch. @returns its number in the order of events, for `fetchEnded` */
  fetchBegan(nowMs: number): number {
    this.#dueNow = false;
    if (this.#current && this.#mayPrecedeCut(this.#current)) this.#cutFetchesMs.set(this.#current.work.chain, nowMs);
    return ++this.#order;
  }

  /** Notes the fetched work. @returns whether to mine it; false if it is the current work already */
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
      if (chain === work.chain && height < work.height) this.#outdate(earlier);
    }
    this.#current = { work, order, fetchedAtMs: nowMs, outdated: false };
    this.#remembered.push(this.#current);
    this.#forget(nowMs);
    return true;
  }

  /** Notes a New Cut. @returns whether it makes the current work stale. Further New Cuts for the same block do not */
  newCut(chain: number, nowMs: number): boolean {
    this.#cuts.set(chain, ++this.#order);
    this.#repeatAtMs = Number.NEGATIVE_INFINITY;
    const isEcho = nowMs - (this.#cutFetchesMs.get(chain) ?? Number.NEGATIVE_INFINITY) < this.#limits.burstMs;
    for (const fetched of this.#remembered) {
      if (fetched.work.chain === chain && !(isEcho && fetched === this.#current)) this.#outdate(fetched);
    }
    if (this.#current?.work.chain !== chain || isEcho) return false;
    this.#cutFetchesMs.set(chain, nowMs);
    this.#ended = { work: this.#current.work, by: 'new-cut', repeats: 0 };
    this.#dropCurrent();
    return true;
  }

  /**
   * Notes a work's solution: a parent carries one block of this miner. @returns whether the current work is worthless
   */
  solved(work: Work): boolean {
    for (const fetched of this.#remembered) {
      if (!fetched.outdated && haveSameParent(fetched.work, work)) this.#stale.push(fetched.work);
    }
    if (!this.#current || !haveSameParent(this.#current.work, work)) return false;
    this.#ended = { work, by: 'solved', repeats: 0 };
    this.#dropCurrent();
    return true;
  }

  /** Notes that the solution was not accepted: the work is as good as before, unless a New Cut has come since. */
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

  /** Drops the current work because the node must have forgotten it. */
  expire(): void {
    if (this.#current) this.#stale.push(this.#current.work);
    this.#dropCurrent();
  }

  /** @returns the works that have become worthless since the last call. A work may be among them twice */
  takeStale(): readonly Work[] {
    const works = this.#stale;
    this.#stale = [];
    return works;
  }

  /** Whether the node gave the work, and may still know it. */
  isRemembered(work: Work): boolean {
    return this.#remembered.some((fetched) => fetched.work === work);
  }

  isOutdated(work: Work): boolean {
    return this.#remembered.some((fetched) => fetched.work === work && fetched.outdated);
  }

  /** Whether the node must have forgotten the current work. */
  isExpired(nowMs: number): boolean {
    return this.#current !== undefined && this.lifeMs(this.#current.work, nowMs) <= 0;
  }

  /** @returns how much longer the node remembers the work */
  lifeMs(work: Work, nowMs: number): number {
    const fetched = this.#remembered.find((each) => each.work === work);
    return fetched ? fetched.fetchedAtMs + this.#limits.expiryMs - nowMs : 0;
  }

  /** Plans another fetch if this brought work on the ended parent. @returns whether the work may be mined meanwhile */
  #planRepeat(work: Work, nowMs: number): boolean {
    const ended = this.#ended;
    if (!ended || !haveSameParent(ended.work, work) || ended.repeats >= MOST_REPEATS) {
      this.#ended = undefined;
      this.#repeatAtMs = Number.NEGATIVE_INFINITY;
      return true;
    }
    this.#repeatAtMs = nowMs + FIRST_REPEAT_MS * 2 ** ended.repeats++;
    // After a New Cut the work may be good, because a New Cut can be sent twice for a block. After a solution it
    // cannot: its parent carries a block of this miner already.
    return ended.by === 'new-cut';
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

  /** Whether the work may be older than the last New Cut, because the New Cut came during the fetch or as an echo. */
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

/* Waits that end early when the node shows a sign of life: a New Cut, or a stream that opens. */

/** After this many doublings the patience is longer than the time limit of a fetch. */
const MOST_DOUBLINGS = 5;

export class FetchImpatience {
  readonly #clock: Clock;
  readonly #limits: Pick<NodeLimits, 'burstMs' | 'hurryMs'>;
  readonly #pauses = new WakeSignal();
  #lastSignMs = Number.NEGATIVE_INFINITY;
  /** Number of calls of `letGo`. */
  #releases = 0;
  #burstEnd: NodeJS.Timeout | undefined;
  /** Cancels the fetch that is under way. */
  #fetching: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Number of fetches in a row that were canceled. */
  #letGoInARow = 0;

  constructor(clock: Clock, limits: Pick<NodeLimits, 'burstMs' | 'hurryMs'>) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Notes a sign of life. In a burst, the first takes effect at once, and the others together at the burst's end. */
  signOfLife(): void {
    const nowMs = this.#clock.monotonicMs();
    const burstLeftMs = this.#lastSignMs + this.#limits.burstMs - nowMs;
    if (burstLeftMs > 0) {
      // No fetch is canceled here: the one that is under way by then began after the first sign.
      this.#burstEnd ??= setTimeout(() => {
        this.#burstEnd = undefined;
        this.#pauses.ring();
      }, burstLeftMs);
      return;
    }
    this.#lastSignMs = nowMs;
    this.#pauses.ring();
    if (!this.#fetching) return;
    // The answer may be on its way, so the fetch is canceled only after some time, which doubles for a slow node.
    const patienceMs = this.#limits.hurryMs * 2 ** Math.min(this.#letGoInARow, MOST_DOUBLINGS);
    this.#timer ??= setTimeout(() => this.#fetching?.abort(), patienceMs);
  }

  /** Ends all pauses and cancels the fetch that is under way, at once. */
  letGo(): void {
    this.#releases += 1;
    this.#pauses.ring();
    this.#fetching?.abort();
  }

  /**
   * Runs one fetch, which signs of life may cancel.
   * @returns false when the fetch was canceled
   * @throws what `fetch` throws, unless it was canceled
   */
  async hurried(stop: AbortSignal, fetch: (stop: AbortSignal) => Promise<void>): Promise<boolean> {
    const fetching = new AbortController();
    const release = onAbort(stop, () => fetching.abort());
    this.#fetching = fetching;
    try {
      await fetch(fetching.signal);
    } catch (error) {
      if (!fetching.signal.aborted || stop.aborted) throw error;
    } finally {
      release();
      this.#fetching = undefined;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#letGoInARow = fetching.signal.aborted ? this.#letGoInARow + 1 : 0;
    }
    return !fetching.signal.aborted;
  }

  /** Waits for `ms`, for a sign of life while `isEager`, for `letGo`, or for `stop`. Never throws. */
  async pause(ms: number, stop: AbortSignal, isEager: () => boolean = () => true): Promise<void> {
    const releases = this.#releases;
    const untilMs = this.#clock.monotonicMs() + ms;
    for (let leftMs = ms; leftMs > 0 && !stop.aborted; leftMs = untilMs - this.#clock.monotonicMs()) {
      await this.#pauses.wait(leftMs, stop);
      if (isEager() || this.#releases !== releases) return;
    }
  }
}

/** Ends waits early when something has happened that makes them pointless. */
export class WakeSignal {
  #ringing = sharedController();

  ring(): void {
    const ended = this.#ringing;
    this.#ringing = sharedController();
    ended.abort();
  }

  /** Waits for `ms`, for `ring`, or for `stop`, whichever comes first. Never throws. */
  async wait(ms: number, stop: AbortSignal): Promise<void> {
    await pause(ms, this.#ringing.signal, stop);
  }
}
