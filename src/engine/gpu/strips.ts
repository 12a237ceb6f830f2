/** Arithmetic on ranges of one page: a strip is counters `[counter, counter + counters)` of one lane and page. */

import type { Range } from '../../chain/nonce.ts';

/** What two strips have in common; undefined when that is nothing. */
export function common(one: Range, other: Range): Range | undefined {
  if (one.lane !== other.lane || one.page !== other.page) return undefined;
  const counter = Math.max(one.counter, other.counter);
  const counters = Math.min(one.counter + one.counters, other.counter + other.counters) - counter;
  return counters > 0 ? { ...one, counter, counters } : undefined;
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
