/**
 * The nonces of a job that no engine has taken yet. Engines take ranges in the shape that suits them (a CPU few
 * counters on many pages, a GPU many counters on one page), so fast and slow engines share a space without planning.
 */

import { sharedController } from '../../base/system/abort.ts';
import type { Job } from '../../protocol/chain/job.ts';
import { countersAt, type Lane, PAGES, type Range, sizeOf } from '../../protocol/chain/nonce.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import type { Candidate, Ranges } from '../engine/engine.ts';

type Rectangle = Omit<Range, keyof Lane>;
type Shape = Pick<Range, 'counters' | 'pages'>;

/**
 * Spaces begin at multiples of this counter, the length of a row of the CPU's kernels, because the kernels are fastest
 * with undivided rows.
 */
const COLUMN = 512;

export class Space implements Ranges {
  readonly lane: number;
  readonly step: number;
  /**
   * Disjoint rectangles of counters × pages that no engine has taken: first those that were given back, then untouched
   * ones, then those of which engines have taken parts (a CPU's column, a GPU's row). Only a few rectangles are begun
   * at any time.
   */
  #free: Rectangle[];
  /** The counter at which columns begin, until the first column is taken; 0 afterwards. */
  #firstCounter: number;

  /**
   * @param firstPage the page to begin with. The pages before it are taken last, except by an engine that wants at
   *   least twice as many pages as there are from `firstPage` on
   * @param firstCounter the counter at which engines begin that take several pages at once. Engines that take parts of
   *   one page begin with counter 0, and get undivided pages as long as only such engines take ranges
   */
  constructor({ lane, step }: Lane, firstPage = 0, firstCounter = 0) {
    this.lane = lane;
    this.step = step;
    this.#firstCounter = firstCounter;
    const whole = { counter: 0, counters: countersAt(step) };
    this.#free = [{ ...whole, page: firstPage, pages: PAGES - firstPage }];
    if (firstPage > 0) this.#free.unshift({ ...whole, page: 0, pages: firstPage });
  }

  /**
   * Begins anywhere in the lane, so that two rigs in one lane begin at different places. Both numbers are random: a CPU
   * searches all pages of a few counters, and a GPU all counters of a few pages.
   * @param random returns a uniformly distributed integer in [0, below)
   */
  static anywhere(lane: Lane, random: (below: number) => number): Space {
    return new Space(lane, random(PAGES), COLUMN * random(countersAt(lane.step) / COLUMN));
  }

  /** @param ranges disjoint ranges of one lane, none of them empty */
  static of(ranges: readonly [Range, ...Range[]]): Space {
    const space = new Space(ranges[0]);
    space.#free.length = 0;
    for (const range of ranges) space.giveBack(range);
    return space;
  }

  /** Number of nonces that no engine has taken. */
  get left(): number {
    return this.#free.reduce((sum, rectangle) => sum + sizeOf(rectangle), 0);
  }

  take(most: Shape): Range | undefined {
    if (most.pages > 1) this.#cutAtFirstCounter();
    const best = this.#bestFor(most);
    if (best < 0) return undefined;
    const rectangle = this.#free[best];
    const taken = {
      ...rectangle,
      counters: evenPart(rectangle.counters, most.counters),
      pages: evenPart(rectangle.pages, most.pages),
    };
    const [larger, smaller] = remainders(rectangle, taken);
    if (larger) this.#free[best] = larger;
    else this.#free.splice(best, 1);
    if (smaller) this.#free.push(smaller);
    return { lane: this.lane, step: this.step, ...taken };
  }

  giveBack(range: Range): void {
    const { lane: _lane, step: _step, ...rectangle } = range;
    // Returned ranges go to the front, and `take` searches from the back: hundreds of threads may give back small
    // ranges at once, and `take` must not go through all of them.
    if (sizeOf(rectangle) > 0) this.#free.unshift(rectangle);
  }

  #cutAtFirstCounter(): void {
    const at = this.#firstCounter;
    this.#firstCounter = 0;
    this.#free = this.#free.flatMap((rectangle) => {
      const below = at - rectangle.counter;
      if (below <= 0 || below >= rectangle.counters) return [rectangle];
      return [
        { ...rectangle, counters: below },
        { ...rectangle, counter: at, counters: rectangle.counters - below },
      ];
    });
  }

  /**
   * Chooses the newest rectangle that can grant more than half of the request, so that begun rectangles are used up
   * first; otherwise the rectangle that can grant most of the request. Exactly half is not enough: an engine that has
   * doubled its request should not get a rectangle that was cut for its smaller requests.
   * @returns an index, or -1 when nothing is left
   */
  #bestFor(most: Shape): number {
    const half = sizeOf(most) / 2;
    let best = -1;
    let bestGrant = 0;
    for (let i = this.#free.length - 1; i >= 0; i--) {
      const { counters, pages } = this.#free[i];
      const grant = Math.min(counters, most.counters) * Math.min(pages, most.pages);
      if (grant > half) return i;
      if (grant > bestGrant) {
        best = i;
        bestGrant = grant;
      }
    }
    return best;
  }
}

/**
 * Divides `whole` into as few equal parts of at most `most` as possible, so that no small part is left at the end.
 * @returns the size of a part
 */
function evenPart(whole: number, most: number): number {
  return Math.ceil(whole / Math.ceil(whole / most));
}

/**
 * Cuts `taken` from the low corner of `from`, so that one of the two remaining rectangles is as large as possible: no
 * engine can use a rectangle that is small in both directions.
 * @returns the rectangles that remain, the larger one first
 */
function remainders(from: Rectangle, taken: Rectangle): Rectangle[] {
  const countersLeft = from.counters - taken.counters;
  const pagesLeft = from.pages - taken.pages;
  const fullHeight = countersLeft * from.pages > pagesLeft * from.counters;
  const beside = {
    ...from,
    counter: from.counter + taken.counters,
    counters: countersLeft,
    pages: fullHeight ? from.pages : taken.pages,
  };
  const below = {
    ...from,
    page: from.page + taken.pages,
    pages: pagesLeft,
    counters: fullHeight ? taken.counters : from.counters,
  };
  return (fullHeight ? [beside, below] : [below, beside]).filter((rectangle) => sizeOf(rectangle) > 0);
}

/** An assignment is what all engines search at one time: a job, the space of its nonces, and a signal to stop. */
export class Assignment {
  readonly job: Job;
  readonly space: Space;
  /** Number of hashes that a block takes on average. */
  readonly difficulty: number;
  /** Time of the New Cut that this assignment follows, on the clock's `monotonicMs`; undefined when it follows none. */
  readonly cutMs: number | undefined;
  readonly #candidates = new Set<Candidate>();
  readonly #stop = sharedController();

  constructor(job: Job, space: Space, cutMs?: number) {
    this.job = job;
    this.space = space;
    this.difficulty = difficultyOf(job.work.blockTarget);
    this.cutMs = cutMs;
  }

  /** @returns false when the candidate was added before, so that no candidate counts twice */
  addCandidate(candidate: Candidate): boolean {
    if (this.#candidates.has(candidate)) return false;
    this.#candidates.add(candidate);
    return true;
  }

  /** Aborted once another assignment, or none, has taken over. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  end(): void {
    this.#stop.abort();
  }
}
