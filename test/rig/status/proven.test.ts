import { expect, test } from 'vitest';
import { isDoubtful, ProofStats } from '#pickaxe/rig/status/counters.js';

/** `count` candidates of the same difficulty. */
function provenBy(count: number, worth = 1) {
  const stats = new ProofStats();
  for (let i = 0; i < count; i++) stats.add(worth);
  return stats.proven;
}

test('nothing is proven before the first candidate', () => {
  expect(provenBy(0)).toBeNull();
});

// Exact limits: F. Garwood, "Fiducial limits for the Poisson distribution", 1936.
test.each([
  [1, 0.0253, 5.5716],
  [2, 0.2422, 7.2247],
  [10, 4.7954, 18.3904],
  [100, 81.3639, 121.6272],
])('the limits for %i candidates are those of a Poisson count', (count, low, high) => {
  const proven = provenBy(count, 1_000)!;
  expect(proven).toMatchObject({ hashes: 1_000 * count, proofs: count });
  expect(Math.abs(proven.low - 1_000 * low)).toBeLessThan(10 * high);
  expect(Math.abs(proven.high / (1_000 * high) - 1)).toBeLessThan(0.01);
});

test('among candidates of unequal worth, those worth more decide the limits', () => {
  const stats = new ProofStats();
  for (let i = 0; i < 100; i++) stats.add(i % 2 === 0 ? 1 : 1_000);
  const [mixed, few, many] = [stats.proven!, provenBy(50, 1_001)!, provenBy(100, 500.5)!];
  expect(mixed.hashes).toBeCloseTo(few.hashes);
  expect(mixed.high).toBeCloseTo(few.high, -2);
  expect(mixed.high).toBeGreaterThan(many.high);
});

test('the true value is between the limits in nineteen of twenty cases', () => {
  let seed = 12_345;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  let inside = 0;
  const CASES = 4_000;
  for (let i = 0; i < CASES; i++) {
    // Random candidates, 30 in this time on average, with exponentially distributed gaps.
    let count = 0;
    const gap = () => Math.log(1 / random());
    for (let time = gap(); time < 30; time += gap()) count++;
    const proven = provenBy(count);
    if (proven && proven.low <= 30 && 30 <= proven.high) inside++;
  }
  expect(inside / CASES).toBeGreaterThan(0.94);
  expect(inside / CASES).toBeLessThan(0.975);
});

test('a device is doubtful if it counts more or fewer hashes than twice the limits allow', () => {
  const proven = { hashes: 100, low: 80, high: 125, proofs: 100 };
  for (const counted of [60, 79, 100, 126, 150]) expect(isDoubtful(counted, proven)).toBe(false);
  for (const counted of [0, 59, 151, 1_000]) expect(isDoubtful(counted, proven)).toBe(true);
});
