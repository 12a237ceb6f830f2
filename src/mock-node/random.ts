/** Random numbers from a seed. They must not be used for secrets. */

/** @returns a number in [0, 1) */
export type Random = () => number;

/**
 * The generator mulberry32 (public domain). Its 32 bits of state are enough for the choice of chains and for random
 * hashes.
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function randomBytes(random: Random, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)));
}

/** @returns an integer in [0, below) */
export function randomInteger(random: Random, below: number): number {
  return Math.floor(random() * below);
}
