import { expect, it } from 'vitest';
import { rollMs } from '#pickaxe/miner/relay/stratum/jobs.js';

it.each([
  [undefined, 500],
  [0, 30_000],
  [1e9, 30_000],
  [10e12, 7_037],
  [140e12, 503],
  [5e15, 100],
])('a miner of %d H/s gets a job after %d ms at the latest', (rate, ms) => {
  expect(Math.round(rollMs(rate))).toBe(ms);
});
