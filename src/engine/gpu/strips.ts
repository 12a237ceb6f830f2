/** Arithmetic on ranges of one page: a strip is counters `[counter, counter + counters)` of one lane and page. */

import type { Range } from '../../chain/nonce.ts';

export function contains(strip: Range, part: Range): boolean {
  return (
    strip.lane === part.lane &&
    strip.page === part.page &&
    strip.counter <= part.counter &&
    part.counter + part.counters <= strip.counter + strip.counters
  );
}

/** What remains of a strip before and after a part of it. */
export function without(strip: Range, part: Range): Range[] {
  const end = strip.counter + strip.counters;
  const partEnd = part.counter + part.counters;
  return [
    { ...strip, counters: part.counter - strip.counter },
    { ...strip, counter: partEnd, counters: end - partEnd },
  ].filter((rest) => rest.counters > 0);
}
