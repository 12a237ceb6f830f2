import { expect, test } from 'vitest';
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
