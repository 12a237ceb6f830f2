// Waits for a condition by checking it again and again.

import { setTimeout as sleep } from 'node:timers/promises';

const AGAIN_MS = 10;

/** @throws Error if the condition does not come about within a minute */
export async function until(condition, withinMs = 60_000) {
  for (const endMs = performance.now() + withinMs; !(await condition()); ) {
    if (performance.now() > endMs) throw new Error(`this did not come about: ${condition}`);
    await sleep(AGAIN_MS);
  }
}
