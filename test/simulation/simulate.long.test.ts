import { expect, it } from 'vitest';
import { simulate } from './simulate.ts';

it('many seeds are summed up for each world', async () => {
  const seen: [string, number][] = [];
  const request = { worlds: ['solo'], first: 3, seeds: 2, minutes: 0.5, seconds: Number.POSITIVE_INFINITY };
  const [summary, ...more] = await simulate(request, (world, { seed }) => {
    seen.push([world, seed]);
    return true;
  });
  expect(more).toEqual([]);
  expect(seen).toEqual([
    ['solo', 3],
    ['solo', 4],
  ]);
  expect(summary).toMatchObject({ world: 'solo', seeds: 2, lost: 0, violations: [] });
  expect(summary.accepted).toBeGreaterThan(0);
});
