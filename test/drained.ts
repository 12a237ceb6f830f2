/** How much a limiter takes. */

const MOST = 1_000_000;

/** @returns how often something is taken until it is refused */
export function drained(take: () => boolean): number {
  let count = 0;
  while (count < MOST && take()) count++;
  return count;
}
