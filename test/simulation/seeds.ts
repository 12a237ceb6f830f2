/**
 * Fixed seeds of every world. A seed that once found a fault belongs here; the others are taken from the first ones,
 * for three to five processor minutes in all, by the chip. `npm run simulate` tries other seeds.
 */

import { describe, expect, it } from 'vitest';
import { runWorld, WORLDS } from './run.ts';
import { describeFailure } from './simulate.ts';

/** By world: the seeds that are tried. */
const SEEDS: Record<string, readonly number[]> = {
  solo: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 400_136, 400_151, 300_000_036, 300_000_144],
  fleet: [1, 2, 3, 4, 5, 400_002, 200_870_317],
  'fleet-own-nodes': [1, 2, 3, 4, 5, 400_000_002],
  payments: [1, 2, 3, 300_000_201, 300_000_284],
  pool: [1, 2, 3, 4, 300_000_022, 300_000_061, 300_000_091, 300_000_172, 300_000_175],
  'pool-and-fleet': [1, 2, 3, 4],
  stratum: [1, 2],
};

/** How many files divide the seeds, so that they run beside each other. */
const PARTS = 3;

/** Tests the seeds of one part: 0 to PARTS − 1. */
export function testSeeds(part: number): void {
  it('are there for each world', () => {
    expect(Object.keys(SEEDS)).toEqual(Object.keys(WORLDS));
    expect(part).toBeLessThan(PARTS);
  });

  const ofPart = (index: number) => index % PARTS === part;
  const seeds = Object.entries(SEEDS).flatMap(([world, all]) => all.map((seed) => ({ world, seed })));
  it.each(seeds.filter((_, index) => ofPart(index)))(
    'the world $world keeps its promises with the seed $seed',
    async ({ world, seed }) => {
      const run = await runWorld(WORLDS[world], { seed, minutes: 10 });
      expect(run.violations, run.violations.length > 0 ? describeFailure(world, run) : '').toEqual([]);
    },
  );

  describe.each(Object.keys(SEEDS).filter((_, index) => ofPart(index)))('the world %s', (world) => {
    it('runs in the same way again', async () => {
      const options = { seed: 1, minutes: 1, faultMs: 5_000 };
      const [run, again] = [await runWorld(WORLDS[world], options), await runWorld(WORLDS[world], options)];
      expect(run.accepted).toBeGreaterThan(0);
      expect(run.faults.length).toBeGreaterThan(0);
      expect(again.digest).toBe(run.digest);
      expect((await runWorld(WORLDS[world], { ...options, seed: 2 })).digest).not.toBe(run.digest);
    });
  });
}
