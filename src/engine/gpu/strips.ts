/** Arithmetic on strips. A strip is a range of one page: counters `[counter, counter + counters)`. */

import type { Range } from '../../chain/nonce.ts';

/** @returns the intersection of two strips; undefined when it is empty */
export function common(one: Range, other: Range): Range | undefined {
  if (one.lane !== other.lane || one.page !== other.page) return undefined;
  const counter = Math.max(one.counter, other.counter);
  const counters = Math.min(one.counter + one.counters, other.counter + other.counters) - counter;
  return counters > 0 ? { ...one, counter, counters } : undefined;
}

/** @returns what remains of a strip before and after one of its parts */
export function without(strip: Range, part: Range): Range[] {
  const end = strip.counter + strip.counters;
  const partEnd = part.counter + part.counters;
  return [
    { ...strip, counters: part.counter - strip.counter },
    { ...strip, counter: partEnd, counters: end - partEnd },
  ].filter((rest) => rest.counters > 0);
}
