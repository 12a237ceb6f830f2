import { expect, it } from 'vitest';
import { Space } from '#pickaxe/miner/loop/space.js';
import { likeCpu, likeGpu } from '../../bench/fleet/pretend-engine.mjs';
import { coverage, expectedShare } from '../../bench/fleet/repeated-work.mjs';

it('what ranges of several rigs cover counts repeated nonces once, and only in one lane', () => {
  const range = { lane: 1, step: 1, page: 10, pages: 4, counter: 100, counters: 50 };
  const apart = { ...range, lane: 2 };
  const half = { ...range, page: 12, counter: 125 };
  expect(coverage([range, apart])).toEqual({ taken: 400, different: 400 });
  expect(coverage([range, range])).toEqual({ taken: 400, different: 200 });
  expect(coverage([range, half])).toEqual({ taken: 400, different: 350 });
});

it.each([
  ['GPUs', likeGpu],
  ['CPUs', likeCpu],
])('the formula of docs/fleet.md gives what rigs with random starts repeat, in the ranges of %s', (_, shape) => {
  const [rigs, lanes, part] = [200, 16, 0.01];
  const random = (below: number) => Math.floor(Math.random() * below);
  let [taken, different] = [0, 0];
  for (let header = 0; header < 20; header++) {
    const ranges = Array.from({ length: rigs }, () => {
      const lane = random(lanes);
      const most = shape(part * 2 ** 48);
      // A task of a CPU has one column; as many as fit into the part make one range.
      const wide = { ...most, counters: most.pages === 2 ** 16 ? 2 ** 32 * part : most.counters };
      return Space.anywhere({ lane, step: 1 }, random).take(wide)!;
    });
    const covered = coverage(ranges);
    taken += covered.taken;
    different += covered.different;
  }
  const share = 1 - different / taken;
  const expected = expectedShare(rigs, taken / rigs / 20, lanes);
  // Some thousand pairs of rigs meet.
  expect(share).toBeGreaterThan(0.7 * expected);
  expect(share).toBeLessThan(1.3 * expected);
});
