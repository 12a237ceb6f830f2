/** What the rounds of one device under stress add up to. */

import { describe, expect, it } from 'vitest';
import { solves } from '#pickaxe/protocol/chain/job.js';
import { joinNonce } from '#pickaxe/protocol/chain/nonce.js';
import { errorsOf, LEAST_COUNT, makeChallenge } from '#pickaxe/rig/bench/challenge.js';
import { Readings } from '#pickaxe/rig/bench/device-result.js';
import { StressStats } from '#pickaxe/rig/bench/stress.js';

const challenge = makeChallenge('pickaxe', LEAST_COUNT);
const known = () => ({ challenge, found: new Set<bigint>() });

/** The first nonces of the challenge that solve it, or that do not. */
function nonces(count: number, areSolutions = true): bigint[] {
  const { lane, page, counter } = challenge.ranges[0];
  const found: bigint[] = [];
  for (let c = counter; found.length < count; c++) {
    const nonce = { lane, step: 1, page, counter: c };
    if (solves(challenge.job, nonce) === areSolutions) found.push(joinNonce(nonce));
  }
  return found;
}
const [a, b, c] = nonces(3);
const [wrong] = nonces(1, false);

const started = () => new StressStats({ engine: {}, info: {}, readings: new Readings() } as never);

type Known = ReturnType<typeof known>;

/** @param isComplete whether the device has searched everything */
function round(stats: StressStats, of: Known, candidates: readonly bigint[], isComplete = true): string[] {
  const hashes = isComplete ? challenge.count : 1;
  stats.beginRound(of).take({ searched: challenge.ranges[0], hashes, beganMs: 0, candidates: [...candidates] });
  return stats.endRound(of);
}

it('candidates of a round count before it ends, and once', () => {
  const [stats, of] = [started(), known()];
  const report = { searched: challenge.ranges[0], hashes: 1, beganMs: 0 };
  expect([stats.verified, stats.wrong, stats.missed, stats.errors]).toEqual([0, 0, 0, []]);
  for (const before of [0, 2]) {
    const current = stats.beginRound(of);
    current.take({ ...report, candidates: [a, wrong] });
    expect([stats.verified, stats.wrong]).toEqual([before + 1, before + 1]);
    current.take({ ...report, candidates: [b, wrong] });
    expect([stats.verified, stats.wrong]).toEqual([before + 2, before + 2]);
    expect(stats.endRound(of)).toEqual(['wrong candidates: 2']);
    expect(stats.endRound(of)).toEqual([]);
    expect([stats.verified, stats.wrong, stats.rounds]).toEqual([before + 2, before + 2, 0]);
  }
  expect(stats.errors).toEqual(['wrong candidates: 4']);
});

it('a later round shows what earlier ones have missed, and rounds without an end miss nothing', () => {
  const [stats, of] = [started(), known()];
  const missedIn = (candidates: readonly bigint[], isComplete?: boolean) => {
    const errors = round(stats, of, candidates, isComplete).filter((line) => line.startsWith('missed'));
    return [errors, stats.missed, stats.rounds];
  };
  expect(missedIn([a])).toEqual([[], 0, 1]);
  expect(missedIn([a, b, c])).toEqual([[], 2, 2]);
  expect(missedIn([a])).toEqual([['missed candidates: 2'], 4, 3]);
  expect(missedIn([], false)).toEqual([[], 4, 3]);
  expect(missedIn([b, c])).toEqual([['missed candidates: 1'], 5, 4]);
  expect(stats.errors).toContain('missed candidates: 5');
  // Each challenge has candidates of its own.
  round(stats, known(), [a]);
  expect(stats.missed).toBe(5);
});

it('what another device has found counts as missed, too', () => {
  const [stats, other, of] = [started(), started(), known()];
  round(stats, of, [a]);
  round(other, of, [b, c]);
  expect([stats.missed, other.missed]).toEqual([2, 1]);
});

it('different doubts about rounds are kept, the first six', () => {
  const [stats, of] = [started(), known()];
  const all = nonces(8);
  for (let count = 1; count <= 8; count++) {
    const doubts = round(stats, of, all.slice(0, count)).filter((line) => line.startsWith('it found'));
    expect(doubts).toHaveLength(1);
    round(stats, of, all.slice(0, count));
  }
  const doubts = stats.errors.filter((line) => line.startsWith('it found'));
  expect(doubts.map((line) => Number(/\d+/.exec(line)))).toEqual([1, 2, 3, 4, 5, 6]);
});

it('a sample has the rate since the one before', () => {
  const stats = started();
  stats.hashed(600);
  stats.hashed(400);
  expect(stats.sample(2)).toMatchObject({ elapsedSeconds: 2, hashesPerSecond: 500 });
  stats.hashed(300);
  expect(stats.sample(3)).toMatchObject({ elapsedSeconds: 3, hashesPerSecond: 300 });
  expect(stats.sample(3)).toMatchObject({ hashesPerSecond: 0 });
  expect(stats.sample(4)).toMatchObject({ hashesPerSecond: 0 });
  expect(stats.samples).toHaveLength(4);
  expect(stats.hashrate.mean).toBe(200);
});

describe('errors', () => {
  it.each([
    [0, 0, []],
    [1, 0, ['wrong candidates: 1']],
    [0, 2, ['missed candidates: 2']],
    [3, 4, ['wrong candidates: 3', 'missed candidates: 4']],
  ])('of %i wrong and %i missed candidates', (wrong, missed, lines) => {
    expect(errorsOf(wrong, missed)).toEqual(lines);
  });
});
