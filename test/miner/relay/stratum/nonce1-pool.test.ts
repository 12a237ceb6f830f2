import { expect, it } from 'vitest';
import { Nonce1Pool } from '#pickaxe/miner/relay/stratum/nonce1-pool.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../../fakes.ts';

const LANE = 7;
/** One for each nonce1 but the local miner's. */
const PLACES = 65_535;
const TEN_MINUTES_MS = 600_000;

/** A pool whose places have all been taken once, and the works that have become stale. */
function takenPool() {
  const stale = new Set<Work>();
  let looks = 0;
  const isStale = (work: Work) => {
    looks++;
    return stale.has(work);
  };
  const pool = new Nonce1Pool({ taken: LANE, isStale });
  const values = Array.from({ length: PLACES }, () => pool.take(0) as number);
  return { pool, stale, values, looks: () => looks };
}

it('a value is taken again only when all works of its last session are stale', () => {
  const { pool, stale, values } = takenPool();
  const works = [makeWork(2 ** 60), makeWork(2 ** 60)];
  pool.release(values[0], works, 0);
  stale.add(works[0]);
  expect(pool.take(1_000)).toBeUndefined();
  stale.add(works[1]);
  expect(pool.take(2_000)).toBe(values[0]);
});

it('a value that is still needed does not keep those that were released after it', () => {
  const { pool, stale, values } = takenPool();
  const [lasting, brief] = [makeWork(2 ** 60), makeWork(2 ** 60)];
  pool.release(values[0], [lasting], 0);
  for (const value of values.slice(1)) pool.release(value, [brief], 0);
  stale.add(brief);
  const again = new Set(Array.from({ length: PLACES - 1 }, () => pool.take(1_000)));
  expect(again).toEqual(new Set(values.slice(1)));
  expect(pool.take(2_000)).toBeUndefined();
  expect(pool.take(TEN_MINUTES_MS)).toBe(values[0]);
});

it('a client that asks while no value is free costs little, and a value that becomes free is found', () => {
  const { pool, stale, values, looks } = takenPool();
  const [lasting, brief] = [makeWork(2 ** 60), makeWork(2 ** 60)];
  for (const value of values) pool.release(value, [value === values[40_000] ? brief : lasting], 0);
  for (let attempt = 1; attempt <= 100; attempt++) {
    expect(pool.take(1_000)).toBeUndefined();
    expect(looks()).toBeLessThanOrEqual(1_024 * attempt);
  }
  stale.add(brief);
  const found = Array.from({ length: 64 }, () => pool.take(2_000)).filter((value) => value !== undefined);
  expect(found).toEqual([values[40_000]]);
});
