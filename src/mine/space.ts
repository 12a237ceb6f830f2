/**
 * What is left of a job's nonces. Engines pull ranges from it in the shape that suits them - few counters on many pages
 * for a CPU, many counters on one page for a GPU - so fast and slow engines share it without a tuning table.
 */

import { COUNTERS, PAGES, type Range, sizeOf } from '../chain/nonce.ts';
import type { Ranges } from '../engine/engine.ts';

type Rectangle = Omit<Range, 'lane'>;

export class Space implements Ranges {
  readonly #lane: number;
  /** Disjoint rectangles of the lane's counters × pages that nobody has taken. */
  readonly #free: Rectangle[];
  /** The pages before the first one: their turn comes when the rest is used up. */
  readonly #before: Rectangle[];

  /**
   * @param lane the lane that all ranges are on
   * @param firstPage where to begin: two rigs on one lane start apart
   */
  constructor(lane: number, firstPage = 0) {
    this.#lane = lane;
    const whole = { counter: 0, counters: COUNTERS };
    this.#free = [{ ...whole, page: firstPage, pages: PAGES - firstPage }];
    this.#before = firstPage > 0 ? [{ ...whole, page: 0, pages: firstPage }] : [];
  }

  /** A space of these ranges alone, to be searched to their end: all on one lane, disjoint, none empty. */
  static of(ranges: readonly [Range, ...Range[]]): Space {
    const space = new Space(ranges[0].lane);
    space.#free.length = 0;
    for (const range of ranges) space.giveBack(range);
    return space;
  }

  /** Nonces not taken yet. */
  get left(): number {
    return [...this.#free, ...this.#before].reduce((sum, rectangle) => sum + sizeOf(rectangle), 0);
  }

  take(most: { readonly counters: number; readonly pages: number }): Range | undefined {
    if (this.#free.length === 0) this.#free.push(...this.#before.splice(0));
    const best = this.#bestFor(most);
    if (best < 0) return undefined;
    const [rectangle] = this.#free.splice(best, 1);
    const taken = {
      ...rectangle,
      counters: Math.min(rectangle.counters, most.counters),
      pages: Math.min(rectangle.pages, most.pages),
    };
    this.#free.push(...remainders(rectangle, taken));
    return { lane: this.#lane, ...taken };
  }

  giveBack(range: Range): void {
    const { lane: _, ...rectangle } = range;
    if (sizeOf(rectangle) > 0) this.#free.push(rectangle);
  }

  /** The rectangle that grants the most of what is wanted; of equals the smallest, which keeps the list short. */
  #bestFor(most: { readonly counters: number; readonly pages: number }): number {
    let best = -1;
    let bestGrant = 0;
    for (const [i, rectangle] of this.#free.entries()) {
      const grant = Math.min(rectangle.counters, most.counters) * Math.min(rectangle.pages, most.pages);
      if (grant > bestGrant || (grant === bestGrant && grant > 0 && sizeOf(rectangle) < sizeOf(this.#free[best]))) {
        best = i;
        bestGrant = grant;
      }
    }
    return best;
  }
}

/**
 * The two rectangles left when `taken` is cut from the low corner of `from`. The cut runs so that the larger of the two
 * stays as large as it can, since a rectangle thin both ways suits no engine.
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
  return [beside, below].filter((rectangle) => sizeOf(rectangle) > 0);
}
