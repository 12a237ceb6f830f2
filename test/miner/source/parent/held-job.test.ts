import { describe, expect, it } from 'vitest';
import { formatTarget } from '#pickaxe/miner/relay/stratum/stratum-messages.js';
import { ParentJob } from '#pickaxe/miner/source/parent/parent-session.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { difficultyOf, targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { targetOf } from '#pickaxe/protocol/wire/worker.js';
import { makeHeader, targetHex } from './parent.ts';

/** @param share how many hashes the parent wants a share to take @param block how many a block takes */
const jobOf = (share: number, block = 1e15) =>
  new ParentJob({ type: 'job', id: 'a', header: toHex(makeHeader(block)), target: targetHex(share) }, 1);

const difficulty = (job: ParentJob) => Math.round(difficultyOf(job.work.target));

describe('the target of a job', () => {
  it('follows the hashrate in both directions, but never below what the parent wants', () => {
    const job = jobOf(100);
    expect(job.aim(10_000)).toBe(true);
    expect(difficulty(job)).toBe(10_000);
    // To a tenth, as when the hashrate falls.
    expect(job.aim(1_000)).toBe(true);
    expect(difficulty(job)).toBe(1_000);
    expect(job.aim(10)).toBe(true);
    expect(difficulty(job)).toBe(100);
    expect(job.aim(10)).toBe(false);
  });

  it('stays where it is while the share rate would hardly change', () => {
    const job = jobOf(100);
    job.aim(10_000);
    for (const close of [12_000, 8_500]) expect(job.aim(close)).toBe(false);
    expect(difficulty(job)).toBe(10_000);
    expect(job.aim(13_000)).toBe(true);
    expect(job.aim(10_000)).toBe(true);
  });

  it.each([
    ['a quarter more', 1.25],
    ['a fifth less', 0.8],
  ])('moves with a share rate that is %s, and not with one that is hardly nearer', (_, factor) => {
    const job = jobOf(100);
    expect(job.aim(8_192)).toBe(true);
    expect(job.aim(8_192 * (factor + (1 - factor) / 1e6))).toBe(false);
    expect(job.aim(8_192 * factor)).toBe(true);
  });

  it('is the one that the parent wants, to the bit, for a share rate that is just right', () => {
    const job = jobOf(100);
    const wanted = `${'0'.repeat(20)}${'c'.repeat(44)}`;
    job.aim(10_000);
    job.wants(wanted);
    expect(job.aim(difficultyOf(targetOf(wanted)))).toBe(true);
    expect(formatTarget(job.work.target)).toBe(wanted);
  });

  it.each([
    ['one', 100],
    ['many', 10_000],
  ] as const)('of a job that wants solutions: %s is of difficulty %d, whatever the share rate', (solutions, least) => {
    const job = new ParentJob(
      { type: 'job', id: 'a', header: toHex(makeHeader(1e15)), target: targetHex(100), solutions },
      1,
    );
    job.aim(10_000);
    expect(difficulty(job)).toBe(least);
  });

  it('is the one that the parent wants, to the bit, where that is hard enough', () => {
    const job = jobOf(100);
    const wanted = `${'0'.repeat(20)}${'c'.repeat(44)}`;
    job.aim(10_000);
    job.wants(wanted);
    expect(job.aim(10_000)).toBe(true);
    expect(formatTarget(job.work.target)).toBe(wanted);
  });

  it('is never harder than a block’s, to the bit', () => {
    const header = makeHeader();
    // A target of so many bits is another one when it is computed from its difficulty: a hash between both would be
    // missed.
    const blockTarget = Uint8Array.from({ length: 32 }, (_, i) => (i < 20 ? 0xcc : 0));
    header.set(blockTarget, 158);
    expect(targetForDifficulty(difficultyOf(blockTarget))).not.toEqual(blockTarget);
    const job = new ParentJob({ type: 'job', id: 'a', header: toHex(header), target: targetHex(100) }, 1);
    expect(job.aim(1e60)).toBe(true);
    expect(job.work.target).toEqual(blockTarget);
  });
});

it('all works of a job are condemned with it: those of earlier targets, too', () => {
  const job = jobOf(100);
  const first = job.work;
  job.aim(10_000);
  const second = job.work;
  job.aim(1_000);
  expect(job.works).toEqual([job.work, second, first]);
  for (let i = 0; i < 20; i++) job.aim(i % 2 === 0 ? 10_000 : 1_000);
  expect(job.works).toHaveLength(8);
  expect(job.works[0]).toBe(job.work);
  expect(new Set(job.works).size).toBe(8);
});
