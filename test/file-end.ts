/**
 * What helpers of tests end after a file of tests. A helper must not call `afterAll` and its kin when it is loaded:
 * files that share a process load it once, so the hook would belong to the first of these files alone.
 */

type End = () => unknown;
const ends: End[] = [];

/** @param end called after the last test of the present file, before the ends that were given earlier */
export function atFileEnd(end: End): void {
  ends.push(end);
}

/** Called by `leaks.ts`, which vitest loads anew for each file. */
export async function endFile(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
