import { expect, test } from 'vitest';
import { HIT_CAPACITY } from '#pickaxe/miner/engine/gpu/prepare.generated.js';
import {
  isTypical,
  nameOf,
  SHADER_NAMES,
  TUNING_LIMITS,
  type Tuning,
  tuningLimitsShape,
  tuningShape,
  VARIANTS,
  whyTuning,
  workgroupCounters,
} from '#pickaxe/miner/engine/gpu/tuning.js';

const [variant] = VARIANTS;
const row = { batchMs: 8, hashesPerSecond: 1e9, score: 0.99e9, busy: 0.01 };
const unusable = { variant, fault: 'it does not compile' };
const TUNING = {
  variant,
  batchMs: 8,
  hashesPerSecond: 1e9,
  variants: [{ variant, hashesPerSecond: 1e9 }, unusable],
  batches: [row],
};

test.each([
  ['all of it', TUNING],
  ['no measured batches', { ...TUNING, batches: [] }],
  ['a child that used no processor', { ...TUNING, batches: [{ ...row, busy: 0 }] }],
  ['a child that used more than one processor', { ...TUNING, batches: [{ ...row, busy: 1.5 }] }],
  ['batches of half a millisecond', { ...TUNING, batchMs: 0.5 }],
  ['the smallest variant', { ...TUNING, variant: { ...variant, workgroupSize: 64, trips: 8 } }],
  ['the largest variant', { ...TUNING, variant: { ...variant, workgroupSize: 256, trips: 32 } }],
])('a tuning with %s is understood', (_, tuning) => {
  expect(tuningShape.parse(tuning)).toEqual(tuning);
});

test.each([
  ['a rate of 0', { ...TUNING, hashesPerSecond: 0 }],
  ['batches of 0 ms', { ...TUNING, batchMs: 0 }],
  ['no variants', { ...TUNING, variants: [] }],
  ['a variant with a rate of 0', { ...TUNING, variants: [{ variant, hashesPerSecond: 0 }] }],
  ['a use of the processor below 0', { ...TUNING, batches: [{ ...row, busy: -0.1 }] }],
  ['batches with a rate of 0', { ...TUNING, batches: [{ ...row, hashesPerSecond: 0 }] }],
  ['batches with a score of 0', { ...TUNING, batches: [{ ...row, score: 0 }] }],
  ['workgroups that are too small', { ...TUNING, variant: { ...variant, workgroupSize: 63 } }],
  ['workgroups that are too large', { ...TUNING, variant: { ...variant, workgroupSize: 257 } }],
  ['too few trips', { ...TUNING, variant: { ...variant, trips: 7 } }],
  ['too many trips', { ...TUNING, variant: { ...variant, trips: 33 } }],
  ['a part of a trip', { ...TUNING, variant: { ...variant, trips: 8.5 } }],
  ['an unknown shader', { ...TUNING, variant: { ...variant, shader: 'glsl' } }],
])('a tuning with %s is refused', (_, tuning) => {
  expect(tuningShape.safeParse(tuning).success).toBe(false);
});

test('limits of a tuning may leave out the warm-up, and nothing else', () => {
  const isRight = (change: object) => tuningLimitsShape.safeParse({ ...TUNING_LIMITS, ...change }).success;
  for (const right of [{}, { warmUpMs: 0 }, { turnMs: 0.5 }]) expect(isRight(right)).toBe(true);
  for (const wrong of [{ warmUpMs: -1 }, { turnMs: 0 }, { batchTurnMs: 0 }, { variants: [] }])
    expect(isRight(wrong)).toBe(false);
});

test('a workgroup whose counters are all hits does not overflow, whatever its variant', () => {
  for (const variant of VARIANTS) expect(workgroupCounters(variant)).toBeLessThanOrEqual(HIT_CAPACITY);
});

test.each([
  [[115, 1], 'fastest of 2 variants that run here'],
  [[27, 25, 20], 'fastest of 3 variants that run here'],
  [[5], 'the only variant that runs'],
])('why a variant is used, after rates of %j', (rates, message) => {
  const [, other] = VARIANTS;
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

test.each(SHADER_NAMES)(
  'of the variants of %s, one has the middle of the sizes and of the numbers of trips',
  (shader) => {
    const own = VARIANTS.filter((each) => each.shader === shader);
    const [middle, ...others] = own.filter(isTypical);
    expect(others).toEqual([]);
    for (const part of ['workgroupSize', 'trips'] as const) {
      const sorted = [...new Set(own.map((each) => each[part]))].sort((a, b) => a - b);
      expect(sorted.indexOf(middle[part])).toBe((sorted.length - 1) / 2);
    }
  },
);
