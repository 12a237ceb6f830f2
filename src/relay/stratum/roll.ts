/** How soon a miner needs a new creation time. Pure. */

/** How many nonces a session has: nonce2 has 6 bytes. */
const NONCES = 2 ** 48;
/** A miner gets a new job once it has searched so much of them, if its rate is as it seems. */
const PART = 0.25;
/** While the rate is not known: a quarter of the time that an ASIC of 140 TH/s takes. */
const UNKNOWN_MS = 500;
/** Faster than that, a miner would do little else than begin jobs. It is enough for 700 TH/s. */
const LEAST_MS = 100;
/** Miners believe that a server is dead that says nothing for a minute. */
const MOST_MS = 30_000;

/** @param hashesPerSecond undefined while it is not known @returns how long after a job the next one must follow, in ms */
export function rollMs(hashesPerSecond: number | undefined): number {
  if (hashesPerSecond === undefined) return UNKNOWN_MS;
  return Math.min(MOST_MS, Math.max(LEAST_MS, (1000 * PART * NONCES) / hashesPerSecond));
}
