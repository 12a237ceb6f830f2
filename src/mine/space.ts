/**
 * What is left of a job's nonces. Engines pull ranges from it in the shape that suits them - few counters on many pages
 * for a CPU, many counters on one page for a GPU - so fast and slow engines share it without a tuning table.
 */

import { COUNTERS, PAGES, type Range, sizeOf } from '../chain/nonce.ts';
import type { Ranges } from '../engine/engine.ts';

type Rectangle = Omit<Range, 'lane'>;
type Shape = Pick<Range, 'counters' | 'pages'>;

export class Space implements Ranges {
  readonly #lane: number;
  /**
   * Disjoint rectangles of the lane's counters × pages that nobody has taken. Untouched ones come first, then those that
   * engines have begun, such as a CPU's column and a GPU's row. However much is taken, there are no more than these.
   */
  readonly #free: Rectangle[];

  /**
   * @param lane the lane that all ranges are on
   * @param firstPage where to begin, so that two rigs on one lane start apart. The pages before it are taken last, except by
   *   an engine that wants at least twice as many pages as follow it
   */
  constructor(lane: number, firstPage = 0) {
    this.#lane = lane;
    const whole = { counter: 0, counters: COUNTERS };
    this.#free = [{ ...whole, page: firstPage, pages: PAGES - firstPage }];
    if (firstPage > 0) this.#free.unshift({ ...whole, page: 0, pages: firstPage });
  }

  /** @param ranges all that the space has: on one lane, disjoint, none empty */
  static of(ranges: readonly [Range, ...Range[]]): Space {
    const space = new Space(ranges[0].lane);
    space.#free.length = 0;
    for (const range of ranges) space.giveBack(range);
    return space;
  }

  /** Nonces not taken yet. */
  get left(): number {
    return this.#free.reduce((sum, rectangle) => sum + sizeOf(rectangle), 0);
  }

  take(most: Shape): Range | undefined {
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
    return { lane: this.#lane, ...taken };
  }

  giveBack(range: Range): void {
    const { lane: _, ...rectangle } = range;
    if (sizeOf(rectangle) > 0) this.#free.push(rectangle);
  }

  /**
   * Prefers the newest rectangle that holds more than half of the wish, so that what was begun is used up before more is
   * begun; otherwise it takes the one that holds most of the wish. An engine that doubles its wish is not given the
   * rectangle that was cut for half of it.
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

/** Divides `whole` into as few equal parts of at most `most` as possible, so that the last one is no sliver. */
function evenPart(whole: number, most: number): number {
  return Math.ceil(whole / Math.ceil(whole / most));
}

/**
 * Cuts `taken` from the low corner of `from`, so that one of the two remaining rectangles stays as large as possible: a
 * rectangle that is small both ways suits no engine.
 * @returns what remains, the larger rectangle first
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
