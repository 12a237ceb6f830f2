/** The self-test against simulated GPUs: a right one, and wrong ones of several kinds. */

import { expect, test } from 'vitest';
import { hashTail, type Search } from '#pickaxe/chain/job.js';
import { COUNTERS, type Range } from '#pickaxe/chain/nonce.js';
import { type Scan, WORKGROUP_COUNTERS } from '#pickaxe/engine/gpu/child/scanner.js';
import { selfTest } from '#pickaxe/engine/gpu/child/self-test.js';
import { HIT_CAPACITY } from '#pickaxe/engine/gpu/prepare.generated.js';

type Gpu = (search: Search, range: Range) => Promise<Scan>;

const rightGpu: Gpu = async (search, { lane, page, counter, counters }) => {
  const all = Array.from({ length: counters }, (_, i) => counter + i);
  const hits = all.filter((each) => hashTail(search, { lane, page, counter: each })[7] <= search.target[7]);
  return hits.length > HIT_CAPACITY ? 'overflow' : { hits: hits.reverse() };
};

const changed =
  (change: (hits: number[], range: Range) => number[]): Gpu =>
  async (search, range) => {
    const found = await rightGpu(search, range);
    return found === 'overflow' ? found : { hits: change(found.hits, range) };
  };

const wrongGpus: Record<string, Gpu> = {
  'finds nothing': changed(() => []),
  'finds one too few': changed((hits) => hits.slice(1)),
  'finds one too many': changed((hits, { counter }) => [...hits, counter + 17]),
  'has one bad lane': changed((hits) => hits.filter((hit) => hit % 64 !== 63)),
  'searches one workgroup only': changed((hits, range) =>
    hits.filter((hit) => hit < range.counter + WORKGROUP_COUNTERS),
  ),
  'stops at half of the counters': changed((hits) => hits.filter((hit) => hit < COUNTERS / 2)),
  'ignores the lane': (search, range) => rightGpu(search, { ...range, lane: 0 }),
  'ignores the page': (search, range) => rightGpu(search, { ...range, page: 0 }),
  'does not notice that hits are lost': async (search, range) => {
    const found = await rightGpu(search, range);
    return found === 'overflow' ? { hits: [] } : found;
  },
};

test('passes a GPU that is right', () => selfTest(rightGpu));

test.each(Object.entries(wrongGpus))('refuses a GPU that %s', async (_, gpu) => {
  await expect(selfTest(gpu)).rejects.toMatchObject({ name: 'DeviceError', fault: 'wrong hashes' });
});

test('the hits of one workgroup always fit', () => {
  expect(WORKGROUP_COUNTERS).toBeLessThanOrEqual(HIT_CAPACITY);
});
