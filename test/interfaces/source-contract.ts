/** The tests that every WorkSource must pass. */

import { describe, expect, it } from 'vitest';
import type { Verdict, WorkSource } from '#pickaxe/miner/source/source.js';
import { HEADER_BYTES, TARGET_BYTES } from '#pickaxe/protocol/chain/bytes.js';
import { creationTimeOf } from '#pickaxe/protocol/chain/work.js';
import { eventually, Follower, mine } from '../miner/source/follow.ts';

/** A source, and the world behind it. */
export interface SourceUnderTest {
  readonly source: WorkSource;
  /** Makes the latest work stale. */
  readonly newCut: () => void;
  /** From now on nothing behind the source answers. */
  readonly fail: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** @param setUp makes a source whose work can be solved within a few hundred hashes */
export function sourceContract(name: string, setUp: () => Promise<SourceUnderTest>): void {
  const withSource = async (
    test: (world: SourceUnderTest & { follower: Follower }) => Promise<void>,
  ): Promise<void> => {
    const world = await setUp();
    const follower = new Follower(world.source);
    try {
      await test({ ...world, follower });
    } finally {
      await follower.end();
      await world.close();
    }
  };

  describe(`${name} keeps the contract of a work source`, () => {
    it('has a name for people', () =>
      withSource(async ({ source }) => {
        expect(source.name).not.toBe('');
      }));

    it('gives well-formed work', () =>
      withSource(async ({ follower }) => {
        const work = await follower.work();
        expect(work.header).toHaveLength(HEADER_BYTES);
        expect(work.target).toHaveLength(TARGET_BYTES);
        expect(creationTimeOf(work.header)).toBeGreaterThan(0n);
      }));

    it('accepts a solution, ends its work and gives other work', () =>
      withSource(async ({ source, follower }) => {
        const outcomes: Verdict['outcome'][] = [];
        for (let round = 0; round < 5; round++) {
          const work = await follower.work();
          const { outcome } = await source.submit(mine(work), follower.stop);
          outcomes.push(outcome);
          await eventually(() => expect(follower.received.length).toBeGreaterThan(follower.received.indexOf(work) + 1));
        }
        expect(outcomes).toContain('accepted');
        expect(outcomes.every((outcome) => outcome === 'accepted' || outcome === 'stale')).toBe(true);
        expect(new Set(follower.received).size).toBe(follower.received.length);
      }));

    it('says that work is stale, and gives work again', () =>
      withSource(async ({ newCut, follower }) => {
        await follower.work();
        await eventually(() => {
          newCut();
          expect(follower.of('stale').length).toBeGreaterThan(0);
        });
        await follower.work();
      }));

    it('distinguishes a late solution from an accepted one', () =>
      withSource(async ({ source, follower }) => {
        const work = await follower.work();
        const [first, second] = [mine(work, 1), mine(work, 2)];
        const verdict = await source.submit(first, follower.stop);
        expect(verdict.outcome).toMatch(/accepted|stale/);
        expect((await source.submit(second, follower.stop)).outcome).toBe('stale');
      }));

    it('knows a latest creation time that is not ahead of the clock', () =>
      withSource(async ({ source, follower }) => {
        const work = await follower.work();
        const latestUs = source.latestTimeUs(work);
        expect(latestUs).toBeGreaterThan(0n);
        expect(latestUs).toBeLessThanOrEqual(BigInt(Date.now()) * 1000n + 1_000n);
      }));

    it('survives the loss of its node: says so once, and settles a submission soon after stop', () =>
      withSource(async ({ source, follower, fail, newCut }) => {
        const work = await follower.work();
        const solution = mine(work);
        await fail();
        newCut();
        await eventually(() => expect(follower.of('lost').length).toBe(1));
        const pending = source.submit(solution, follower.stop);
        await follower.end();
        expect((await pending).outcome).toMatch(/unknown|stale/);
        expect(follower.of('lost').length).toBe(1);
      }));

    it('ends its updates when it is told to stop', () =>
      withSource(async ({ follower }) => {
        await follower.work();
        await follower.end();
      }));
  });
}
