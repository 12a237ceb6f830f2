import { describe, expect, it, test } from 'vitest';
import { Proofs } from '#pickaxe/miner/loop/proofs.js';
import { prepareJob, withSearchTarget } from '#pickaxe/protocol/chain/job.js';
import { difficultyOf } from '#pickaxe/protocol/chain/target.js';
import { makeWork } from '../../fakes.ts';
import { FakeClock } from '../../rig/status/fakes.ts';

const HARD = makeWork(2 ** 60);
const difficultyFor = (proofs: Proofs) => difficultyOf(proofs.targetFor(HARD));

/** Simulates a device with this rate and a new job every three seconds. */
function watch(
  hashesPerSecond: number,
  { kind = 'cpu', seconds = 120 }: { kind?: 'cpu' | 'gpu'; seconds?: number } = {},
) {
  const clock = new FakeClock();
  const proofs = new Proofs(kind, clock);
  for (let s = 0; s < seconds; s += 3) {
    clock.advance(3_000);
    proofs.searched(3 * hashesPerSecond);
    proofs.targetFor(HARD);
  }
  return { clock, proofs };
}

test.each([50_000, 4e8, 2.4e10])('a device of %f H/s gives a few proofs per second', (rate) => {
  const { proofs } = watch(rate);
  const perSecond = rate / difficultyFor(proofs);
  expect(perSecond).toBeGreaterThan(4 / 1.6);
  expect(perSecond).toBeLessThan(4 * 1.6);
});

test('a job with another search target differs only in its target', () => {
  const { proofs } = watch(4e8);
  const job = prepareJob(HARD);
  const { target, searchTarget, ...rest } = withSearchTarget(job, proofs.targetFor(HARD));
  expect(job).toMatchObject(rest);
  expect(Buffer.from(target.buffer)).toEqual(Buffer.from(searchTarget));
  expect(searchTarget).not.toEqual(job.searchTarget);
});

test('a work that is easier than the device’s target is searched with its own target', () => {
  const { proofs } = watch(4e8);
  const work = makeWork(1_000);
  expect(proofs.targetFor(work)).toBe(work.target);
});

test('after a long pause the target moves by one step, so that the host is not flooded', () => {
  const { clock, proofs } = watch(4e8);
  const before = difficultyFor(proofs);
  clock.advance(3_600_000);
  proofs.searched(4e8);
  expect(difficultyFor(proofs)).toBeCloseTo(before / 2, -3);
});

test('the proofs of a device that is far faster than expected are as hard as they should be after one look', () => {
  const clock = new FakeClock();
  const proofs = new Proofs('cpu', clock);
  clock.advance(3_000);
  proofs.searched(3 * 76e9);
  const perSecond = 76e9 / difficultyFor(proofs);
  expect(perSecond).toBeGreaterThan(4 / 1.6);
  expect(perSecond).toBeLessThan(4 * 1.6);
});

test('a first job says nothing about the rate', () => {
  const proofs = new Proofs('gpu', new FakeClock());
  expect(difficultyFor(proofs)).toBe(difficultyFor(proofs));
});

test.each([1, 2 ** 10, 2 ** 20])('a pool’s shares of difficulty %i do not flood the host', (shareDifficulty) => {
  const { proofs } = watch(4e8);
  const work = makeWork(shareDifficulty, { until: 'replaced', blockTarget: HARD.target });
  const perSecond = 4e8 / difficultyOf(proofs.targetFor(work));
  expect(perSecond).toBeGreaterThan(4 * 16);
  expect(perSecond).toBeLessThan(4 * 36);
});

test('a pool’s shares that come up to 64 times a second are all sent, whatever the rate of the device', () => {
  for (let rate = 4e8; rate < 8e8; rate *= 1.1) {
    const { proofs } = watch(rate);
    const work = makeWork(rate / 60, { until: 'replaced', blockTarget: HARD.target });
    expect(difficultyOf(proofs.targetFor(work))).toBeCloseTo(difficultyOf(work.target), -3);
  }
});

test.each([1, 64, 2 ** 20])(
  'a header that makes every share a block, of difficulty %i, does not flood the host',
  (d) => {
    const { proofs } = watch(4e8);
    const work = makeWork(d, { until: 'replaced' });
    expect(work.blockTarget).toEqual(work.target);
    expect(4e8 / difficultyOf(proofs.targetFor(work))).toBeLessThan(4 * 36);
  },
);

test('a node’s work is solved by its first solution, however easy that is', () => {
  const { proofs } = watch(4e8);
  const work = makeWork(64);
  expect(proofs.targetFor(work)).toBe(work.target);
});

describe('the difficulty of proofs', () => {
  const FIRST = 2 ** 24;

  function measured(kind: 'cpu' | 'gpu' = 'cpu', first?: number) {
    const clock = new FakeClock();
    const proofs = new Proofs(kind, clock, first);
    /** Learns from a number of hashes that took some time. */
    const after = (ms: number, hashes: number) => {
      clock.advance(ms);
      proofs.searched(hashes);
      proofs.learn();
      return proofs.difficulty;
    };
    return { proofs, after };
  }

  it.each([
    ['a CPU', 'cpu', undefined, 2 ** 24],
    ['a GPU', 'gpu', undefined, 2 ** 28],
    ['a device with another beginning', 'gpu', 300, 300],
  ] as const)('of %s begins where nothing is known yet', (_, kind, first, expected) => {
    const { proofs } = measured(kind, first);
    expect(proofs.difficulty).toBe(expected);
    expect(difficultyFor(proofs)).toBeCloseTo(expected, -1);
  });

  it.each([
    ['four proofs a second', 4 * FIRST, FIRST],
    ['six proofs a second, the most', 6 * FIRST, FIRST],
    ['a little more than six', 6 * FIRST + 1_000, 2 * FIRST],
    ['twelve, the most of the double', 12 * FIRST, 2 * FIRST],
    ['a little more than twelve', 12 * FIRST + 1_000, 4 * FIRST],
    ['a thousand', 1_000 * FIRST, 256 * FIRST],
    ['two and two thirds, the fewest', (8 / 3) * FIRST, FIRST],
    ['a little less than two and two thirds', (8 / 3) * FIRST - 1_000, FIRST / 2],
    ['one in an hour', FIRST / 3_600, FIRST / 2],
  ])('follows the rate of %s', (_, perSecond, expected) => {
    expect(measured().after(1_000, perSecond)).toBe(expected);
    expect(measured().after(3_000, 3 * perSecond)).toBe(expected);
  });

  it('is learned from at least a second, and from all reports in it', () => {
    const { after } = measured();
    expect(after(500, 20 * FIRST)).toBe(FIRST);
    expect(after(499, 20 * FIRST)).toBe(FIRST);
    expect(after(1, 0)).toBe(8 * FIRST);
  });

  it('is learned from the hashes and the time since it was learned last', () => {
    const { after } = measured();
    expect(after(10_000, 10 * 4 * FIRST)).toBe(FIRST);
    expect(after(1_000, 8 * FIRST)).toBe(2 * FIRST);
    expect(after(999, 80 * FIRST)).toBe(2 * FIRST);
    expect(after(9_001, 0)).toBe(2 * FIRST);
    expect(after(1_000, 4 * FIRST)).toBe(FIRST);
  });

  it('stays while nothing is hashed, however long, also at the beginning', () => {
    const { after } = measured();
    expect(after(3_600_000, 0)).toBe(FIRST);
    expect(after(1_000, 4 * 3_601 * FIRST)).toBe(FIRST);
    for (let idle = 0; idle < 3; idle++) expect(after(3_600_000, 0)).toBe(FIRST);
  });

  it('falls by half each time, and not below one hash', () => {
    const { after } = measured('cpu', 6);
    expect(Array.from({ length: 5 }, () => after(60_000, 1))).toEqual([3, 1.5, 1, 1, 1]);
  });

  it('allows twenty-four solutions for each proof, where the work accepts several', () => {
    const { proofs } = measured('cpu', 2_400);
    const targets = [99, 100, 101, 2_400, 2_401].map((difficulty) =>
      difficultyOf(proofs.targetFor(makeWork(difficulty, { until: 'replaced', blockTarget: HARD.target }))),
    );
    expect(targets.map((difficulty) => Math.round(difficulty))).toEqual([100, 100, 101, 2_400, 2_400]);
  });
});
