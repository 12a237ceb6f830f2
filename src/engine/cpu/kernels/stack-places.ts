/**
 * Where on the stack a WebAssembly kernel runs. V8 keeps the vectors that registers cannot hold on a stack that it aligns
 * to 8 bytes only. Where these lie across two memory pages the kernel runs at 25 to 60 % of its speed, which is so in one
 * place of ten (measured with Node 20 on x86-64), and where they are not aligned to 16 bytes it loses another 5 %. A
 * caller cannot see where its stack is, so places take turns: mostly the fastest one, now and then another. Arguments
 * that the callee ignores move it: each takes 8 bytes.
 */

/** Words that a call's stack is moved by: an odd one changes the alignment, 64 leave the neighbourhood of a page's end. */
const PLACES = [0, 1, 64, 65].map((words) => new Array<undefined>(words).fill(undefined));

/** Every so many calls another place is tried: with calls of 1 ms it costs 0.2 % and finds the fastest place again soon. */
const TRY_EVERY = 16;

/** At first more often: the first 30 ms decide which kernel is used. */
const EARLY_CALLS = 64;
const TRY_EARLY = 4;

export class StackPlaces {
  readonly #msPerRow = PLACES.map(() => Number.POSITIVE_INFINITY);
  #learned = 0;
  #place = 0;

  /** The arguments that move the next call to its place. */
  next(): readonly undefined[] {
    const tries = this.#learned / (this.#learned < EARLY_CALLS ? TRY_EARLY : TRY_EVERY);
    const fastest = this.#msPerRow.indexOf(Math.min(...this.#msPerRow));
    this.#place = Number.isInteger(tries) ? tries % PLACES.length : fastest;
    return PLACES[this.#place];
  }

  /** @param msPerRow of the last call; calls that do not compare with the others are not told */
  learn(msPerRow: number): void {
    this.#msPerRow[this.#place] = msPerRow;
    this.#learned++;
  }
}
