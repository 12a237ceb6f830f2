import { expect, test } from 'vitest';
import { HIT_CAPACITY } from '#pickaxe/miner/engine/gpu/prepare.generated.js';
import { nameOf, type Tuning, VARIANTS, whyTuning, workgroupCounters } from '#pickaxe/miner/engine/gpu/tuning.js';

test('a workgroup whose counters are all hits does not overflow, whatever its variant', () => {
  for (const variant of VARIANTS) expect(workgroupCounters(variant)).toBeLessThanOrEqual(HIT_CAPACITY);
});

test.each([
  [[115, 1], 'fastest of 2 variants that run here'],
  [[27, 25, 20], 'fastest of 3 variants that run here'],
  [[5], 'the only variant that runs'],
])('why a variant is used, after rates of %j', (rates, message) => {
  const [variant, other] = VARIANTS;
  const tuning: Tuning = {
    variant,
    batchMs: 8,
    hashesPerSecond: rates[0],
    variants: [
      ...rates.map((hashesPerSecond) => ({ variant: other, hashesPerSecond })),
      { variant: other, fault: 'it does not compile' },
    ],
    batches: [],
  };
  expect(whyTuning(tuning)).toBe(`${nameOf(variant)}, batches of 8 ms; ${message}`);
  expect(whyTuning(tuning, 3)).toBe(`${nameOf(variant)}, batches of 3 ms as asked for; ${message}`);
});
