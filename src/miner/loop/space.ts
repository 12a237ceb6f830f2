/**
 * The nonces of a job that no engine has taken yet. Each engine takes ranges of the shape and size that suit it: a CPU
 * takes few counters on many pages, and a GPU takes many counters on one page. So fast and slow engines share a space
 * without any plan.
 */

import { sharedController } from '../../base/system/abort.ts';
import type { Job } from '../../protocol/chain/job.ts';
import { countersAt, type Lane, PAGES, type Range, sizeOf } from '../../protocol/chain/nonce.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import type { Candidate, Ranges } from '../engine/engine.ts';

type Rectangle = Omit<Range, keyof Lane>;
type Shape = Pick<Range, 'counters' | 'pages'>;

/**
 * `Space.anywhere` begins the first column (a range of several pages) at a multiple of this number of counters. CPU
 * kernels search rows of this length (`ROW_COUNTERS`), and are fastest with whole rows.
 */
const COLUMN = 512;

export class Space implements Ranges {
  readonly lane: number;
  readonly step: number;
  /**
   * Disjoint rectangles of counters × pages that no engine has taken. Rectangles that were given back are at the front.
   * When an engine takes a part of a rectangle, up to two rectangles remain: the larger one in the same place of the
   * list, the smaller one at its end. `take` searches from the end.
   */
  #free: Rectangle[];
  /**
   * The counter at which the first column begins. A column is a range of several pages. 0 after the first column was
   * taken.
   */
  #firstCounter: number;

  /**
   * @param firstPage the page at which engines begin. The pages before it are taken last, except by an engine that asks
   *   for at least twice as many pages as there are from `firstPage` on
   * @param firstCounter the counter at which an engine begins if it takes several pages at once. An engine that takes
   *   one page at a time begins at counter 0. Pages are divided at `firstCounter` only when the first range of several
   *   pages is taken
   */
  constructor({ lane, step }: Lane, firstPage = 0, firstCounter = 0) {
    this.lane = lane;
    this.step = step;
    this.#firstCounter = firstCounter;
    const whole = { counter: 0, counters: countersAt(step) };
    this.#free = [{ ...whole, page: firstPage, pages: PAGES - firstPage }];
    this.giveBack({ lane, step, ...whole, page: 0, pages: firstPage });
  }

  /**
   * Makes a space that begins at a random page and a random counter, so that two rigs in the same lane begin at
   * different places. Both numbers must be random: a CPU searches all pages of a few counters, and a GPU all counters
   * of a few pages.
   * @param random returns a uniformly distributed integer in [0, below)
   */
  static anywhere(lane: Lane, random: (below: number) => number): Space {
    return new Space(lane, random(PAGES), COLUMN * random(countersAt(lane.step) / COLUMN));
  }

  /** @param ranges disjoint ranges of one lane @returns a space of exactly these ranges */
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
    // Returned ranges go to the front, and `take` searches from the end. Hundreds of threads may give back small ranges
    // at once, and `take` should not have to search through all of them.
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
   * Chooses the last rectangle in the list that can supply more than half of the requested nonces, so that rectangles
   * from which engines have taken parts are used up first. If no rectangle can do so, chooses the rectangle that can
   * supply the most nonces. Exactly half is not enough: an engine that has doubled its request should not get a
   * rectangle that was cut for its smaller requests.
   * @returns the rectangle's index in `#free`, or -1 when nothing is left
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
 * Divides `whole` into as few nearly equal parts as possible, each at most `most`, so that no small part remains at the
 * end.
 * @returns the size of a part, rounded up
 */
function evenPart(whole: number, most: number): number {
  return Math.ceil(whole / Math.ceil(whole / most));
}

/**
 * Cuts `taken` from the low corner of `from`. What remains is divided into two rectangles so that one of them is as
 * large as possible, because no engine can use a rectangle with few counters and few pages.
 * @returns the remaining rectangles that are not empty, the larger one first
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

/** What all engines search at the same time: a job, the space of its nonces, and a signal that ends the search. */
export class Assignment {
  readonly job: Job;
  readonly space: Space;
  /** Number of hashes that finding a block takes on average. */
  readonly difficulty: number;
  /**
   * Time of the New Cut that led to this assignment, on the clock's `monotonicMs`; undefined if no New Cut led to it.
   */
  readonly cutMs: number | undefined;
  readonly #candidates = new Set<Candidate>();
  readonly #stop = sharedController();

  constructor(job: Job, space: Space, cutMs?: number) {
    this.job = job;
    this.space = space;
    this.difficulty = difficultyOf(job.work.blockTarget);
    this.cutMs = cutMs;
  }

  /** @returns false if the candidate was added before; then it must not count again */
  addCandidate(candidate: Candidate): boolean {
    if (this.#candidates.has(candidate)) return false;
    this.#candidates.add(candidate);
    return true;
  }

  /** Aborted when the assignment ends. The next assignment, if there is one, has begun by then. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  end(): void {
    this.#stop.abort();
  }
}
