/**
 * Chooses where on the stack a WebAssembly kernel runs. V8 keeps the vectors that do not fit into registers on a stack that
 * is aligned to 8 bytes only. When a vector lies across two memory pages, the kernel runs at 25 to 60 % of its speed; this
 * happens in one of ten places (measured with Node.js 20 on x86-64). Without alignment to 16 bytes it loses 5 %. A caller
 * cannot see where its stack is, so several places are tried, and the fastest one is used most of the time. Ignored
 * arguments move the stack by 8 bytes each.
 */

/** The places, as ignored arguments: an odd number changes the alignment, and 64 move the stack away from a page's end. */
const PLACES = [0, 1, 64, 65].map((words) => new Array<undefined>(words).fill(undefined));

/** One of this many calls tries another place. With calls of 1 ms that costs 0.2 %. */
const TRY_EVERY = 16;

/** The first calls try other places more often, because the first 30 ms decide which kernel is used. */
const EARLY_CALLS = 64;
const TRY_EARLY = 4;

export class StackPlaces {
  readonly #msPerRow = PLACES.map(() => Number.POSITIVE_INFINITY);
  #learned = 0;
  #place = 0;

  /** @returns the arguments that move the next call to its place */
  next(): readonly undefined[] {
    const tries = this.#learned / (this.#learned < EARLY_CALLS ? TRY_EARLY : TRY_EVERY);
    const fastest = this.#msPerRow.indexOf(Math.min(...this.#msPerRow));
    this.#place = Number.isInteger(tries) ? tries % PLACES.length : fastest;
    return PLACES[this.#place];
  }

  /** @param msPerRow the time of the last call. Calls that cannot be compared with others must not be passed */
  learn(msPerRow: number): void {
    this.#msPerRow[this.#place] = msPerRow;
    this.#learned++;
  }
}
